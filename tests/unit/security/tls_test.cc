// SPDX-License-Identifier: Apache-2.0
#include "security/tls.h"

#include <sys/stat.h>

#include "security/digest.h"
#include "unit/testing/certificates.h"
#include "unit/testing/matchers.h"
#include "util/strings.h"

namespace aistation::security {
namespace {

using testing::CertificateAuthority;

TEST(Digest, KnownValues) {
  EXPECT_EQ(Sha256Digest(""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Digest("abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Hasher hasher("sha512");
  hasher.Update("a");
  hasher.Update("bc");
  EXPECT_THAT(util::HexEncode(hasher.Finish()),
              ::testing::StartsWith("ddaf35a193617abacc417349ae204131"));
}

TEST(Digest, ParsesStrictly) {
  const std::string hex(64, 'a');
  EXPECT_OK(ParseDigest("sha256:" + hex));
  for (const std::string& bad :
       {std::string(""), "sha256:" + hex + "a", "sha256:" + std::string(64, 'A'), "md5:" + hex, hex,
        "sha256:" + std::string(63, 'a') + "/"}) {
    EXPECT_FALSE(ParseDigest(bad).ok()) << bad;
  }
}

TEST(Tls, LoadsAndTellsItsNames) {
  CertificateAuthority ca;
  const auto identity = TlsIdentity::Load(ca.Files("node1", "127.0.0.11"));
  ASSERT_OK(identity);
  EXPECT_THAT((*identity)->names(), ::testing::UnorderedElementsAre("node1", "127.0.0.11"));
  EXPECT_THAT((*identity)->DescribeJson(), ::testing::HasSubstr("node1"));
  EXPECT_THAT((*identity)->DescribeJson(), ::testing::Not(::testing::HasSubstr("PRIVATE")));
}

TEST(Tls, RefusesWhatIsWrongAndNamesTheFile) {
  CertificateAuthority ca;
  CertificateAuthority other("other");
  TlsOptions good = ca.Files("a");
  TlsOptions options = good;
  options.cert_file = ca.directory() / "none.crt";
  EXPECT_FALSE(TlsIdentity::Load(options).ok());
  options = good;
  options.cert_file = ca.directory().Write("garbage.crt", "-----BEGIN CERTIFICATE-----\nxx\n");
  auto result = TlsIdentity::Load(options);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("garbage.crt"));
  options = good;
  options.key_file = ca.Files("b").key_file;
  EXPECT_FALSE(TlsIdentity::Load(options).ok()) << "the key of another certificate";
  options = good;
  options.ca_file = other.ca_file();
  EXPECT_FALSE(TlsIdentity::Load(options).ok()) << "the chain does not end at this CA";
  chmod(good.key_file.c_str(), 0644);
  EXPECT_REASON(TlsIdentity::Load(good), "security.key_mode", good.key_file);
}

TEST(Tls, RefusesTimesThatAreNotNow) {
  CertificateAuthority ca;
  EXPECT_REASON(TlsIdentity::Load(ca.Files("old", "127.0.0.1", -7200, -3600)), "security.expired",
                "old");
  EXPECT_FALSE(TlsIdentity::Load(ca.Files("new", "127.0.0.1", 3600, 7200)).ok());
}

TEST(Tls, ReloadKeepsTheOldOneWhenTheNewIsBad) {
  CertificateAuthority ca;
  const TlsOptions files = ca.Files("a");
  const auto identity = TlsIdentity::Load(files);
  ASSERT_OK(identity);
  const auto context = (*identity)->client_context();
  const uint64_t generation = (*identity)->generation();
  ASSERT_OK(util::WriteFileDurably(files.cert_file, "broken"));
  EXPECT_FALSE((*identity)->Reload().ok());
  EXPECT_EQ((*identity)->client_context(), context);
  EXPECT_EQ((*identity)->generation(), generation);
  ca.Files("a", "127.0.0.9");  // a new certificate under the same names of files
  ASSERT_OK((*identity)->Reload());
  EXPECT_GT((*identity)->generation(), generation);
  EXPECT_NE((*identity)->client_context(), context);
  EXPECT_THAT((*identity)->names(), ::testing::Contains("127.0.0.9"));
}

TEST(Tls, AllowedPeers) {
  CertificateAuthority ca;
  TlsOptions options = ca.Files("a");
  options.allowed_peers = {"manager", "*.nodes.bank.example"};
  const auto identity = TlsIdentity::Load(options);
  ASSERT_OK(identity);
  EXPECT_TRUE((*identity)->PeerAllowed({"x", "manager"}));
  EXPECT_TRUE((*identity)->PeerAllowed({"n1.nodes.bank.example"}));
  EXPECT_FALSE((*identity)->PeerAllowed({"nodes.bank.example"}));
  EXPECT_FALSE((*identity)->PeerAllowed({"a.b.nodes.bank.example"}));
  EXPECT_FALSE((*identity)->PeerAllowed({"managerx"}));
  EXPECT_FALSE((*identity)->PeerAllowed({}));
}

TEST(Certificate, NamesAndBounds) {
  CertificateAuthority ca;
  const auto pem = util::ReadFile(ca.Files("x.example", "10.1.2.3").cert_file);
  EXPECT_THAT(*CertificateNames(*pem), ::testing::UnorderedElementsAre("x.example", "10.1.2.3"));
  EXPECT_FALSE(CertificateNames("").ok());
  EXPECT_FALSE(CertificateNames(std::string(2u << 20, 'a')).ok());
}

}  // namespace
}  // namespace aistation::security
