// SPDX-License-Identifier: Apache-2.0
// Reads a cached dataset from the local disk. No thread, no lock, no state but what open() made: a
// process may fork after opening and both sides go on.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aistation/v1/dataset.pb.h"
#include "util/file.h"
#include "util/status.h"

namespace aistation::dataset {

// Names inside the directory of a cached dataset.
inline constexpr const char* kManifestFile = "manifest.pb";
inline constexpr const char* kDataFile = "data";

class Reader {
 public:
  // NOT_FOUND `dataset.not_cached`; DATA_LOSS `dataset.damaged`.
  static absl::StatusOr<std::unique_ptr<Reader>> Open(const std::string& directory);

  const v1::DatasetManifest& manifest() const { return manifest_; }
  uint64_t count() const { return static_cast<uint64_t>(manifest_.files_size()); }
  absl::StatusOr<uint64_t> Find(std::string_view path) const;         // NOT_FOUND `dataset.no_file`
  absl::StatusOr<const v1::DatasetFile*> File(uint64_t index) const;  // OUT_OF_RANGE
  // Bytes read: fewer than `size` at the end of the file only, 0 behind it.
  absl::StatusOr<size_t> Read(uint64_t index, uint64_t offset, char* buffer, size_t size) const;

 private:
  Reader(v1::DatasetManifest manifest, util::Fd data)
      : manifest_(std::move(manifest)), data_(std::move(data)) {}
  const v1::DatasetManifest manifest_;
  const util::Fd data_;
};

}  // namespace aistation::dataset
