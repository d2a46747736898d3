// SPDX-License-Identifier: Apache-2.0
// Objects on disk, in chunks. One file an object; nothing is under its final name before it is
// whole and verified.
//
//   <dir>/lock                     one process at a time
//   <dir>/partial/<id>             sparse file being filled     (<id> with ':' as '-')
//   <dir>/partial/<id>.chunks      journal: header, then chunk number and SHA-256 of each chunk
//                                on disk
//   <dir>/objects/<id>           committed
//   <dir>/objects/<id>.chunks    SHA-256 of each chunk; its time of change is the last use
//   <dir>/pins/<id>              who pins it, a line each
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.h"
#include "util/file.h"
#include "util/op.h"
#include "util/status.h"

namespace aistation::transfer {

struct ObjectInfo {
  std::string id;
  uint64_t size = 0;
  uint64_t chunk_bytes = 0;
  bool complete = false;
  uint32_t pins = 0;
  int64_t last_used_unix_ns = 0;
  uint64_t bytes_present = 0;
};

// Thread-safe.
class ChunkStore {
 public:
  // Takes the lock, drops torn temporary files, finds what partial objects have (verifying
  // journalled chunks against their digests before they count).
  static absl::StatusOr<std::shared_ptr<ChunkStore>> Open(const std::string& directory,
                                                          util::Clock& clock = util::RealClock());
  virtual ~ChunkStore() = default;

  // Makes or resumes an object. FAILED_PRECONDITION when size or chunk_bytes differ from the
  // partial.
  virtual absl::Status Begin(std::string_view id, uint64_t size, uint64_t chunk_bytes) = 0;
  virtual absl::StatusOr<ObjectInfo> Info(std::string_view id) = 0;  // NOT_FOUND
  virtual std::vector<ObjectInfo> List() = 0;
  virtual std::string PathOf(std::string_view id) = 0;  // of a committed object; "" otherwise

  virtual bool HasChunk(std::string_view id, uint64_t chunk) = 0;
  // Writes one whole chunk; `sha256` (32 raw bytes) must be its digest, it is checked. Wakes
  // waiters.
  virtual absl::Status WriteChunk(std::string_view id, uint64_t chunk, std::string_view bytes,
                                  std::string_view sha256) = 0;
  // Waits until the chunk is here. NOT_FOUND when the object is unknown or was dropped;
  // DEADLINE_EXCEEDED `transfer.no_chunk`.
  virtual absl::Status WaitChunk(std::string_view id, uint64_t chunk, int64_t timeout_ns) = 0;
  // 32 raw bytes; nullopt: chunk not here.
  virtual std::optional<std::string> ChunkDigest(std::string_view id, uint64_t chunk) = 0;
  // Forgets a chunk that proved wrong.
  virtual absl::Status DropChunk(std::string_view id, uint64_t chunk) = 0;
  // Bytes of chunks that are here. OUT_OF_RANGE, NOT_FOUND.
  virtual absl::StatusOr<std::string> Read(std::string_view id, uint64_t offset,
                                           uint64_t length) = 0;
  virtual absl::StatusOr<util::Fd> OpenObject(std::string_view id) = 0;

  // All chunks must be here. `expected_digest` "sha256:..." is checked over the whole content ("" =
  // not asked). Durable: sync, rename, sync of the directory. DATA_LOSS `transfer.digest`.
  virtual absl::Status Commit(std::string_view id, std::string_view expected_digest,
                              util::OpControl& control) = 0;
  virtual absl::Status Remove(std::string_view id) = 0;
  // Small content at once (manifests): verified, committed.
  virtual absl::Status PutWhole(std::string_view id, std::string_view content) = 0;

  virtual absl::Status Pin(std::string_view id, std::string_view owner, bool on) = 0;
  virtual void Touch(std::string_view id) = 0;  // counts as use now
  // Removes complete, unpinned objects that are not in use, least recently used first, until at
  // most `target_bytes` remain. Returns the bytes freed.
  virtual absl::StatusOr<uint64_t> Evict(uint64_t target_bytes) = 0;
  // While it lives the object is not evicted.
  virtual std::shared_ptr<void> Use(std::string_view id) = 0;
  virtual uint64_t total_bytes() = 0;
};

}  // namespace aistation::transfer
