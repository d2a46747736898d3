// SPDX-License-Identifier: Apache-2.0
// One object on its way to this node: who is asked for which chunk, and what happens when somebody
// fails. Internal to the engine.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "net/rate_limiter.h"
#include "transfer/engine.h"
#include "transfer/plan.h"
#include "util/mutex.h"

namespace aistation::transfer {

class FetchRun {
 public:
  // `source_failed` is shown to peers, so that the next in line takes over at once.
  FetchRun(const EngineOptions& options, net::RateLimiter& source_limiter, const ObjectSpec& spec,
           Source& source, std::span<const v1::Member> members, std::atomic<bool>& source_failed,
           util::OpControl& control);
  // All chunks into the store, then committed.
  absl::Status Run();
  v1::TransferStats TakeStats();

 private:
  struct Peer {
    bool quarantined = false;
    bool complete = false;          // had everything when asked at the start
    std::string digests;            // what it had then
    uint64_t present = 0;           // chunks it had when last asked
    int64_t last_progress_ns = 0;   // when that number last grew
    int64_t unreachable_since = 0;  // 0: reachable
  };

  void Survey();
  bool PeerHas(size_t peer, uint64_t chunk);
  void Work(bool for_source);
  void SortChunks();
  absl::Status Transfer();
  // From the source: chunks [first, first+count) that are not here.
  absl::Status ReadSource(uint64_t first, uint64_t count);
  absl::Status ReadSourceOnce(uint64_t first, uint64_t end);
  absl::Status GetFromPeers(uint64_t chunk);
  bool Unreachable(size_t peer);
  // True when it is here now.
  bool TryPeer(size_t peer, uint64_t chunk, int wait_ms, bool* source_failed);
  bool ReaderHasFailed(uint64_t chunk, bool source_failed_seen);
  void Quarantine(size_t peer, std::string_view why);
  absl::Status CompareWithReaders();
  absl::Status Repair();
  void Fail(const absl::Status& status);
  bool Stopped() const { return stop_.load(std::memory_order_acquire); }
  uint64_t Length(uint64_t chunk) const;

  const EngineOptions& options_;
  net::RateLimiter& source_limiter_;
  const ObjectSpec& spec_;
  Source& source_;
  const Plan plan_;
  const size_t self_;
  std::atomic<bool>& source_failed_;
  util::OpControl& outer_;   // of the caller
  util::OpControl control_;  // of this run: also cancelled by the first failure
  std::atomic<bool> stop_{false};

  util::Mutex mutex_;
  absl::Status failure_ AIST_GUARDED_BY(mutex_);
  std::vector<Peer> peers_ AIST_GUARDED_BY(mutex_);
  std::vector<uint64_t> own_ AIST_GUARDED_BY(mutex_);     // first chunks of runs to read
  std::vector<uint64_t> others_ AIST_GUARDED_BY(mutex_);  // chunks to ask for, in order
  size_t next_own_ AIST_GUARDED_BY(mutex_) = 0;
  size_t next_other_ AIST_GUARDED_BY(mutex_) = 0;
  std::vector<int32_t> supplier_ AIST_GUARDED_BY(mutex_);  // peer that gave a chunk, -1: nobody
  v1::TransferStats stats_ AIST_GUARDED_BY(mutex_);
};

}  // namespace aistation::transfer
