// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <deque>
#include <map>

#include "store/check.h"
#include "util/mutex.h"

namespace aistation::store {
namespace {

struct Shared {
  explicit Shared(util::Clock& c) : clock(c) {}
  util::Clock& clock;
  util::Mutex mutex;
  util::CondVar changed;
  std::map<std::string, Entry, std::less<>> entries AIST_GUARDED_BY(mutex);
  std::deque<Change> log AIST_GUARDED_BY(mutex);
  uint64_t first_seq AIST_GUARDED_BY(mutex) = 0;  // number of log.front()
  int64_t revision AIST_GUARDED_BY(mutex) = 0;
  int64_t compacted AIST_GUARDED_BY(mutex) = 0;  // changes up to this revision are gone
  struct Lease {
    int64_t ttl_ns;
    int64_t expires_ns;
  };
  std::map<int64_t, Lease> leases AIST_GUARDED_BY(mutex);
  int64_t next_lease AIST_GUARDED_BY(mutex) = 1;

  void Append(Change change) AIST_REQUIRES(mutex) {
    log.push_back(std::move(change));
    while (static_cast<int64_t>(log.size()) > kKeptChanges) {
      compacted = log.front().revision;
      log.pop_front();
      ++first_seq;
    }
  }

  void DropLease(int64_t lease) AIST_REQUIRES(mutex) {
    leases.erase(lease);
    std::vector<Entry> gone;
    for (const auto& [key, entry] : entries) {
      if (entry.lease == lease) gone.push_back(entry);
    }
    if (gone.empty()) return;
    ++revision;
    for (auto& entry : gone) {
      entries.erase(entry.key);
      Append({true, std::move(entry), revision});
    }
    changed.NotifyAll();
  }

  // Time passes only when somebody looks: expired leases go first in every call.
  void Expire() AIST_REQUIRES(mutex) {
    const int64_t now = clock.MonotonicNanos();
    std::vector<int64_t> gone;
    for (const auto& [id, lease] : leases) {
      if (lease.expires_ns <= now) gone.push_back(id);
    }
    for (const int64_t id : gone) DropLease(id);
  }
};

class MemoryWatch final : public Watch {
 public:
  MemoryWatch(std::shared_ptr<Shared> shared, std::string prefix, uint64_t next_seq)
      : shared_(std::move(shared)), prefix_(std::move(prefix)), next_seq_(next_seq) {}

  absl::StatusOr<Change> Next(int64_t timeout_ns) override {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::nanoseconds(std::max<int64_t>(timeout_ns, 0));
    const util::MutexLock lock(shared_->mutex);
    while (true) {
      if (cancelled_) return WatchCancelled();
      shared_->Expire();
      if (next_seq_ < shared_->first_seq) return Compacted(shared_->compacted);
      while (next_seq_ - shared_->first_seq < shared_->log.size()) {
        const Change& change = shared_->log[next_seq_++ - shared_->first_seq];
        if (change.entry.key.starts_with(prefix_)) return change;
      }
      // In slices, so that leases expire while nobody else calls.
      const auto now = std::chrono::steady_clock::now();
      if (timeout_ns >= 0 && now >= end) return NoEvent();
      const auto slice = now + std::chrono::milliseconds(100);
      (void)shared_->changed.WaitUntil(shared_->mutex,
                                       timeout_ns >= 0 ? std::min(slice, end) : slice);
    }
  }

