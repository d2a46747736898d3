// SPDX-License-Identifier: Apache-2.0
#include "dataset/manifest.h"

#include <algorithm>

#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "util/strings.h"

namespace aistation::dataset {
namespace {

absl::Status Bad(const v1::DatasetManifest& manifest, std::string_view what) {
  return util::InvalidArgument(
      "dataset.manifest", util::StrCat("dataset ", util::Excerpt(manifest.name()), ": ", what));
}

}  // namespace

bool IsSafePath(std::string_view path) {
  if (path.empty() || path.size() > 4096 || path.find('\0') != std::string_view::npos) return false;
  for (const std::string_view part : util::Split(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return util::IsValidUtf8(path);
}

std::string ComputeVersion(const v1::DatasetManifest& manifest) {
  security::Hasher hasher;
  const auto add = [&hasher](std::string_view field) {
    hasher.Update(util::StrCat(field.size(), ":"));
    hasher.Update(field);
  };
  add(manifest.source());
  for (const auto& file : manifest.files()) {
    add(file.path());
    add(util::StrCat(file.size_bytes()));
    add(file.etag());
  }
  return "sha256:" + util::HexEncode(hasher.Finish());
}

void Finish(v1::DatasetManifest* manifest) {
  std::sort(manifest->mutable_files()->pointer_begin(), manifest->mutable_files()->pointer_end(),
            [](const auto* a, const auto* b) { return a->path() < b->path(); });
  uint64_t offset = 0;
  for (auto& file : *manifest->mutable_files()) {
    file.set_offset(offset);
    offset += file.size_bytes();
  }
  manifest->set_size_bytes(offset);
  manifest->set_version(ComputeVersion(*manifest));
}

absl::Status CheckManifest(const v1::DatasetManifest& manifest) {
  if (!util::IsSafeName(manifest.name())) {
    return Bad(manifest, "name: expected letters, digits, '.', '_', '-'");
  }
  if (static_cast<uint64_t>(manifest.files_size()) > kMaxFiles)
    return Bad(manifest, "too many files");
  uint64_t offset = 0;
  const std::string* before = nullptr;
  for (const auto& file : manifest.files()) {
    if (!IsSafePath(file.path())) {
      return Bad(manifest, util::StrCat("file \"", util::Excerpt(file.path()),
                                        "\": expected a relative path without \"..\""));
    }
    if (before != nullptr && *before >= file.path()) {
      return Bad(manifest, util::StrCat("file ", file.path(), ": paths must be sorted and unique"));
    }
    if (file.offset() != offset) {
      return Bad(manifest, util::StrCat("file ", file.path(), ": offset ", file.offset(),
                                        ", expected ", offset));
    }
    if (file.size_bytes() > UINT64_MAX / 2 - offset) return Bad(manifest, "sizes are too large");
    offset += file.size_bytes();
    before = &file.path();
  }
  if (offset != manifest.size_bytes()) {
    return Bad(manifest,
               util::StrCat("size_bytes is ", manifest.size_bytes(), ", the files have ", offset));
  }
  AIST_RETURN_IF_ERROR(transfer::CheckGeometry(manifest.name(), offset, manifest.chunk_bytes()));
  if (manifest.version() != ComputeVersion(manifest)) {
    return Bad(manifest, "version does not belong to these files");
  }
  return absl::OkStatus();
}

std::string ObjectId(const v1::DatasetManifest& manifest) {
  return "dataset:" + manifest.version().substr(manifest.version().find(':') + 1);
}

}  // namespace aistation::dataset
