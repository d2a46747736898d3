// SPDX-License-Identifier: Apache-2.0
// Long operations: what runs (OpControl), who waits (Op), and the threads (Executor).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "util/mutex.h"
#include "util/status.h"
#include "util/thread.h"

namespace aistation::util {

struct Progress {
  uint64_t done = 0;
  uint64_t total = 0;
  uint64_t elapsed_ns = 0;
  std::string phase;
  bool ended = false;
};

// The side of the worker. Passed down through a long operation. Thread-safe.
class OpControl {
 public:
  // `deadline_ns`: on the monotonic clock of util::RealClock(); INT64_MAX: none.
  explicit OpControl(int64_t deadline_ns = INT64_MAX) : deadline_ns_(deadline_ns) {}
  OpControl(const OpControl&) = delete;
  OpControl& operator=(const OpControl&) = delete;

  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  int64_t deadline_ns() const { return deadline_ns_; }
  // CANCELLED, DEADLINE_EXCEEDED, or OK to go on. Call it in every loop.
  absl::Status Check() const;
  // Sleeps until `nanos` have passed or the operation is cancelled; then as Check().
  absl::Status Sleep(int64_t nanos);

  void SetProgress(uint64_t done, uint64_t total, std::string_view phase);
  void AddDone(uint64_t units) { done_.fetch_add(units, std::memory_order_relaxed); }
  void SetTotal(uint64_t units) { total_.store(units, std::memory_order_relaxed); }
  void SetPhase(std::string_view phase);
  Progress progress() const;

  // Runs `hook` once when the operation is cancelled (at once if it is already), on the thread that
  // cancels. Returns an id for RemoveCancelHook(), which waits until a running hook has returned.
  uint64_t OnCancel(std::function<void()> hook);
  void RemoveCancelHook(uint64_t id);
  void Cancel();

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> total_{0};
  const int64_t deadline_ns_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::string phase_ AIST_GUARDED_BY(mutex_);
  uint64_t next_hook_ AIST_GUARDED_BY(mutex_) = 1;
  uint64_t running_hook_ AIST_GUARDED_BY(mutex_) = 0;
  std::vector<std::pair<uint64_t, std::function<void()>>> hooks_ AIST_GUARDED_BY(mutex_);
};

// What an operation yields: a document that can be rendered in either format.
using OpResult = std::function<std::string(bool as_json)>;
using OpBody = std::function<absl::StatusOr<OpResult>(OpControl&)>;

class Executor;

// The side of the waiter. Thread-safe.
class Op {
 public:
  ~Op();
  // Runs `body` on a thread of `executor`. Everything `body` captures is destroyed before the
  // operation counts as ended.
  static absl::StatusOr<std::shared_ptr<Op>> Start(Executor& executor, int64_t timeout_ns,
                                                   OpBody body);
  int fd() const { return fd_; }  // eventfd, readable once ended
  bool done() const;
  // False when `timeout_ns` (negative: for ever) passed first.
  bool Wait(int64_t timeout_ns);
  void Cancel() { control_.Cancel(); }
  Progress progress() const;
  // Outcome; FAILED_PRECONDITION while it runs.
  absl::StatusOr<OpResult> result() const;

 private:
  friend class Executor;
  Op(int fd, int64_t deadline_ns, OpBody body);
  void Run();

  const int fd_;
  const int64_t started_ns_;
  OpControl control_;
  OpBody body_;
  mutable Mutex mutex_;
  CondVar ended_;
  bool done_ AIST_GUARDED_BY(mutex_) = false;
  int64_t ended_ns_ AIST_GUARDED_BY(mutex_) = 0;
  absl::StatusOr<OpResult> result_ AIST_GUARDED_BY(mutex_);
};

// Threads for operations, made when needed, at most `max_threads`; more operations wait in line.
// The destructor cancels what runs or waits and joins all threads.
class Executor {
 public:
  explicit Executor(uint32_t max_threads = 64);
  ~Executor();
  absl::Status Submit(std::shared_ptr<Op> op);
  uint32_t threads() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives the executor while a worker that destroyed it winds up
};

}  // namespace aistation::util
