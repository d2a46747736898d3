// SPDX-License-Identifier: Apache-2.0
// One interface of durable state; back-ends: memory, SQLite. A conformance suite runs on each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.h"
#include "util/status.h"

namespace aistation::store {

inline constexpr size_t kMaxKeyBytes = 1024;
inline constexpr size_t kMaxValueBytes = 8u << 20;

struct Entry {
  std::string key;
  std::string value;
  int64_t create_revision = 0;
  int64_t revision = 0;  // of the last change
  int64_t version = 0;   // changes since it was made, from 1
  int64_t lease = 0;
};

struct Change {
  bool deleted = false;
  Entry entry;  // of a deletion: key and old value
  int64_t revision = 0;
};

struct RangeResult {
  std::vector<Entry> entries;  // sorted by key
  int64_t revision = 0;        // of the whole store when read
  bool more = false;
};

// One transaction: all conditions hold, then all writes happen under one revision; else nothing.
struct Condition {
  std::string key;
  int64_t revision = 0;  // that the key must have; 0: must not exist
};
struct Write {
  std::string key;
  std::optional<std::string> value;  // nullopt: delete (no error if absent)
  int64_t lease = 0;
};

class Watch {
 public:
  virtual ~Watch() = default;
  // Next change in order of revision. DEADLINE_EXCEEDED `store.no_event`; OUT_OF_RANGE
  // `store.compacted` when this watcher was too slow. `timeout_ns` negative: for ever.
  virtual absl::StatusOr<Change> Next(int64_t timeout_ns) = 0;
  // Makes a Next() that waits return CANCELLED.
  virtual void Cancel() = 0;
};

// Thread-safe. Keys are bytes, ordered as bytes. Revisions grow by one with each transaction.
// Errors: NOT_FOUND `store.no_key`, `store.no_lease`; ABORTED `store.revision_mismatch`;
// INVALID_ARGUMENT `store.key`, `store.value`.
class Store {
 public:
  virtual ~Store() = default;
  virtual absl::StatusOr<Entry> Get(std::string_view key) = 0;
  virtual absl::StatusOr<RangeResult> Range(std::string_view prefix, uint32_t limit = 10'000) = 0;
  // Revision of the transaction. Durable when it returns.
  virtual absl::StatusOr<int64_t> Txn(const std::vector<Condition>& conditions,
                                      const std::vector<Write>& writes) = 0;
  virtual absl::StatusOr<int64_t> GrantLease(int64_t ttl_ns) = 0;
  virtual absl::Status KeepAlive(int64_t lease) = 0;
  virtual absl::Status RevokeLease(int64_t lease) = 0;
  // `after_revision` 0: from now on.
  virtual absl::StatusOr<std::unique_ptr<Watch>> WatchPrefix(std::string_view prefix,
                                                             int64_t after_revision) = 0;

  // Shorthands over Txn().
  absl::StatusOr<int64_t> Put(std::string_view key, std::string_view value, int64_t lease = 0);
  absl::StatusOr<int64_t> Cas(std::string_view key, int64_t expected, std::string_view value);
  // `expected` 0: any revision.
  absl::Status Delete(std::string_view key, int64_t expected = 0);
};

std::shared_ptr<Store> MakeMemoryStore(util::Clock& clock = util::RealClock());
// FAILED_PRECONDITION `store.format`: not a store, or of a newer format.
absl::StatusOr<std::shared_ptr<Store>> OpenSqliteStore(const std::string& path,
                                                       util::Clock& clock = util::RealClock());

}  // namespace aistation::store
