// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "job/classifier.h"

namespace aistation::job {
namespace {

void BM_MatchOneKernelLine(benchmark::State& state) {
  const auto rules = *RuleSet::Load("");
  const std::string line =
      state.range(0) != 0 ? "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."
                          : "usb 1-1: new high-speed USB device number 4 using xhci_hcd";
  for (auto _ : state) benchmark::DoNotOptimize(rules->Match("kernel_log", line));
}
BENCHMARK(BM_MatchOneKernelLine)->Arg(0)->Arg(1);

void BM_Classify16Ranks(benchmark::State& state) {
  const auto rules = *RuleSet::Load("");
  v1::ClassifyRequest request;
  for (uint32_t rank = 0; rank < 16; ++rank) {
    (*request.mutable_exit_status())[rank] = rank == 3 ? 137 : 1;
    for (int i = 0; i < 40; ++i) {
      auto* line = request.add_lines();
      line->set_source("output");
      line->set_rank(static_cast<int32_t>(rank));
      line->set_text("step 1234 loss 0.123456 throughput 345.6 samples/s");
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(Classify(*rules, request));
}
BENCHMARK(BM_Classify16Ranks)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace aistation::job
