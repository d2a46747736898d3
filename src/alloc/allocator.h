// SPDX-License-Identifier: Apache-2.0
// Who gets which cards: a pure planner over a snapshot, and a ledger in the store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aistation/v1/inventory.pb.h"
#include "aistation/v1/placement.pb.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/status.h"

namespace aistation::alloc {

// Pure: the same state and request give the same placement. `refusal` is set when it does not fit.
v1::Placement Plan(const v1::AllocationState& state, const v1::PlacementRequest& request);
absl::Status CheckInventory(const v1::Inventory& inventory);
absl::Status CheckRequest(const v1::PlacementRequest& request);

// Thread-safe; several processes may use one store: each decision is a compare-and-swap.
class Allocator {
 public:
  // `inventory` null: the one in the store.
  static absl::StatusOr<std::shared_ptr<Allocator>> Open(std::shared_ptr<store::Store> store,
                                                         const v1::Inventory* inventory,
                                                         util::Clock& clock = util::RealClock());
  virtual ~Allocator() = default;
  virtual absl::StatusOr<v1::Placement> DryRun(const v1::PlacementRequest& request) = 0;
  virtual absl::StatusOr<v1::Placement> Allocate(const v1::PlacementRequest& request) = 0;
  virtual absl::Status Release(std::string_view grant_id) = 0;
  virtual absl::Status Cordon(std::string_view node, std::string_view card_id, bool on,
                              std::string_view why) = 0;
  virtual absl::StatusOr<v1::AllocationState> State() = 0;
};

}  // namespace aistation::alloc
