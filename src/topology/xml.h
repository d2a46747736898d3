// SPDX-License-Identifier: Apache-2.0
// As much XML as topology files need: elements and attributes. No entities of their own, no
// external anything. Bounded: 32 MiB, depth 128, 200,000 elements.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/status.h"

namespace aistation::topology {

struct XmlElement {
  std::string name;
  int line = 0;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  // "" when absent.
  std::string_view Get(std::string_view attribute) const;
  // A whole number; `otherwise` when absent or empty. INVALID_ARGUMENT `topology.xml` names the
  // line.
  absl::StatusOr<int32_t> Number(std::string_view attribute, int32_t otherwise,
                                 std::string_view source) const;
};

// The root element. INVALID_ARGUMENT `topology.xml` names source and line.
absl::StatusOr<XmlElement> ParseXml(std::string_view text, std::string_view source);

}  // namespace aistation::topology
