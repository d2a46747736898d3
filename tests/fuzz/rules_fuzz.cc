// SPDX-License-Identifier: Apache-2.0
// Fault rules.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "job/rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rules = job::RuleSet::Parse(text, "input");
  if (rules.ok()) (void)(*rules)->Match("kernel_log", "NVRM: Xid (PCI:0000:3b:00): 79, pid=1");
  return 0;
}
