// SPDX-License-Identifier: Apache-2.0
#include "security/certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "security/tls.h"
#include "util/strings.h"

namespace aistation::security {
namespace {

constexpr size_t kMaxPem = 1u << 20;
constexpr int kMaxNames = 256;

std::string NameText(const X509_NAME* name) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (bio == nullptr || X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253) < 0) return "";
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return util::ToValidUtf8(std::string_view(data, static_cast<size_t>(size)));
}

int64_t UnixNanos(const ASN1_TIME* time) {
  struct tm parts {};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return static_cast<int64_t>(timegm(&parts)) * 1'000'000'000;
}

std::string SerialText(X509* certificate) {
  std::unique_ptr<BIGNUM, decltype(&BN_free)> number(
      ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr), BN_free);
  if (number == nullptr) return "";
  std::unique_ptr<char, void (*)(char*)> hex(BN_bn2hex(number.get()),
                                             [](char* p) { OPENSSL_free(p); });
  return hex == nullptr ? "" : util::AsciiLower(hex.get());
}

}  // namespace

std::vector<std::string> NamesOf(X509* certificate) {
  std::vector<std::string> names;
  std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> list(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  const int count = list == nullptr ? 0 : sk_GENERAL_NAME_num(list.get());
  for (int i = 0; i < count && i < kMaxNames; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(list.get(), i);
    if (name->type == GEN_DNS) {
      std::string text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
      // "bank.example\0.evil" must not pass for bank.example.
      if (text.find('\0') == std::string::npos && util::IsValidUtf8(text)) names.push_back(text);
    } else if (name->type == GEN_IPADD) {
      char text[INET6_ADDRSTRLEN] = {};
      const int size = ASN1_STRING_length(name->d.iPAddress);
      const int family = size == 4 ? AF_INET : size == 16 ? AF_INET6 : 0;
      if (family != 0 && inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text,
                                   sizeof(text)) != nullptr) {
        names.emplace_back(text);
      }
    }
  }
  ERR_clear_error();
  return names;
}

absl::StatusOr<CertificateFacts> ReadCertificate(std::string_view pem) {
  if (pem.size() > kMaxPem) {
    return util::InvalidArgument("security.certificate",
                                 "certificate: more than 1 MiB; expected one PEM certificate");
  }
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  std::unique_ptr<X509, decltype(&X509_free)> certificate(
      bio == nullptr ? nullptr
                     : PEM_read_bio_X509(
                           bio.get(), nullptr, [](char*, int, int, void*) { return 0; }, nullptr),
      X509_free);
  ERR_clear_error();
  if (certificate == nullptr) {
    return util::InvalidArgument("security.certificate",
                                 "expected a PEM certificate (-----BEGIN CERTIFICATE-----)");
  }
  CertificateFacts facts;
  facts.subject = NameText(X509_get_subject_name(certificate.get()));
  facts.issuer = NameText(X509_get_issuer_name(certificate.get()));
  facts.serial = SerialText(certificate.get());
  facts.not_before_unix_ns = UnixNanos(X509_get0_notBefore(certificate.get()));
  facts.not_after_unix_ns = UnixNanos(X509_get0_notAfter(certificate.get()));
  facts.names = NamesOf(certificate.get());
  return facts;
}

absl::StatusOr<std::vector<std::string>> CertificateNames(std::string_view pem) {
  AIST_ASSIGN_OR_RETURN(auto facts, ReadCertificate(pem));
  return facts.names;
}

}  // namespace aistation::security
