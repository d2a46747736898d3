// SPDX-License-Identifier: Apache-2.0
// One node as a request sees it: what it could give, or why not. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "aistation/v1/inventory.pb.h"
#include "aistation/v1/placement.pb.h"

namespace aistation::alloc {

// What is taken or kept back, by name.
struct Taken {
  explicit Taken(const v1::AllocationState& state);
  std::set<std::string> cards;                         // held or cordoned
  std::set<std::string> held;                          // held only
  std::set<std::string> nodes;                         // cordoned
  std::set<std::pair<std::string, std::string>> nics;  // node, NIC: used by a grant
};

struct NodeView {
  const v1::NodeInventory* node = nullptr;
  std::vector<const v1::Card*> cards;  // that the request could get, by index
  v1::NodeRefusal refusal;             // `test` is set when it could get none
  size_t capacity() const { return cards.size(); }
};

NodeView Look(const v1::NodeInventory& node, const Taken& taken,
              const v1::PlacementRequest& request);

// `count` of the view's cards with their NICs: near each other first, then what leaves the fewest
// fragments.
v1::NodeAssignment Assign(const NodeView& view, size_t count, const Taken& taken,
                          const v1::PlacementRequest& request);

}  // namespace aistation::alloc
