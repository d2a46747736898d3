// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "accel/catalogue.h"

namespace aistation::accel {
namespace {

void BM_LoadCatalogue(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Catalogue::Load(""));
}
BENCHMARK(BM_LoadCatalogue)->Unit(benchmark::kMicrosecond);

void BM_FindByPciId(benchmark::State& state) {
  const auto catalogue = *Catalogue::Load("");
  for (auto _ : state) benchmark::DoNotOptimize(catalogue->FindByPciId("10de:2330"));
}
BENCHMARK(BM_FindByPciId);

}  // namespace
}  // namespace aistation::accel
