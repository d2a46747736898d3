// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "monitor/registry.h"
#include "util/strings.h"

namespace aistation::monitor {
namespace {

void BM_CounterAdd(benchmark::State& state) {
  static auto* registry = new Registry;  // shared by the threads of the benchmark
  const Labels labels = {{"node", util::StrCat("n", state.thread_index())}};
  for (auto _ : state) benchmark::DoNotOptimize(registry->CounterAdd("x_total", "X.", labels, 1));
}
BENCHMARK(BM_CounterAdd)->Threads(1)->Threads(2);

void BM_Prometheus10000Series(benchmark::State& state) {
  Registry registry;
  for (int i = 0; i < 10'000; ++i) (void)registry.GaugeSet("g", "G.", {{"i", util::StrCat(i)}}, i);
  for (auto _ : state) benchmark::DoNotOptimize(registry.Prometheus());
}
BENCHMARK(BM_Prometheus10000Series)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace aistation::monitor
