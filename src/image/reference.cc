// SPDX-License-Identifier: Apache-2.0
#include "image/reference.h"

#include "security/digest.h"
#include "util/strings.h"

namespace aistation::image {
namespace {

absl::Status Bad(std::string_view text, std::string_view expected) {
  return util::InvalidArgument("image.reference", util::StrCat("image \"", util::Excerpt(text, 120),
                                                               "\": expected ", expected));
}

bool IsLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Parts of lower-case letters and digits, joined by '.', '_', '__', '-' or '/', as the OCI
// distribution specification has it.
bool IsRepository(std::string_view text) {
  if (text.empty() || text.size() > 255) return false;
  for (const std::string_view part : util::Split(text, '/')) {
    if (part.empty() || !IsLower(part.front()) || !IsLower(part.back())) return false;
    for (size_t i = 0; i < part.size(); ++i) {
      if (IsLower(part[i]) || part[i] == '-') continue;
      if (part[i] != '.' && part[i] != '_') return false;
      const bool twice = part[i] == '_' && part[i + 1] == '_' && part[i + 2] != '_';
      if (!IsLower(part[i + 1]) && !twice && !(part[i] == '_' && part[i - 1] == '_')) return false;
    }
  }
  return true;
}

bool IsTag(std::string_view text) {
  return util::IsSafeName(text, 128) && text.front() != '.' && text.front() != '-';
}

bool IsRegistry(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon);
  if (host.empty() || !util::IsSafeName(host, 253)) return false;
  if (colon == std::string_view::npos) {
    return host == "localhost" || host.find('.') != std::string_view::npos;
  }
  const auto port = util::ParseInt<uint16_t>(text.substr(colon + 1));
  return port.has_value() && *port != 0;
}

}  // namespace

std::string Reference::ToString() const {
  std::string text = util::StrCat(registry, "/", repository);
  if (!tag.empty()) util::StrAppend(&text, ":", tag);
  if (!digest.empty()) util::StrAppend(&text, "@", digest);
  return text;
}

absl::StatusOr<Reference> ParseReference(std::string_view text) {
  if (text.size() > 1024) return Bad(text, "at most 1,024 bytes");
  Reference reference;
  std::string_view rest = text;
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    const auto digest = security::ParseDigest(rest.substr(at + 1));
    if (!digest.ok()) return Bad(text, "a digest: sha256: and 64 hexadecimal digits after '@'");
    reference.digest = digest->ToString();
    rest = rest.substr(0, at);
  }
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !IsRegistry(rest.substr(0, slash))) {
    return Bad(text, "registry/name:tag, the registry as host or host:port");
  }
  reference.registry = std::string(rest.substr(0, slash));
  rest = rest.substr(slash + 1);
  if (const size_t colon = rest.find(':'); colon != std::string_view::npos) {
    reference.tag = std::string(rest.substr(colon + 1));
    if (!IsTag(reference.tag)) return Bad(text, "a tag of letters, digits, '.', '_', '-'");
    rest = rest.substr(0, colon);
  }
  if (!IsRepository(rest))
    return Bad(text, "a name of lower-case letters, digits, '.', '_', '-', '/'");
  reference.repository = std::string(rest);
  if (reference.tag.empty() && reference.digest.empty()) reference.tag = "latest";
  return reference;
}

}  // namespace aistation::image
