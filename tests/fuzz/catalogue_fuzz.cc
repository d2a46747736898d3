// SPDX-License-Identifier: Apache-2.0
// Catalogues of card models.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "accel/catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)accel::Catalogue::Parse(text, "input");
  return 0;
}
