// SPDX-License-Identifier: Apache-2.0
#include "util/op.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <exception>
#include <new>

#include "util/clock.h"
#include "util/strings.h"

namespace aistation::util {
namespace {

std::chrono::steady_clock::time_point SteadyDeadline(int64_t monotonic_ns) {
  // steady_clock is CLOCK_MONOTONIC on Linux; far deadlines are clipped to keep the sum in range.
  const int64_t limit = RealClock().MonotonicNanos() + int64_t{1} * 365 * 86'400 * 1'000'000'000;
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(std::min(monotonic_ns, limit)));
}

}  // namespace

absl::Status OpControl::Check() const {
  if (cancelled()) {
    return Error(absl::StatusCode::kCancelled, "op.cancelled", "the operation was cancelled");
  }
  if (deadline_ns_ != INT64_MAX && RealClock().MonotonicNanos() >= deadline_ns_) {
    return Error(
        absl::StatusCode::kDeadlineExceeded, "op.deadline",
        StrCat("the operation did not end before its deadline; it was at: ", progress().phase));
  }
  return absl::OkStatus();
}

absl::Status OpControl::Sleep(int64_t nanos) {
  const int64_t now = RealClock().MonotonicNanos();
  const int64_t until = std::min(nanos > INT64_MAX - now ? INT64_MAX : now + nanos, deadline_ns_);
  {
    MutexLock lock(mutex_);
    while (!cancelled() && RealClock().MonotonicNanos() < until) {
      changed_.WaitUntil(mutex_, SteadyDeadline(until));
    }
  }
  return Check();
}

void OpControl::SetProgress(uint64_t done, uint64_t total, std::string_view phase) {
  done_.store(done, std::memory_order_relaxed);
  total_.store(total, std::memory_order_relaxed);
  SetPhase(phase);
}

void OpControl::SetPhase(std::string_view phase) {
  MutexLock lock(mutex_);
  phase_.assign(phase);
}

Progress OpControl::progress() const {
  Progress p;
  p.done = done_.load(std::memory_order_relaxed);
  p.total = total_.load(std::memory_order_relaxed);
  MutexLock lock(mutex_);
  p.phase = phase_;
  return p;
}

uint64_t OpControl::OnCancel(std::function<void()> hook) {
  uint64_t id = 0;
  {
    MutexLock lock(mutex_);
    id = next_hook_++;
    if (!cancelled()) {
      hooks_.emplace_back(id, std::move(hook));
      return id;
    }
  }
  hook();
  return id;
}

void OpControl::RemoveCancelHook(uint64_t id) {
  MutexLock lock(mutex_);
  std::erase_if(hooks_, [id](const auto& entry) { return entry.first == id; });
  while (running_hook_ == id) changed_.Wait(mutex_);
}

void OpControl::Cancel() {
  {
    MutexLock lock(mutex_);
    if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
    changed_.NotifyAll();
  }
  while (true) {
    std::function<void()> hook;
    {
      MutexLock lock(mutex_);
      running_hook_ = 0;
      changed_.NotifyAll();
      if (hooks_.empty()) return;
      running_hook_ = hooks_.back().first;
      hook = std::move(hooks_.back().second);
      hooks_.pop_back();
    }
    hook();
  }
}

Op::Op(int fd, int64_t deadline_ns, OpBody body)
    : fd_(fd),
      started_ns_(RealClock().MonotonicNanos()),
      control_(deadline_ns),
      body_(std::move(body)),
      result_(FailedPrecondition("op.running", "the operation has not ended; wait for it first")) {}

Op::~Op() { close(fd_); }

absl::StatusOr<std::shared_ptr<Op>> Op::Start(Executor& executor, int64_t timeout_ns, OpBody body) {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return ErrnoError(errno, "op.eventfd", "cannot make an eventfd for an operation");
  const int64_t now = RealClock().MonotonicNanos();
  const int64_t deadline =
      timeout_ns <= 0 || timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
  std::shared_ptr<Op> op(new Op(fd, deadline, std::move(body)));
  AIST_RETURN_IF_ERROR(executor.Submit(op));
  return op;
}

