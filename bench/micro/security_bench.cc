// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "security/digest.h"

namespace aistation::security {
namespace {

void BM_Sha256(benchmark::State& state) {
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Sha256(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Sha256)->Arg(64)->Arg(4 << 10)->Arg(4 << 20);

}  // namespace
}  // namespace aistation::security
