// SPDX-License-Identifier: Apache-2.0
// Environment by which the collective library of a job uses the NICs that were chosen. Pure.
#pragma once

#include "aistation/v1/placement.pb.h"
#include "util/status.h"

namespace aistation::roce {

// One entry a card, in the order of the placement. Without NICs only what is true of all ranks.
absl::StatusOr<v1::JobEnvironment> MakeEnvironment(const v1::Placement& placement);

}  // namespace aistation::roce
