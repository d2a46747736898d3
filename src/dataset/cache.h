// SPDX-License-Identifier: Apache-2.0
// Datasets on one node: filled with the other members, listed, pinned, evicted.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aistation/v1/dataset.pb.h"
#include "net/http_client.h"
#include "transfer/engine.h"
#include "transfer/remote_op.h"
#include "util/mutex.h"

namespace aistation::dataset {

struct CacheOptions {
  std::string directory;  // of the node; datasets/ is below it
  std::shared_ptr<transfer::Engine> engine;
  std::shared_ptr<net::HttpClient> client;
  std::string source_ca_file;
  uint64_t limit_bytes = 0;  // of the whole node; 0: no limit
};

// Thread-safe.
class DatasetCache {
 public:
  // Removes what an unfinished filling or eviction left.
  static absl::StatusOr<std::unique_ptr<DatasetCache>> Open(CacheOptions options);

  // RESOURCE_EXHAUSTED `dataset.too_large` when it can never fit.
  absl::StatusOr<v1::DatasetResult> Cache(const v1::DatasetCacheRequest& request,
                                          util::OpControl& control);
  absl::StatusOr<v1::DatasetList> List();
  absl::Status Pin(std::string_view name, bool on);  // all versions; NOT_FOUND
  // Unpinned datasets that are not being filled, least recently used first, until at most
  // `target_bytes` are cached. Returns the bytes freed. Readers that have one open go on.
  absl::StatusOr<uint64_t> Evict(uint64_t target_bytes);

 private:
  explicit DatasetCache(CacheOptions options) : options_(std::move(options)) {}
  std::string DirectoryOf(const v1::DatasetManifest& manifest) const;
  absl::StatusOr<v1::DatasetList> ListLocked() AIST_REQUIRES(mutex_);
  absl::Status Publish(const v1::DatasetManifest& manifest, bool pin);

  const CacheOptions options_;
  util::Mutex mutex_;  // of the directories
};

// Method "dataset-cache".
void Register(transfer::RemoteOps& ops, DatasetCache& cache);
// All members cache it. Results in the order of the members.
absl::StatusOr<std::vector<v1::DatasetResult>> Distribute(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    const v1::DatasetCacheRequest& request, util::OpControl& control);

}  // namespace aistation::dataset
