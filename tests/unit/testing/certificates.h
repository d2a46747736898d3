// SPDX-License-Identifier: Apache-2.0
// A CA of a test and identities that it signed, made with OpenSSL's own functions.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <memory>
#include <string>

#include "security/tls.h"
#include "unit/testing/temp.h"

namespace aistation::testing {

class CertificateAuthority {
 public:
  explicit CertificateAuthority(std::string name = "ca") : name_(std::move(name)) {
    key_ = EVP_EC_gen("P-256");
    certificate_ = Make(key_, name_, "", nullptr, 0, 3600);
    WriteCertificate(ca_file(), certificate_);
  }
  ~CertificateAuthority() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  std::string ca_file() const { return directory_ / (name_ + ".pem"); }
  const TempDir& directory() const { return directory_; }

  // Files of an identity with the SANs DNS:<name> and IP:<address>; valid from now + `from_s`.
  security::TlsOptions Files(const std::string& name, const std::string& address = "127.0.0.1",
                             long from_s = -60, long until_s = 3600) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate =
        Make(key, name, "DNS:" + name + ",IP:" + address, certificate_, from_s, until_s);
    security::TlsOptions out;
    out.ca_file = ca_file();
    out.cert_file = directory_ / (name + ".crt");
    out.key_file = directory_ / (name + ".key");
    WriteCertificate(out.cert_file, certificate);
    FILE* file = fopen(out.key_file.c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    fclose(file);
    chmod(out.key_file.c_str(), 0600);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return out;
  }
  std::shared_ptr<security::TlsIdentity> Identity(const std::string& name,
                                                  const std::string& address = "127.0.0.1") {
    auto identity = security::TlsIdentity::Load(Files(name, address));
    if (!identity.ok()) abort();
    return *identity;
  }

 private:
  X509* Make(EVP_PKEY* key, const std::string& name, const std::string& san, X509* issuer,
             long from_s, long until_s) {
    X509* out = X509_new();
    X509_set_version(out, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(out), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(out), from_s);
    X509_gmtime_adj(X509_getm_notAfter(out), until_s);
    X509_set_pubkey(out, key);
    X509_NAME* subject = X509_get_subject_name(out);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(out, issuer == nullptr ? subject : X509_get_subject_name(issuer));
    Add(out, issuer == nullptr ? out : issuer, NID_basic_constraints,
        issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (!san.empty()) Add(out, issuer, NID_subject_alt_name, san.c_str());
    X509_sign(out, key_, EVP_sha256());
    return out;
  }
  static void Add(X509* certificate, X509* issuer, int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  static void WriteCertificate(const std::string& path, X509* certificate) {
    FILE* file = fopen(path.c_str(), "w");
    PEM_write_X509(file, certificate);
    fclose(file);
  }

  const std::string name_;
  TempDir directory_;
  EVP_PKEY* key_ = nullptr;
  X509* certificate_ = nullptr;
  long serial_ = 0;
};

}  // namespace aistation::testing
