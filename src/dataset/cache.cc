// SPDX-License-Identifier: Apache-2.0
#include "dataset/cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "dataset/index.h"
#include "dataset/manifest.h"
#include "dataset/reader.h"
#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "util/file.h"
#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::dataset {
namespace {

constexpr const char* kOwner = "dataset-cache";  // keeps the blob store from evicting the object
constexpr const char* kPinFile = "pinned";

int64_t ModifiedNanos(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

// Over all chunk digests in order.
std::string ContentDigest(transfer::ChunkStore& store, const v1::DatasetManifest& manifest) {
  security::Hasher hasher;
  const std::string id = ObjectId(manifest);
  const uint64_t chunks = transfer::ChunkCount(manifest.size_bytes(), manifest.chunk_bytes());
  for (uint64_t i = 0; i < chunks; ++i) hasher.Update(store.ChunkDigest(id, i).value_or(""));
  return "sha256:" + util::HexEncode(hasher.Finish());
}

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetCache>> DatasetCache::Open(CacheOptions options) {
  auto cache = std::unique_ptr<DatasetCache>(new DatasetCache(std::move(options)));
  const std::string base = cache->options_.directory + "/datasets";
  AIST_RETURN_IF_ERROR(util::MakeDirectories(base, 0755));
  AIST_ASSIGN_OR_RETURN(const auto names, util::ListDirectory(base));
  for (const auto& name : names) {
    const std::string directory = util::JoinPath(base, name);
    // The manifest is written last and removed first.
    if (!util::Exists(util::JoinPath(directory, kManifestFile))) {
      AIST_RETURN_IF_ERROR(util::RemoveTree(directory));
    }
  }
  return cache;
}

std::string DatasetCache::DirectoryOf(const v1::DatasetManifest& manifest) const {
  return util::StrCat(options_.directory, "/datasets/", manifest.name(), "@",
                      manifest.version().substr(manifest.version().find(':') + 1, 16));
}

absl::Status DatasetCache::Publish(const v1::DatasetManifest& manifest, bool pin) {
  const util::MutexLock lock(mutex_);
  auto& store = options_.engine->store();
  const std::string directory = DirectoryOf(manifest);
  const std::string id = ObjectId(manifest);
  AIST_RETURN_IF_ERROR(store.Pin(id, kOwner, true));
  AIST_RETURN_IF_ERROR(util::MakeDirectories(directory, 0755));
  const std::string data = util::JoinPath(directory, kDataFile);
  if (!util::Exists(data) && link(store.PathOf(id).c_str(), data.c_str()) != 0 && errno != EEXIST) {
    return util::ErrnoError(errno, "dataset.publish", util::StrCat("cannot link ", data));
  }
  if (chmod(data.c_str(), 0444) != 0) return util::ErrnoError(errno, "dataset.publish", data);
  if (pin) {
    AIST_RETURN_IF_ERROR(util::WriteFileDurably(util::JoinPath(directory, kPinFile), ""));
  }
  const std::string path = util::JoinPath(directory, kManifestFile);
  if (util::Exists(path)) return absl::OkStatus();
  return util::WriteFileDurably(path, wire::Serialize(manifest), 0644);
}

absl::StatusOr<v1::DatasetResult> DatasetCache::Cache(const v1::DatasetCacheRequest& request,
                                                      util::OpControl& control) {
  const v1::DatasetManifest& manifest = request.manifest();
  AIST_RETURN_IF_ERROR(CheckManifest(manifest));
  if (options_.limit_bytes != 0) {
    if (manifest.size_bytes() > options_.limit_bytes) {
      return util::Error(absl::StatusCode::kResourceExhausted, "dataset.too_large",
                         util::StrCat("dataset ", manifest.name(), " has ", manifest.size_bytes(),
                                      " bytes, the limit of this node is ", options_.limit_bytes));
    }
    if (options_.engine->store().PathOf(ObjectId(manifest)).empty()) {
      AIST_RETURN_IF_ERROR(Evict(options_.limit_bytes - manifest.size_bytes()).status());
    }
  }
  const auto source = MakeSource(manifest, options_.client, options_.source_ca_file);
  transfer::ObjectSpec spec;
  spec.id = ObjectId(manifest);
  spec.size = manifest.size_bytes();
  spec.chunk_bytes = manifest.chunk_bytes();
  spec.label = "dataset " + manifest.name();
  const std::vector<v1::Member> members(request.members().begin(), request.members().end());
  AIST_ASSIGN_OR_RETURN(const auto stats, options_.engine->Fetch(spec, *source, members, control));
  AIST_RETURN_IF_ERROR(Publish(manifest, request.pin()));
  v1::DatasetResult result;
  result.set_name(manifest.name());
  result.set_version(manifest.version());
  *result.mutable_stats() = stats;
  result.set_path(DirectoryOf(manifest));
  result.set_content_digest(ContentDigest(options_.engine->store(), manifest));
  return result;
}

absl::StatusOr<v1::DatasetList> DatasetCache::ListLocked() {
  const std::string base = options_.directory + "/datasets";
  AIST_ASSIGN_OR_RETURN(const auto names, util::ListDirectory(base));
  v1::DatasetList list;
  for (const auto& name : names) {
    const std::string directory = util::JoinPath(base, name);
    const std::string path = util::JoinPath(directory, kManifestFile);
    const auto bytes = util::ReadFile(path, 1u << 30);
    v1::DatasetManifest manifest;
    if (!bytes.ok() || !manifest.ParseFromString(*bytes)) continue;
    auto* info = list.add_datasets();
    info->set_name(manifest.name());
    info->set_version(manifest.version());
    info->set_size_bytes(manifest.size_bytes());
    const auto object = options_.engine->store().Info(ObjectId(manifest));
    info->set_cached_bytes(object.ok() ? object->bytes_present : 0);
    info->set_pinned(util::Exists(util::JoinPath(directory, kPinFile)));
    info->set_last_used_unix_ns(ModifiedNanos(path));
    info->set_path(directory);
  }
  return list;
}

absl::StatusOr<v1::DatasetList> DatasetCache::List() {
  const util::MutexLock lock(mutex_);
  return ListLocked();
}

absl::Status DatasetCache::Pin(std::string_view name, bool on) {
  const util::MutexLock lock(mutex_);
  AIST_ASSIGN_OR_RETURN(const auto list, ListLocked());
  bool found = false;
  for (const auto& info : list.datasets()) {
    if (info.name() != name) continue;
    found = true;
    const std::string path = util::JoinPath(info.path(), kPinFile);
    if (on) {
      AIST_RETURN_IF_ERROR(util::WriteFileDurably(path, ""));
    } else if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      return util::ErrnoError(errno, "dataset.pin", path);
    }
  }
  if (found) return absl::OkStatus();
  return util::NotFound("dataset.not_cached",
                        util::StrCat("dataset ", util::Excerpt(name), " is not on this node"));
}

absl::StatusOr<uint64_t> DatasetCache::Evict(uint64_t target_bytes) {
  const util::MutexLock lock(mutex_);
  AIST_ASSIGN_OR_RETURN(auto list, ListLocked());
  uint64_t total = 0;
  for (const auto& info : list.datasets()) total += info.size_bytes();
  std::sort(list.mutable_datasets()->pointer_begin(), list.mutable_datasets()->pointer_end(),
            [](const auto* a, const auto* b) {
              return std::pair(a->last_used_unix_ns(), a->path()) <
                     std::pair(b->last_used_unix_ns(), b->path());
            });
  uint64_t freed = 0;
  for (const auto& info : list.datasets()) {
    if (total - freed <= target_bytes) break;
    if (info.pinned()) continue;
    const std::string path = util::JoinPath(info.path(), kManifestFile);
    if (unlink(path.c_str()) != 0) return util::ErrnoError(errno, "dataset.evict", path);
    AIST_RETURN_IF_ERROR(util::RemoveTree(info.path()));
    const absl::Status removed = options_.engine->store().Remove(
        "dataset:" + info.version().substr(info.version().find(':') + 1));
    if (!removed.ok() && removed.code() != absl::StatusCode::kNotFound) return removed;
    freed += info.size_bytes();
  }
  return freed;
}

void Register(transfer::RemoteOps& ops, DatasetCache& cache) {
  ops.Register("dataset-cache",
               [&cache](const net::ServerRequest&, std::string_view bytes,
                        util::OpControl& control) -> absl::StatusOr<std::string> {
                 AIST_ASSIGN_OR_RETURN(const auto request,
                                       wire::Parse<v1::DatasetCacheRequest>(
                                           wire::Format::kProtobuf, bytes, "dataset request"));
                 AIST_ASSIGN_OR_RETURN(const auto result, cache.Cache(request, control));
                 return wire::Serialize(result);
               });
}

absl::StatusOr<std::vector<v1::DatasetResult>> Distribute(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    const v1::DatasetCacheRequest& request, util::OpControl& control) {
  if (request.members().empty() || request.members_size() > 10'000) {
    return util::InvalidArgument("dataset.members", "members: expected 1 to 10,000 nodes");
  }
  const std::vector<v1::Member> members(request.members().begin(), request.members().end());
  const std::string bytes = wire::Serialize(request);
  auto results = transfer::CallAll(client, identity, members, "dataset-cache", std::span(&bytes, 1),
                                   false, control);
  std::vector<v1::DatasetResult> out;
  absl::Status failure;
  for (auto& result : results) {
    if (!result.ok()) {
      if (failure.ok() || failure.code() == absl::StatusCode::kCancelled) failure = result.status();
      continue;
    }
    AIST_ASSIGN_OR_RETURN(
        out.emplace_back(),
        wire::Parse<v1::DatasetResult>(wire::Format::kProtobuf, *result, "dataset result"));
  }
  AIST_RETURN_IF_ERROR(control.Check());
  if (!failure.ok()) return failure;
  for (const auto& result : out) {
    if (result.content_digest() != out[0].content_digest()) {
      return util::DataLoss("dataset.digest",
                            util::StrCat("dataset ", request.manifest().name(),
                                         ": the members hold different content; the source changed "
                                         "meanwhile, or a relay lied"));
    }
  }
  return out;
}

}  // namespace aistation::dataset
