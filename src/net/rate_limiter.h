// SPDX-License-Identifier: Apache-2.0
// Token bucket over several threads: how long each must wait for its bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "util/mutex.h"

namespace aistation::net {

// Thread-safe. A burst of at most 50 ms is given at once.
class RateLimiter {
 public:
  explicit RateLimiter(uint64_t bytes_per_second) : rate_(bytes_per_second) {}

  // Books `bytes` and returns how many nanoseconds to wait before sending them; 0 without a limit.
  int64_t Reserve(uint64_t bytes, int64_t now_ns) {
    if (rate_ == 0) return 0;
    const util::MutexLock lock(mutex_);
    next_ns_ = std::max(next_ns_, now_ns - kBurstNs);
    const int64_t wait = std::max<int64_t>(0, next_ns_ - now_ns);
    next_ns_ += static_cast<int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate_));
    return wait;
  }

 private:
  static constexpr int64_t kBurstNs = 50'000'000;
  const uint64_t rate_;
  util::Mutex mutex_;
  int64_t next_ns_ AIST_GUARDED_BY(mutex_) = 0;
};

}  // namespace aistation::net
