// SPDX-License-Identifier: Apache-2.0
// Image manifests and indexes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "image/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = image::ParseManifest(text, "input");
  if (manifest.ok() && manifest->is_index)
    (void)image::PickPlatform(*manifest, "linux/amd64", "input");
  return 0;
}
