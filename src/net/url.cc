// SPDX-License-Identifier: Apache-2.0
// Pure parsers of HTTP texts: URLs, percent encoding, ranges, headers.
#include <algorithm>

#include "net/http_client.h"
#include "net/http_server.h"
#include "util/strings.h"

namespace aistation::net {
namespace {

constexpr size_t kMaxUrl = 8192;

absl::Status BadUrl(std::string_view text, std::string_view expected) {
  // A password inside the URL must not reach the message.
  const size_t at = text.find('@');
  const std::string shown =
      at == std::string_view::npos ? util::Excerpt(text, 120) : std::string("(with user name)");
  return util::InvalidArgument("net.url", util::StrCat("URL ", shown, ": expected ", expected));
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

absl::Status ParsePort(std::string_view url, std::string_view digits, uint16_t* port) {
  const auto value = util::ParseInt<uint16_t>(digits);
  if (!value.has_value() || *value == 0) return BadUrl(url, "a port from 1 to 65535");
  *port = *value;
  return absl::OkStatus();
}

}  // namespace

std::string_view FindHeader(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (util::EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

absl::StatusOr<Url> ParseUrl(std::string_view text) {
  if (text.size() > kMaxUrl) return BadUrl(text.substr(0, 40), "at most 8192 bytes");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == '\\') {
      return BadUrl(text, "no blank, control character or backslash");
    }
  }
  Url url;
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return BadUrl(text, "http:// or https:// in front");
  url.scheme = util::AsciiLower(text.substr(0, scheme_end));
  if (url.scheme != "http" && url.scheme != "https") return BadUrl(text, "http:// or https://");
  std::string_view rest = text.substr(scheme_end + 3);
  const size_t path_start = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, path_start);
  std::string_view path = path_start == std::string_view::npos ? "" : rest.substr(path_start);
  path = path.substr(0, path.find('#'));
  url.path = path.empty() || path[0] != '/' ? util::StrCat("/", path) : std::string(path);
  if (authority.find('@') != std::string_view::npos) {
    return BadUrl(text, "no user name or password in it; give credentials in the configuration");
  }
  std::string_view port;
  if (!authority.empty() && authority[0] == '[') {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return BadUrl(text, "']' after the IPv6 address");
    url.host = std::string(authority.substr(1, close - 1));
    if (url.host.empty() ||
        url.host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos) {
      return BadUrl(text, "an IPv6 address between '[' and ']'");
    }
    port = authority.substr(close + 1);
    if (!port.empty() && port[0] != ':') return BadUrl(text, "':' and a port after ']'");
  } else {
    const size_t colon = authority.find(':');
    url.host = std::string(authority.substr(0, colon));
    if (colon != std::string_view::npos) port = authority.substr(colon);
    for (const char c : url.host) {
      if (!IsHostCharacter(c)) return BadUrl(text, "a host of letters, digits, '.', '-', '_'");
    }
  }
  if (url.host.empty()) return BadUrl(text, "a host");
  if (!port.empty()) AIST_RETURN_IF_ERROR(ParsePort(text, port.substr(1), &url.port));
  return url;
}

std::string PercentEncodePath(std::string_view path) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsHostCharacter(c) || c == '/' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

absl::StatusOr<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto decoded =
        i + 3 <= text.size() ? util::HexDecode(text.substr(i + 1, 2)) : std::nullopt;
    if (!decoded.has_value() || decoded->at(0) == '\0') {
      return util::InvalidArgument("net.percent", util::StrCat("\"", util::Excerpt(text),
                                                               "\": expected two hexadecimal "
                                                               "digits, not 00, after each '%'"));
    }
    out += *decoded;
    i += 2;
  }
  return out;
}

absl::StatusOr<std::optional<ByteRange>> ParseRange(std::string_view header, uint64_t size) {
  if (header.substr(0, 6) != "bytes=") return std::optional<ByteRange>();
  const std::string_view spec = util::Trim(header.substr(6));
  const size_t dash = spec.find('-');
  if (dash == std::string_view::npos || spec.find(',') != std::string_view::npos) {
    return std::optional<ByteRange>();
  }
  const std::string_view first_text = spec.substr(0, dash);
  const std::string_view last_text = spec.substr(dash + 1);
  const auto first = util::ParseInt<uint64_t>(first_text);
  const auto last = util::ParseInt<uint64_t>(last_text);
  if ((!first_text.empty() && !first) || (!last_text.empty() && !last) || (!first && !last)) {
    return std::optional<ByteRange>();
  }
  const auto unsatisfiable = [&] {
    return util::Error(
        absl::StatusCode::kOutOfRange, "net.range",
        util::StrCat("range ", util::Excerpt(spec, 50), " does not lie in the ", size, " bytes"));
  };
  if (!first) {  // the last `*last` bytes
    if (*last == 0 || size == 0) return unsatisfiable();
    const uint64_t length = std::min(*last, size);
    return std::optional<ByteRange>(ByteRange{size - length, length});
  }
  if (last && *last < *first) return std::optional<ByteRange>();
  if (*first >= size) return unsatisfiable();
  const uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return std::optional<ByteRange>(ByteRange{*first, end - *first + 1});
}

}  // namespace aistation::net
