// SPDX-License-Identifier: Apache-2.0
// Who drives a job: one manager at a time, by a lease in the store.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "store/store.h"
#include "util/mutex.h"
#include "util/op.h"
#include "util/thread.h"

namespace aistation::job {

// While it lives the lease is kept alive by a thread that also looks whether the job is to end.
// When the lease is lost or the job is to end, `work` is cancelled.
class DriverLease {
 public:
  // ABORTED `job.driven_elsewhere`.
  static absl::StatusOr<std::unique_ptr<DriverLease>> Acquire(std::shared_ptr<store::Store> store,
                                                              std::string_view id,
                                                              std::string_view owner,
                                                              util::OpControl& work,
                                                              std::function<void()> on_tick);
  ~DriverLease();

  // Grows with each driver of the store: for fencing.
  uint64_t epoch() const { return epoch_; }
  bool lost() const { return lost_.load(); }
  bool cancel_requested() const { return cancel_requested_.load(); }

 private:
  DriverLease() = default;
  void Keep();

  std::shared_ptr<store::Store> store_;
  std::string id_;
  std::function<void()> on_tick_;
  util::OpControl* work_ = nullptr;
  int64_t lease_ = 0;
  uint64_t epoch_ = 0;
  std::atomic<bool> lost_{false};
  std::atomic<bool> cancel_requested_{false};
  util::Mutex mutex_;
  util::CondVar stop_changed_;
  bool stop_ AIST_GUARDED_BY(mutex_) = false;
  util::Thread keeper_;
};

}  // namespace aistation::job
