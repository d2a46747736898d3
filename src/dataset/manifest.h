// SPDX-License-Identifier: Apache-2.0
// Manifests of datasets: checked, and found by path.
#pragma once

#include <string>
#include <string_view>

#include "aistation/v1/dataset.pb.h"
#include "util/status.h"

namespace aistation::dataset {

inline constexpr uint64_t kMaxFiles = 10'000'000;

// A relative path, '/' between parts, no empty part, "." or "..", no NUL, at most 4,096 bytes.
bool IsSafePath(std::string_view path);
// Sorted, unique, safe paths; offsets that add up; version as ComputeVersion() gives it.
// INVALID_ARGUMENT `dataset.manifest` names the file.
absl::Status CheckManifest(const v1::DatasetManifest& manifest);
// "sha256:…" over name of the source, paths, sizes and etags.
std::string ComputeVersion(const v1::DatasetManifest& manifest);
// Sorts the files, sets offsets, size and version.
void Finish(v1::DatasetManifest* manifest);
// Id of the object in the chunk store.
std::string ObjectId(const v1::DatasetManifest& manifest);

}  // namespace aistation::dataset
