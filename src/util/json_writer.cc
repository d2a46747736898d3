// SPDX-License-Identifier: Apache-2.0
#include "util/json_writer.h"

#include <cmath>

#include "util/strings.h"

namespace aistation::util {

void JsonWriter::NewLine() {
  if (indent_ == 0) return;
  out_.push_back('\n');
  out_.append(has_items_.size() * static_cast<size_t>(indent_), ' ');
}

void JsonWriter::Before() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_.push_back(',');
  has_items_.back() = true;
  NewLine();
}

void JsonWriter::Open(char c) {
  Before();
  out_.push_back(c);
  has_items_.push_back(false);
}

void JsonWriter::Close(char c) {
  const bool had_items = has_items_.back();
  has_items_.pop_back();
  if (had_items) NewLine();
  out_.push_back(c);
}

void JsonWriter::Quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  const std::string repaired = IsValidUtf8(text) ? std::string() : ToValidUtf8(text);
  if (!repaired.empty()) text = repaired;
  out_.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out_.append("\\\"");
        break;
      case '\\':
        out_.append("\\\\");
        break;
      case '\n':
        out_.append("\\n");
        break;
      case '\r':
        out_.append("\\r");
        break;
      case '\t':
        out_.append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 32 || c == 127) {
          out_.append("\\u00");
          out_.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
          out_.push_back(kHex[static_cast<unsigned char>(c) & 15]);
        } else {
          out_.push_back(c);
        }
    }
  }
  out_.push_back('"');
}

void JsonWriter::Key(std::string_view key) {
  Before();
  Quote(key);
  out_.append(indent_ == 0 ? ":" : ": ");
  after_key_ = true;
}

void JsonWriter::String(std::string_view value) {
  Before();
  Quote(value);
}
void JsonWriter::Int(int64_t value) {
  Before();
  StrAppend(&out_, value);
}
void JsonWriter::Uint(uint64_t value) {
  Before();
  StrAppend(&out_, value);
}
void JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  Before();
  StrAppend(&out_, value);
}
void JsonWriter::Bool(bool value) {
  Before();
  out_.append(value ? "true" : "false");
}
void JsonWriter::Null() {
  Before();
  out_.append("null");
}
void JsonWriter::Raw(std::string_view json) {
  Before();
  out_.append(json);
}

}  // namespace aistation::util
