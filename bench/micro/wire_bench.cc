// SPDX-License-Identifier: Apache-2.0
// Documents of 1,000 nodes with 8 cards: our strict JSON beside nlohmann's parser alone.
#include <benchmark/benchmark.h>

#include "aistation/v1/inventory.pb.h"
#include "wire/json_reader.h"
#include "wire/wire.h"

namespace aistation::wire {
namespace {

v1::Inventory Centre() {
  v1::Inventory out;
  for (int n = 0; n < 1000; ++n) {
    auto* node = out.add_nodes();
    node->set_name(util::StrCat("node", n));
    for (int c = 0; c < 8; ++c) {
      auto* card = node->add_cards();
      card->set_id(util::StrCat("GPU-", n, "-", c));
      card->set_memory_bytes(uint64_t{80} << 30);
      card->set_health(v1::HEALTH_OK);
    }
  }
  return out;
}

void BM_ToJson(benchmark::State& state) {
  const auto inventory = Centre();
  for (auto _ : state) benchmark::DoNotOptimize(ToJson(inventory));
}
BENCHMARK(BM_ToJson)->Unit(benchmark::kMillisecond);

void BM_FromJson(benchmark::State& state) {
  const std::string text = ToJson(Centre());
  for (auto _ : state) benchmark::DoNotOptimize(FromJson<v1::Inventory>(text, "bench"));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_FromJson)->Unit(benchmark::kMillisecond);

void BM_NlohmannParseOnly(benchmark::State& state) {
  const std::string text = ToJson(Centre());
  for (auto _ : state) benchmark::DoNotOptimize(Json::parse(text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_NlohmannParseOnly)->Unit(benchmark::kMillisecond);

void BM_ProtobufParse(benchmark::State& state) {
  const std::string bytes = Serialize(Centre());
  for (auto _ : state)
    benchmark::DoNotOptimize(Parse<v1::Inventory>(Format::kProtobuf, bytes, "bench"));
}
BENCHMARK(BM_ProtobufParse)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace aistation::wire
