// SPDX-License-Identifier: Apache-2.0
#include "util/clock.h"

#include <atomic>
#include <ctime>

namespace aistation::util {
namespace {

int64_t Now(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  int64_t UnixNanos() override { return Now(CLOCK_REALTIME); }
  int64_t MonotonicNanos() override { return Now(CLOCK_MONOTONIC); }
  void SleepNanos(int64_t nanos) override {
    if (nanos <= 0) return;
    timespec t{static_cast<time_t>(nanos / 1'000'000'000),
               static_cast<long>(nanos % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) != 0) {
    }
  }
};

}  // namespace

Clock& RealClock() {
  static Clock* const clock = new SystemClock;  // leaked: usable until the very end
  return *clock;
}

struct FakeClock::State {
  int64_t start;
  std::atomic<int64_t> elapsed{0};
};

FakeClock::FakeClock(int64_t start_unix_nanos) : state_(new State{start_unix_nanos}) {}
FakeClock::~FakeClock() { delete state_; }
int64_t FakeClock::UnixNanos() { return state_->start + state_->elapsed.load(); }
int64_t FakeClock::MonotonicNanos() { return 1'000'000'000 + state_->elapsed.load(); }
void FakeClock::Advance(int64_t nanos) {
  if (nanos > 0) state_->elapsed.fetch_add(nanos);
}

}  // namespace aistation::util
