// SPDX-License-Identifier: Apache-2.0
// A decision over centres of several sizes, half of the cards held.
#include <benchmark/benchmark.h>

#include "alloc/allocator.h"
#include "util/strings.h"

namespace aistation::alloc {
namespace {

void BM_Plan64Cards(benchmark::State& state) {
  v1::AllocationState centre;
  for (int64_t n = 0; n < state.range(0); ++n) {
    auto* node = centre.mutable_inventory()->add_nodes();
    node->set_name(util::StrCat("n", n));
    node->set_rack(util::StrCat("r", n / 16));
    for (int c = 0; c < 8; ++c) {
      auto* card = node->add_cards();
      card->set_id(util::StrCat(n, "-", c));
      card->set_numa_node(c / 4);
    }
    if (n % 2 == 0) continue;
    auto* held = centre.add_grants()->mutable_placement()->add_nodes();
    held->set_node(node->name());
    for (int c = 0; c < 8; ++c) held->add_cards()->set_card_id(util::StrCat(n, "-", c));
  }
  v1::PlacementRequest request;
  request.set_cards(64);
  for (auto _ : state) {
    if (Plan(centre, request).has_refusal()) state.SkipWithError("it should fit");
  }
}
BENCHMARK(BM_Plan64Cards)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace aistation::alloc
