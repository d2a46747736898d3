// SPDX-License-Identifier: Apache-2.0
// Inventories and ledgers against the planner.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "alloc/allocator.h"
#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto state = wire::FromJson<v1::AllocationState>(text, "input");
  if (!state.ok() || !alloc::CheckInventory(state->inventory()).ok()) return 0;
  v1::PlacementRequest request;
  request.set_cards(3);
  request.set_need_nics(size % 2 == 0);
  const v1::Placement placement = alloc::Plan(*state, request);
  size_t cards = 0;
  for (const auto& node : placement.nodes()) cards += static_cast<size_t>(node.cards_size());
  if (placement.has_refusal() ? cards != 0 : cards != 3) std::abort();
  return 0;
}
