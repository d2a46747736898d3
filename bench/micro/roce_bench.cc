// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "roce/nics.h"
#include "util/strings.h"

namespace aistation::roce {
namespace {

void BM_ChooseNics8Cards8Nics(benchmark::State& state) {
  v1::NodeInventory node;
  for (int c = 0; c < 8; ++c) {
    node.add_cards()->set_id(util::StrCat("c", c));
    auto* nic = node.add_nics();
    nic->set_id(util::StrCat("mlx5_", c));
    nic->set_state("ACTIVE");
    nic->set_port(1);
    for (int n = 0; n < 8; ++n) {
      auto* distance = node.add_distances();
      distance->set_a(util::StrCat("c", c));
      distance->set_b(util::StrCat("mlx5_", n));
      distance->set_link(c == n ? v1::LINK_CLASS_PIX : v1::LINK_CLASS_SYS);
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(ChooseNics(node));
}
BENCHMARK(BM_ChooseNics8Cards8Nics)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace aistation::roce
