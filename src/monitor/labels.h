// SPDX-License-Identifier: Apache-2.0
// Labels in Prometheus syntax.
#pragma once

#include <string_view>

#include "monitor/registry.h"

namespace aistation::monitor {

// `key="value",...` with \\, \" and \n in values; "" gives none. At most 32 labels. Pure.
// INVALID_ARGUMENT `monitor.labels`.
absl::StatusOr<Labels> ParseLabels(std::string_view text);

}  // namespace aistation::monitor
