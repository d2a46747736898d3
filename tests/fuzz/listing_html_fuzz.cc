// SPDX-License-Identifier: Apache-2.0
// Listings as pages.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "dataset/listing.h"
#include "dataset/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entries = dataset::ParseHtmlListing(text, "input");
  if (!entries.ok()) return 0;
  for (const auto& entry : *entries) {
    if (!dataset::IsSafePath(entry.name)) std::abort();
  }
  return 0;
}
