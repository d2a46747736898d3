// SPDX-License-Identifier: Apache-2.0
// What failed, by rule, with the lines that show it. Pure.
#pragma once

#include "aistation/v1/job.pb.h"
#include "job/rules.h"

namespace aistation::job {

inline constexpr int kMaxEvidence = 16;

// The primary match of the highest weight decides, of equal ones the earliest. Lines about cards
// that are not of this job (request.pci_card) do not count. Only secondary matches: "unknown",
// restart. Nothing at all: rule "" and class "unknown".
v1::Verdict Classify(const RuleSet& rules, const v1::ClassifyRequest& request);

// Whether this one line of a kernel log ends the attempt though all processes still run: a primary
// match that asks to leave out a card of this job, or a node.
bool EndsAttempt(const RuleSet& rules, const v1::LogLine& line, const v1::ClassifyRequest& job);

}  // namespace aistation::job
