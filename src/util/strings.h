// SPDX-License-Identifier: Apache-2.0
// Strings without the locale: joining, splitting, numbers, hexadecimal, base64.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace aistation::util {

namespace internal {
inline void Append(std::string* out, std::string_view s) { out->append(s); }
inline void Append(std::string* out, const char* s) { out->append(s); }
inline void Append(std::string* out, char c) { out->push_back(c); }
inline void Append(std::string* out, bool b) { out->append(b ? "true" : "false"); }
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool> &&
         !std::is_same_v<T, char>) void Append(std::string* out, T value) {
  char buffer[24];
  out->append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}
inline void Append(std::string* out, double value) {
  char buffer[40];
  out->append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}
}  // namespace internal

// Joins strings, characters, integers and doubles (shortest form that reads back the same).
template <class... Args>
std::string StrCat(const Args&... args) {
  std::string out;
  (internal::Append(&out, args), ...);
  return out;
}
template <class... Args>
void StrAppend(std::string* out, const Args&... args) {
  (internal::Append(out, args), ...);
}

// `value` with `digits` digits after the point, always '.'.
std::string FormatFixed(double value, int digits);
// "1.5 GiB"; powers of 1024.
std::string FormatBytes(uint64_t bytes);

std::vector<std::string_view> Split(std::string_view text, char separator);  // keeps empty parts
std::string Join(std::span<const std::string> parts, std::string_view separator);
std::string_view Trim(std::string_view text);  // blanks, tabs, CR, LF
std::string AsciiLower(std::string_view text);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to);

// The whole text must be the number: no sign for unsigned types, no blanks, no locale.
template <class T>
std::optional<T> ParseInt(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}
std::optional<double> ParseDouble(std::string_view text);

std::string HexEncode(std::string_view bytes);  // lower case
std::optional<std::string> HexDecode(std::string_view text);
std::string Base64Encode(std::string_view bytes);
std::optional<std::string> Base64Decode(
    std::string_view text);  // padding optional, also URL alphabet

// '*' matches any run of characters, '?' one; linear time.
bool GlobMatch(std::string_view pattern, std::string_view text);
bool IsValidUtf8(std::string_view text);
// Replaces each invalid byte by U+FFFD.
std::string ToValidUtf8(std::string_view text);
// Letters, digits, '.', '_', '-', at most max_size bytes, not empty, not "." or "..".
bool IsSafeName(std::string_view name, size_t max_size = 128);
// At most max_bytes of `text`, with "..." when cut. For messages that quote input.
std::string Excerpt(std::string_view text, size_t max_bytes = 80);

}  // namespace aistation::util
