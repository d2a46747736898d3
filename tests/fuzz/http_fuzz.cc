// SPDX-License-Identifier: Apache-2.0
// URLs, ranges, errors of peers.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/http_server.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)net::ParseUrl(text);
  (void)net::PercentDecode(text);
  const auto range = net::ParseRange(text, 1000);
  if (range.ok() && range->has_value() && (*range)->offset + (*range)->length > 1000) std::abort();
  net::HttpResponse response;
  response.status = 500;
  response.body = std::string(text);
  if (net::ErrorFromResponse(response, "input").ok()) std::abort();
  return 0;
}
