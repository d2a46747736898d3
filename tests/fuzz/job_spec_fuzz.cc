// SPDX-License-Identifier: Apache-2.0
// Specifications of jobs.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "job/policy.h"
#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = wire::FromJson<v1::JobSpec>(text, "input");
  if (spec.ok()) (void)job::CheckSpec(*spec);
  return 0;
}
