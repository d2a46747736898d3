// SPDX-License-Identifier: Apache-2.0
// Labels in Prometheus syntax.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "monitor/labels.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto labels = monitor::ParseLabels(text);
  if (labels.ok() && labels->size() > 32) std::abort();
  return 0;
}
