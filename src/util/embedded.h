// SPDX-License-Identifier: Apache-2.0
// Data files that were compiled into the library: the default catalogue and fault rules.
#pragma once

#include <iterator>
#include <span>
#include <string_view>

namespace aistation::util {

struct EmbeddedFile {
  std::string_view name;  // relative to src/, for example "job/rules/default.jsonc"
  std::string_view content;
};

// All of them, sorted by name. The memory is static.
std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace aistation::util
