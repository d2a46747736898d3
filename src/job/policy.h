// SPDX-License-Identifier: Apache-2.0
// What follows from the attempts of a job so far. Pure functions of its document.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "accel/catalogue.h"
#include "aistation/v1/job.pb.h"
#include "aistation/v1/roce.pb.h"
#include "util/status.h"

namespace aistation::job {

// INVALID_ARGUMENT names the field.
absl::Status CheckSpec(const v1::JobSpec& spec);

struct NextStep {
  bool retry = false;
  int64_t delay_ns = 0;  // from the end of the last attempt
  std::string sentence;  // why
};
// After the last attempt got its verdict.
NextStep DecideNext(const v1::Job& job);

// Nodes and cards that the verdicts so far leave out, sorted, each once.
struct Exclusions {
  std::vector<std::string> nodes;
  std::vector<std::string> cards;
};
Exclusions ExclusionsOf(const v1::Job& job);
// Whether the node or card of this verdict should be kept from all jobs.
bool ShouldCordon(const v1::Verdict& verdict);

// The request for the next attempt: spec, exclusions, nodes that hold its data first.
v1::PlacementRequest RequestFor(const v1::Job& job);

// End points of all NICs of the placement, one a NIC.
v1::ProbeRequest ProbeFor(const v1::Placement& placement);
// Who is to blame when not all reach all: the end point or node with the most failures.
v1::LogLine ProbeFinding(const v1::ProbeMatrix& matrix, const v1::Placement& placement,
                         std::string* card_id);

std::vector<v1::Member> MembersOf(const v1::Placement& placement);

struct RankPlan {
  v1::Member node;
  std::string card_id;
  v1::LaunchRequest request;  // without epoch
};
// All ranks of the last attempt, in order. `models`: card id to model, for the variable by which
// its software chooses cards.
absl::StatusOr<std::vector<RankPlan>> PlanRanks(const v1::Job& job,
                                                const std::map<std::string, std::string>& models,
                                                const accel::Catalogue& catalogue);

// Who is where, for the classifier.
v1::ClassifyRequest FrameOf(const v1::Attempt& attempt);

}  // namespace aistation::job
