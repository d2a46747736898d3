// SPDX-License-Identifier: Apache-2.0
// Facts out of certificates. Bounded: at most 1 MiB of PEM, 256 names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.h"

typedef struct x509_st X509;

namespace aistation::security {

struct CertificateFacts {
  std::string subject;
  std::string issuer;
  std::string serial;  // hexadecimal
  int64_t not_before_unix_ns = 0;
  int64_t not_after_unix_ns = 0;
  std::vector<std::string> names;  // SAN: DNS and IP as text
};

// First certificate of a PEM text. INVALID_ARGUMENT `security.certificate`.
absl::StatusOr<CertificateFacts> ReadCertificate(std::string_view pem);

// SAN names of a certificate: DNS (without embedded NUL) and IP as text.
std::vector<std::string> NamesOf(X509* certificate);

}  // namespace aistation::security
