// SPDX-License-Identifier: Apache-2.0
// One connection of the server, from accept to close, on its own thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "net/http_server.h"
#include "net/rate_limiter.h"
#include "util/clock.h"
#include "util/mutex.h"

namespace aistation::net {

// What all connections of a server share.
class SessionShared {
 public:
  explicit SessionShared(uint64_t max_rate_bytes) : limiter_(max_rate_bytes) {}
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  void Stop() {
    const util::MutexLock lock(mutex_);
    stopping_.store(true, std::memory_order_release);
    changed_.NotifyAll();
  }
  // Waits for the turn of `bytes`; false when the server stops.
  bool Pace(uint64_t bytes) {
    const int64_t wait = limiter_.Reserve(bytes, util::RealClock().MonotonicNanos());
    if (wait <= 0) return !stopping();
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(wait);
    const util::MutexLock lock(mutex_);
    while (!stopping() && changed_.WaitUntil(mutex_, until)) {
    }
    return !stopping();
  }

 private:
  RateLimiter limiter_;
  std::atomic<bool> stopping_{false};
  util::Mutex mutex_;
  util::CondVar changed_;
};

// Owns `fd`. Calls `before_close` once, before the descriptor is closed.
void RunSession(const ServerOptions& options, const Handler& handler, SessionShared& shared, int fd,
                bool v6, const std::string& remote, const std::function<void()>& before_close);

}  // namespace aistation::net
