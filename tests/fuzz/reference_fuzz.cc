// SPDX-License-Identifier: Apache-2.0
// Names of images.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "image/reference.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto reference = image::ParseReference(text);
  if (!reference.ok()) return 0;
  const auto again = image::ParseReference(reference->ToString());
  if (!again.ok() || again->ToString() != reference->ToString()) std::abort();
  return 0;
}
