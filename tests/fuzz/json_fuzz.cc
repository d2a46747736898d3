// SPDX-License-Identifier: Apache-2.0
// The strict JSON codec of documents.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "aistation/v1/inventory.pb.h"
#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = wire::FromJson<v1::Inventory>(text, "input");
  if (!read.ok()) return 0;
  // What was read is written and read again as the same.
  const auto again = wire::FromJson<v1::Inventory>(wire::ToJson(*read), "again");
  if (!again.ok() || wire::Serialize(*again) != wire::Serialize(*read)) std::abort();
  return 0;
}
