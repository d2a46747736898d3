// SPDX-License-Identifier: Apache-2.0
// Writes JSON text. The caller keeps the grammar; the writer keeps commas, escapes and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aistation::util {

class JsonWriter {
 public:
  // `indent` 0: one line.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}
  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view key);
  void String(std::string_view value);  // invalid UTF-8 becomes U+FFFD
  void Int(int64_t value);
  void Uint(uint64_t value);
  void Double(double value);  // NaN and infinities become null: JSON has none
  void Bool(bool value);
  void Null();
  void Raw(std::string_view json);  // a complete JSON value
  std::string Take() { return std::move(out_); }

  void Field(std::string_view key, std::string_view value) { Key(key), String(value); }
  void Field(std::string_view key, const char* value) { Key(key), String(value); }
  void Field(std::string_view key, int64_t value) { Key(key), Int(value); }
  void Field(std::string_view key, uint64_t value) { Key(key), Uint(value); }
  void Field(std::string_view key, int32_t value) { Key(key), Int(value); }
  void Field(std::string_view key, uint32_t value) { Key(key), Uint(value); }
  void Field(std::string_view key, double value) { Key(key), Double(value); }
  void Field(std::string_view key, bool value) { Key(key), Bool(value); }

 private:
  void Open(char c);
  void Close(char c);
  void Before();
  void NewLine();
  void Quote(std::string_view text);

  const int indent_;
  std::string out_;
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

}  // namespace aistation::util
