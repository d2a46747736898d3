// SPDX-License-Identifier: Apache-2.0
// Follows the processes of one attempt on all its nodes until it is known how it went.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "aistation/v1/job.pb.h"
#include "job/launcher.h"
#include "job/rules.h"
#include "util/op.h"

namespace aistation::job {

struct WatchLimits {
  int64_t poll_ns = 2'000'000'000;   // of one long poll
  int64_t lost_ns = 10'000'000'000;  // without an answer for this long: the node is lost
  int64_t settle_ns = 700'000'000;   // after the first bad sign, for the signs that explain it
  int64_t time_limit_ns = 0;         // from now; 0: none
  int64_t since_unix_ns = 0;         // older lines of nodes without a position do not count
};

struct AttemptOutcome {
  bool succeeded = false;
  v1::ClassifyRequest signs;  // for Classify(), when it did not succeed
};

// Runs `work` once for each node, 64 at a time, and waits for all.
void ForEachNode(const std::vector<v1::Member>& nodes,
                 const std::function<void(size_t index, const v1::Member& node)>& work);

// `positions`: where the kernel log of each node stood before the start.
// Errors: CANCELLED, DEADLINE_EXCEEDED of `control`.
absl::StatusOr<AttemptOutcome> WatchAttempt(Launcher& launcher, const RuleSet& rules,
                                            const v1::ClassifyRequest& frame,
                                            const std::string& job, uint32_t attempt,
                                            const std::vector<v1::Member>& nodes,
                                            const std::map<std::string, uint64_t>& positions,
                                            const WatchLimits& limits, util::OpControl& control);

}  // namespace aistation::job
