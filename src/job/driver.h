// SPDX-License-Identifier: Apache-2.0
// Drives one job from state to state. Each state is durable before the next step begins, and each
// step may be done again by another driver.
#pragma once

#include <memory>
#include <string>

#include "accel/catalogue.h"
#include "alloc/allocator.h"
#include "job/cluster.h"
#include "job/job_store.h"
#include "job/lease.h"
#include "job/rules.h"
#include "job/watcher.h"
#include "monitor/registry.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/op.h"

namespace aistation::job {

struct DriverParts {
  std::shared_ptr<store::Store> store;
  std::shared_ptr<alloc::Allocator> allocator;
  std::shared_ptr<Cluster> cluster;
  std::shared_ptr<const RuleSet> rules;
  std::shared_ptr<const accel::Catalogue> catalogue;
  monitor::Registry* metrics = nullptr;  // may be null
  util::Clock* clock = &util::RealClock();
  util::Logger log;
  std::string owner;  // shown to others that want to drive the job
  WatchLimits limits;
};

class Driver {
 public:
  explicit Driver(DriverParts parts) : parts_(std::move(parts)) {}
  // To the end of the job. Cancelling `control` stops driving and leaves the job as it is.
  // ABORTED `job.driven_elsewhere`, also when the lease was lost on the way.
  absl::StatusOr<v1::Job> Run(std::string_view id, util::OpControl& control);

 private:
  absl::Status Step();
  absl::Status Place();
  absl::Status Probe();
  absl::Status Stage();
  absl::Status Launch();
  absl::Status Watch();
  absl::Status NextAttempt();

  absl::Status Refused(const v1::PlacementRequest& request, bool* for_ever);
  absl::Status FailAttempt(v1::Verdict verdict);
  absl::Status FailStaging(std::string_view source, const absl::Status& status);
  absl::Status Finish(v1::JobState state, const std::string& message);
  absl::Status CleanUp();
  absl::Status Save(v1::JobState state, const std::string& message);
  void Tell(const std::string& message);
  absl::Status Audit(std::string_view action, std::string_view object, const std::string& detail);

  v1::Job& job() { return stored_.job; }
  v1::Attempt& attempt() { return *job().mutable_attempts(job().attempts_size() - 1); }
  uint64_t Epoch() const { return lease_->epoch() * 1024 + stored_.job.attempts_size(); }

  const DriverParts parts_;
  StoredJob stored_;
  util::OpControl* outer_ = nullptr;
  std::unique_ptr<util::OpControl> work_;  // of the steps; cancelled by the lease too
  std::unique_ptr<DriverLease> lease_;
  std::map<std::string, uint64_t> log_positions_;
};

}  // namespace aistation::job
