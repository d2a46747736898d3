// SPDX-License-Identifier: Apache-2.0
// WWW-Authenticate headers.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "image/registry_client.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)image::ParseChallenge(text);
  return 0;
}
