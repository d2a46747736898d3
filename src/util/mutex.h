// SPDX-License-Identifier: Apache-2.0
// std::mutex with clang's thread-safety annotations. Not absl::Mutex: Debian's build of it makes
// ThreadSanitizer report races that are none (docs/adr/0005).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define AIST_TSA_(x) __attribute__((x))
#else
#define AIST_TSA_(x)
#endif
#define AIST_GUARDED_BY(m) AIST_TSA_(guarded_by(m))
#define AIST_REQUIRES(m) AIST_TSA_(requires_capability(m))
#define AIST_EXCLUDES(m) AIST_TSA_(locks_excluded(m))

namespace aistation::util {

class AIST_TSA_(capability("mutex")) Mutex {
 public:
  void Lock() AIST_TSA_(acquire_capability()) { mutex_.lock(); }
  void Unlock() AIST_TSA_(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class AIST_TSA_(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) AIST_TSA_(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() AIST_TSA_(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits need the mutex held. Spurious wake-ups happen: wait in a loop or with a predicate.
class CondVar {
 public:
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }
  void Wait(Mutex& mutex) AIST_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False when the deadline passed.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      AIST_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace aistation::util