void Op::Run() {
  const absl::Status early = control_.Check();
  absl::StatusOr<OpResult> result = early.ok() ? absl::UnknownError("not run") : early;
  if (early.ok()) {
    try {
      result = body_(control_);
    } catch (const std::bad_alloc&) {
      result = Error(absl::StatusCode::kResourceExhausted, "base.memory", "out of memory");
    } catch (const std::exception& e) {
      result = Internal("base.exception", StrCat("unexpected exception: ", e.what()));
    } catch (...) {
      result = Internal("base.exception", "unexpected exception");
    }
  }
  body_ = nullptr;
  MutexLock lock(mutex_);
  result_ = std::move(result);
  ended_ns_ = RealClock().MonotonicNanos();
  done_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(fd_, &one, sizeof(one));
  ended_.NotifyAll();
}

bool Op::done() const {
  MutexLock lock(mutex_);
  return done_;
}

bool Op::Wait(int64_t timeout_ns) {
  const int64_t now = RealClock().MonotonicNanos();
  const int64_t until =
      timeout_ns < 0 || timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
  MutexLock lock(mutex_);
  while (!done_) {
    if (RealClock().MonotonicNanos() >= until) return false;
    ended_.WaitUntil(mutex_, SteadyDeadline(until));
  }
  return true;
}

Progress Op::progress() const {
  Progress p = control_.progress();
  MutexLock lock(mutex_);
  p.ended = done_;
  const int64_t end = done_ ? ended_ns_ : RealClock().MonotonicNanos();
  p.elapsed_ns = static_cast<uint64_t>(end - started_ns_);
  return p;
}

absl::StatusOr<OpResult> Op::result() const {
  MutexLock lock(mutex_);
  return result_;
}

struct Executor::State {
  explicit State(uint32_t max) : max_threads(max) {}
  const uint32_t max_threads;
  Mutex mutex;
  CondVar work;
  bool stopping AIST_GUARDED_BY(mutex) = false;
  uint32_t idle AIST_GUARDED_BY(mutex) = 0;
  std::deque<std::shared_ptr<Op>> queue AIST_GUARDED_BY(mutex);
  std::set<std::shared_ptr<Op>> running AIST_GUARDED_BY(mutex);
  std::vector<Thread> threads AIST_GUARDED_BY(mutex);

  static void Work(const std::shared_ptr<State>& state) {
    while (true) {
      std::shared_ptr<Op> op;
      {
        MutexLock lock(state->mutex);
        ++state->idle;
        while (state->queue.empty() && !state->stopping) state->work.Wait(state->mutex);
        --state->idle;
        if (state->queue.empty()) return;
        op = std::move(state->queue.front());
        state->queue.pop_front();
        state->running.insert(op);
      }
      op->Run();
      MutexLock lock(state->mutex);
      state->running.erase(op);
    }
  }
};

Executor::Executor(uint32_t max_threads)
    : state_(std::make_shared<State>(std::max<uint32_t>(1, max_threads))) {}

absl::Status Executor::Submit(std::shared_ptr<Op> op) {
  MutexLock lock(state_->mutex);
  if (state_->stopping) {
    return FailedPrecondition("base.closing", "the context is being freed; start nothing new");
  }
  if (state_->queue.size() >= 100'000) {
    return Error(absl::StatusCode::kResourceExhausted, "base.too_many_operations",
                 "100000 operations wait already; wait for some of them first");
  }
  if (state_->idle <= state_->queue.size() && state_->threads.size() < state_->max_threads) {
    Thread thread = Thread::Start("aist-op", [state = state_] { State::Work(state); });
    if (thread.joinable()) {
      state_->threads.push_back(std::move(thread));
    } else if (state_->threads.empty()) {
      return Error(absl::StatusCode::kResourceExhausted, "base.threads",
                   "the system has no thread left for an operation");
    }
  }
  state_->queue.push_back(std::move(op));
  state_->work.NotifyOne();
  return absl::OkStatus();
}

uint32_t Executor::threads() const {
  MutexLock lock(state_->mutex);
  return static_cast<uint32_t>(state_->threads.size());
}

Executor::~Executor() {
  std::vector<std::shared_ptr<Op>> all;
  std::vector<Thread> threads;
  {
    MutexLock lock(state_->mutex);
    state_->stopping = true;
    all.assign(state_->running.begin(), state_->running.end());
    all.insert(all.end(), state_->queue.begin(), state_->queue.end());
    threads.swap(state_->threads);
    state_->work.NotifyAll();
  }
  for (const auto& op : all) op->Cancel();
  threads.clear();  // joins
}

}  // namespace aistation::util
