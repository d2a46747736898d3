// SPDX-License-Identifier: Apache-2.0
// Patterns and lines.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "job/log_follower.h"
#include "job/pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t half = text.find('\n');
  if (half == std::string_view::npos) return 0;
  const auto pattern = job::Pattern::Compile(text.substr(0, half));
  if (pattern.ok()) (void)pattern->Find(text.substr(half + 1));
  (void)job::NormalPci(text);
  (void)job::KmsgMessage(text);
  return 0;
}
