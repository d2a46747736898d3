// SPDX-License-Identifier: Apache-2.0
// Patterns of the fault rules: literal text with '*', {pci}, {n} and {word}. Found anywhere in a
// line, in time linear in the line for each start. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.h"

namespace aistation::job {

struct Captures {
  std::string pci;  // as it stands in the line
  std::string word;
  std::optional<int64_t> number;
};

class Pattern {
 public:
  // INVALID_ARGUMENT `job.pattern`: empty, longer than 1,000 bytes, an unknown {name}.
  static absl::StatusOr<Pattern> Compile(std::string_view text);
  std::optional<Captures> Find(std::string_view line) const;

 private:
  enum class Kind { kLiteral, kAny, kPci, kNumber, kWord };
  struct Token {
    Kind kind;
    std::string text;
  };
  bool MatchAt(std::string_view line, size_t position, Captures* captures) const;
  std::vector<Token> tokens_;
};

// "dddd:bb:dd" in lower case, without the function; "" when it is no PCI address.
std::string NormalPci(std::string_view text);

}  // namespace aistation::job
