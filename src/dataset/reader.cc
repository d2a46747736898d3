// SPDX-License-Identifier: Apache-2.0
#include "dataset/reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "dataset/manifest.h"
#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::dataset {

absl::StatusOr<std::unique_ptr<Reader>> Reader::Open(const std::string& directory) {
  const std::string path = util::JoinPath(directory, kManifestFile);
  auto bytes = util::ReadFile(path, 1u << 30);
  if (bytes.status().code() == absl::StatusCode::kNotFound) {
    return util::NotFound("dataset.not_cached",
                          util::StrCat(directory,
                                       ": no cached dataset; give the path that caching "
                                       "it returned"));
  }
  if (!bytes.ok()) return bytes.status();
  v1::DatasetManifest manifest;
  if (!manifest.ParseFromString(*bytes)) {
    return util::DataLoss("dataset.damaged", util::StrCat(path, ": not a manifest"));
  }
  AIST_RETURN_IF_ERROR(CheckManifest(manifest));
  const std::string data_path = util::JoinPath(directory, kDataFile);
  AIST_ASSIGN_OR_RETURN(util::Fd data, util::OpenFile(data_path, O_RDONLY));
  struct stat info {};
  if (fstat(data.get(), &info) != 0 ||
      static_cast<uint64_t>(info.st_size) != manifest.size_bytes()) {
    return util::DataLoss("dataset.damaged",
                          util::StrCat(data_path, ": has not the ", manifest.size_bytes(),
                                       " bytes of its manifest; cache the dataset again"));
  }
  // Use counts for eviction. A reader without the right to set it still reads.
  (void)utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return std::unique_ptr<Reader>(new Reader(std::move(manifest), std::move(data)));
}

absl::StatusOr<uint64_t> Reader::Find(std::string_view path) const {
  const auto& files = manifest_.files();
  const auto found =
      std::lower_bound(files.begin(), files.end(), path,
                       [](const v1::DatasetFile& f, std::string_view p) { return f.path() < p; });
  if (found == files.end() || found->path() != path) {
    return util::NotFound("dataset.no_file", util::StrCat("dataset ", manifest_.name(),
                                                          " has no file ", util::Excerpt(path)));
  }
  return static_cast<uint64_t>(found - files.begin());
}

absl::StatusOr<const v1::DatasetFile*> Reader::File(uint64_t index) const {
  if (index >= count()) {
    return util::Error(absl::StatusCode::kOutOfRange, "dataset.index",
                       util::StrCat("dataset ", manifest_.name(), " has ", count(), " files, not ",
                                    "number ", index));
  }
  return &manifest_.files(static_cast<int>(index));
}

absl::StatusOr<size_t> Reader::Read(uint64_t index, uint64_t offset, char* buffer,
                                    size_t size) const {
  AIST_ASSIGN_OR_RETURN(const v1::DatasetFile* file, File(index));
  if (offset >= file->size_bytes()) return size_t{0};
  const size_t want = std::min<uint64_t>(size, file->size_bytes() - offset);
  AIST_ASSIGN_OR_RETURN(
      const size_t got,
      util::PreadFull(data_.get(), buffer, want, file->offset() + offset, manifest_.name()));
  if (got != want) {
    return util::DataLoss("dataset.damaged",
                          util::StrCat("dataset ", manifest_.name(), ": its file became shorter"));
  }
  return got;
}

}  // namespace aistation::dataset
