// SPDX-License-Identifier: Apache-2.0
#include "monitor/labels.h"

#include "util/strings.h"

namespace aistation::monitor {
namespace {

constexpr size_t kMaxLabels = 32;

absl::Status Bad(size_t position, std::string_view expected) {
  return util::InvalidArgument("monitor.labels",
                               util::StrCat("labels, byte ", position, ": expected ", expected));
}

// Reads up to the closing quote; `*position` stands behind the opening one.
absl::StatusOr<std::string> ReadValue(std::string_view text, size_t* position) {
  std::string value;
  while (*position < text.size()) {
    const char c = text[(*position)++];
    if (c == '"') return value;
    if (c != '\\') {
      value.push_back(c);
      continue;
    }
    const char escaped = *position < text.size() ? text[(*position)++] : '\0';
    switch (escaped) {
      case 'n':
        value.push_back('\n');
        break;
      case '"':
      case '\\':
        value.push_back(escaped);
        break;
      default:
        return Bad(*position, "\\\\, \\\" or \\n");
    }
  }
  return Bad(*position, "a closing quote");
}

}  // namespace

absl::StatusOr<Labels> ParseLabels(std::string_view text) {
  Labels labels;
  size_t position = 0;
  while (position < text.size()) {
    if (labels.size() == kMaxLabels) return Bad(position, "at most 32 labels");
    const size_t equals = text.find('=', position);
    if (equals == std::string_view::npos) return Bad(position, "key=\"value\"");
    const std::string key(util::Trim(text.substr(position, equals - position)));
    position = equals + 1;
    if (position >= text.size() || text[position] != '"') return Bad(position, "an opening quote");
    ++position;
    AIST_ASSIGN_OR_RETURN(std::string value, ReadValue(text, &position));
    labels.emplace_back(key, std::move(value));
    while (position < text.size() && text[position] == ' ') ++position;
    if (position == text.size()) break;
    if (text[position] != ',') return Bad(position, "a comma");
    ++position;
  }
  return labels;
}

}  // namespace aistation::monitor
