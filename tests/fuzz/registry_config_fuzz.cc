// SPDX-License-Identifier: Apache-2.0
// How registries are reached.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "image/registry_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)image::ParseRegistryConfig(text, "input");
  return 0;
}
