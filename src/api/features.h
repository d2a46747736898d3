// SPDX-License-Identifier: Apache-2.0
// What this build and this machine can do.
#pragma once

#include <string>
#include <string_view>

namespace aistation::api {

bool HasFeature(std::string_view name);
std::string FeaturesJson();  // {"tls1.3": {"present": true, "detail": "..."}, ...}

}  // namespace aistation::api
