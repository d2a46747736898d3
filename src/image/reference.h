// SPDX-License-Identifier: Apache-2.0
// Names of images: registry/repository:tag@digest.
#pragma once

#include <string>
#include <string_view>

#include "util/status.h"

namespace aistation::image {

struct Reference {
  std::string registry;    // host[:port]
  std::string repository;  // "bank/base"
  std::string tag;         // "" when only a digest is given
  std::string digest;      // "sha256:…" or ""
  std::string ToString() const;
  // What a manifest is asked by: the digest if there is one.
  const std::string& Selector() const { return digest.empty() ? tag : digest; }
};

// The registry must be given; without tag and digest the tag is "latest".
// INVALID_ARGUMENT `image.reference`.
absl::StatusOr<Reference> ParseReference(std::string_view text);

}  // namespace aistation::image