  void Cancel() override {
    const util::MutexLock lock(shared_->mutex);
    cancelled_ = true;
    shared_->changed.NotifyAll();
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const std::string prefix_;
  uint64_t next_seq_ AIST_GUARDED_BY(shared_->mutex);
  bool cancelled_ AIST_GUARDED_BY(shared_->mutex) = false;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(util::Clock& clock) : shared_(std::make_shared<Shared>(clock)) {}

  absl::StatusOr<Entry> Get(std::string_view key) override {
    AIST_RETURN_IF_ERROR(CheckKey(key));
    const util::MutexLock lock(shared_->mutex);
    shared_->Expire();
    const auto found = shared_->entries.find(key);
    if (found == shared_->entries.end()) return NoKey(key);
    return found->second;
  }

  absl::StatusOr<RangeResult> Range(std::string_view prefix, uint32_t limit) override {
    const util::MutexLock lock(shared_->mutex);
    shared_->Expire();
    RangeResult result;
    result.revision = shared_->revision;
    for (auto it = shared_->entries.lower_bound(prefix);
         it != shared_->entries.end() && it->first.starts_with(prefix); ++it) {
      if (result.entries.size() >= limit) {
        result.more = true;
        break;
      }
      result.entries.push_back(it->second);
    }
    return result;
  }

  absl::StatusOr<int64_t> Txn(const std::vector<Condition>& conditions,
                              const std::vector<Write>& writes) override {
    AIST_RETURN_IF_ERROR(CheckTxn(conditions, writes));
    const util::MutexLock lock(shared_->mutex);
    shared_->Expire();
    for (const auto& condition : conditions) {
      const auto found = shared_->entries.find(condition.key);
      const int64_t actual = found == shared_->entries.end() ? 0 : found->second.revision;
      if (actual != condition.revision) return Mismatch(condition.key, condition.revision, actual);
    }
    for (const auto& write : writes) {
      if (write.lease != 0 && !shared_->leases.contains(write.lease)) return NoLease(write.lease);
    }
    const int64_t revision = ++shared_->revision;
    for (const auto& write : writes) Apply(write, revision);
    shared_->changed.NotifyAll();
    return revision;
  }

  absl::StatusOr<int64_t> GrantLease(int64_t ttl_ns) override {
    AIST_RETURN_IF_ERROR(CheckTtl(ttl_ns));
    const util::MutexLock lock(shared_->mutex);
    const int64_t id = shared_->next_lease++;
    shared_->leases[id] = {ttl_ns, shared_->clock.MonotonicNanos() + ttl_ns};
    return id;
  }

  absl::Status KeepAlive(int64_t lease) override {
    const util::MutexLock lock(shared_->mutex);
    shared_->Expire();
    const auto found = shared_->leases.find(lease);
    if (found == shared_->leases.end()) return NoLease(lease);
    found->second.expires_ns = shared_->clock.MonotonicNanos() + found->second.ttl_ns;
    return absl::OkStatus();
  }

  absl::Status RevokeLease(int64_t lease) override {
    const util::MutexLock lock(shared_->mutex);
    shared_->Expire();
    if (!shared_->leases.contains(lease)) return NoLease(lease);
    shared_->DropLease(lease);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Watch>> WatchPrefix(std::string_view prefix,
                                                     int64_t after_revision) override {
    const util::MutexLock lock(shared_->mutex);
    shared_->Expire();
    uint64_t next = shared_->first_seq + shared_->log.size();
    if (after_revision > 0) {
      if (after_revision < shared_->compacted) return Compacted(after_revision);
      next = shared_->first_seq;
      for (const auto& change : shared_->log) {
        if (change.revision > after_revision) break;
        ++next;
      }
    }
    return std::unique_ptr<Watch>(
        std::make_unique<MemoryWatch>(shared_, std::string(prefix), next));
  }

 private:
  void Apply(const Write& write, int64_t revision) AIST_REQUIRES(shared_->mutex) {
    const auto found = shared_->entries.find(write.key);
    if (!write.value.has_value()) {
      if (found == shared_->entries.end()) return;
      shared_->Append({true, found->second, revision});
      shared_->entries.erase(found);
      return;
    }
    Entry& entry = shared_->entries[write.key];
    entry.key = write.key;
    entry.value = *write.value;
    if (entry.version == 0) entry.create_revision = revision;
    entry.revision = revision;
    ++entry.version;
    entry.lease = write.lease;
    shared_->Append({false, entry, revision});
  }

  const std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<Store> MakeMemoryStore(util::Clock& clock) {
  return std::make_shared<MemoryStore>(clock);
}

}  // namespace aistation::store
