// SPDX-License-Identifier: Apache-2.0
// Audit log inside a store: each entry carries the SHA-256 of the one before it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aistation/v1/store.pb.h"
#include "store/store.h"
#include "util/clock.h"

namespace aistation::store {

// Appends (compare-and-swap on the head; concurrent writers retry) and returns the number, from 1.
// `detail`: "" or a JSON object. Keys: "audit/<seq as 20 digits>", "audit-head".
absl::StatusOr<uint64_t> AuditAppend(Store& store, std::string_view actor, std::string_view action,
                                     std::string_view object, std::string_view detail,
                                     util::Clock& clock = util::RealClock());
absl::StatusOr<v1::AuditLog> AuditRead(Store& store, uint64_t first, uint32_t limit);
absl::StatusOr<v1::AuditVerification> AuditVerify(Store& store);

}  // namespace aistation::store
