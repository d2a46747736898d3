// SPDX-License-Identifier: Apache-2.0
// Time, injected: the same code runs with the real clock and in simulations.
#pragma once

#include <cstdint>

namespace aistation::util {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t UnixNanos() = 0;       // wall time
  virtual int64_t MonotonicNanos() = 0;  // never goes back
  virtual void SleepNanos(int64_t nanos) = 0;
};

Clock& RealClock();

// Moves only when told to (or when somebody sleeps). Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(int64_t start_unix_nanos = 1'700'000'000'000'000'000);
  ~FakeClock() override;
  int64_t UnixNanos() override;
  int64_t MonotonicNanos() override;
  void SleepNanos(int64_t nanos) override { Advance(nanos); }
  void Advance(int64_t nanos);

 private:
  struct State;
  State* state_;
};

}  // namespace aistation::util
