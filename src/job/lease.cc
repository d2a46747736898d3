// SPDX-License-Identifier: Apache-2.0
#include "job/lease.h"

#include <chrono>

#include "job/job_store.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

constexpr int64_t kLeaseNs = 15'000'000'000;
constexpr int kTickMs = 250;
constexpr int kTicksPerKeepAlive = 16;  // 4 s: three may fail before the lease ends

}  // namespace

absl::StatusOr<std::unique_ptr<DriverLease>> DriverLease::Acquire(
    std::shared_ptr<store::Store> store, std::string_view id, std::string_view owner,
    util::OpControl& work, std::function<void()> on_tick) {
  auto out = std::unique_ptr<DriverLease>(new DriverLease);
  AIST_ASSIGN_OR_RETURN(out->lease_, store->GrantLease(kLeaseNs));
  const std::string key = util::StrCat("job-driver/", id);
  const auto revision = store->Txn({{key, 0}}, {{key, std::string(owner), out->lease_}});
  if (!revision.ok()) {
    (void)store->RevokeLease(out->lease_);  // it would end by itself
    if (!absl::IsAborted(revision.status())) return revision.status();
    const auto holder = store->Get(key);
    return util::Error(absl::StatusCode::kAborted, "job.driven_elsewhere",
                       util::StrCat("job ", id, " is driven by ",
                                    holder.ok() ? holder->value : "another manager"));
  }
  out->store_ = std::move(store);
  out->id_ = std::string(id);
  out->on_tick_ = std::move(on_tick);
  out->work_ = &work;
  out->epoch_ = static_cast<uint64_t>(*revision);
  out->keeper_ = util::Thread::Start("aist-lease", [raw = out.get()] { raw->Keep(); });
  if (!out->keeper_.joinable()) {
    return util::Error(absl::StatusCode::kResourceExhausted, "job.thread", "cannot start a thread");
  }
  return out;
}

void DriverLease::Keep() {
  int ticks = 0;
  int failures = 0;
  const util::MutexLock lock(mutex_);
  while (!stop_) {
    stop_changed_.WaitUntil(mutex_,
                            std::chrono::steady_clock::now() + std::chrono::milliseconds(kTickMs));
    if (stop_) return;
    mutex_.Unlock();
    on_tick_();
    if (!cancel_requested_.load() && CancelRequested(*store_, id_)) {
      cancel_requested_.store(true);
      work_->Cancel();
    }
    if (++ticks % kTicksPerKeepAlive == 0) {
      const absl::Status status = store_->KeepAlive(lease_);
      failures = status.ok() ? 0 : failures + 1;
      if (absl::IsNotFound(status) || failures == 3) {
        lost_.store(true);
        work_->Cancel();
      }
    }
    mutex_.Lock();
  }
}

DriverLease::~DriverLease() {
  {
    const util::MutexLock lock(mutex_);
    stop_ = true;
    stop_changed_.NotifyAll();
  }
  keeper_.Join();
  // A lease that cannot be revoked ends by itself.
  if (store_ != nullptr && !lost_.load()) (void)store_->RevokeLease(lease_);
}

}  // namespace aistation::job
