// SPDX-License-Identifier: Apache-2.0
// Manifests and indexes of OCI and Docker schema 2. Pure and bounded: 4 MiB, 1,000 layers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.h"

namespace aistation::image {

inline constexpr size_t kMaxManifestBytes = 4u << 20;
inline constexpr const char* kAccept =
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.docker.distribution.manifest.v2+json";

struct Descriptor {
  std::string media_type;
  std::string digest;
  uint64_t size = 0;
  std::string platform;  // "linux/amd64", "linux/arm64/v8"; in an index only
};

// Either an index (children) or a manifest (config, layers).
struct Manifest {
  std::string media_type;
  bool is_index = false;
  std::vector<Descriptor> children;
  Descriptor config;
  std::vector<Descriptor> layers;
};

// `source` names it in errors. INVALID_ARGUMENT `image.manifest` names the field.
absl::StatusOr<Manifest> ParseManifest(std::string_view text, std::string_view source);
// The child for a platform ("" is "linux/amd64"). NOT_FOUND `image.platform` lists what there is.
absl::StatusOr<Descriptor> PickPlatform(const Manifest& index, std::string_view platform,
                                        std::string_view source);

}  // namespace aistation::image
