// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>

#include "util/op.h"
#include "util/strings.h"

namespace aistation::util {
namespace {

void BM_StrCat(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(StrCat("node", 17, "/card-", uint64_t{123456}));
}
BENCHMARK(BM_StrCat);

void BM_StdStringPlus(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize("node" + std::to_string(17) + "/card-" +
                             std::to_string(uint64_t{123456}));
  }
}
BENCHMARK(BM_StdStringPlus);

void BM_HexEncode(benchmark::State& state) {
  const std::string bytes(32, '\x5a');
  for (auto _ : state) benchmark::DoNotOptimize(HexEncode(bytes));
}
BENCHMARK(BM_HexEncode);

void BM_OpStartAndWait(benchmark::State& state) {
  Executor executor;
  for (auto _ : state) {
    auto op = Op::Start(executor, 0, [](OpControl&) -> absl::StatusOr<OpResult> {
      return [](bool) { return std::string(); };
    });
    (*op)->Wait(-1);
  }
}
BENCHMARK(BM_OpStartAndWait)->UseRealTime();

}  // namespace
}  // namespace aistation::util
