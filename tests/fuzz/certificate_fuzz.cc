// SPDX-License-Identifier: Apache-2.0
// Certificates.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "security/tls.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)security::CertificateNames(text);
  return 0;
}
