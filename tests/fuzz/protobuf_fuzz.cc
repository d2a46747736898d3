// SPDX-License-Identifier: Apache-2.0
// Messages between nodes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "aistation/v1/job.pb.h"
#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = wire::Parse<v1::WatchReply>(wire::Format::kProtobuf, text, "input");
  if (read.ok() &&
      !wire::Parse<v1::WatchReply>(wire::Format::kProtobuf, wire::Serialize(*read), "again").ok()) {
    std::abort();
  }
  (void)wire::Parse<v1::LaunchRequest>(wire::Format::kProtobuf, text, "input");
  return 0;
}
