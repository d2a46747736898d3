// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "transfer/chunk_store.h"
#include "transfer/plan.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

// A plan of 64 GiB in chunks of 4 MiB.
void BM_PlanFetchOrder(benchmark::State& state) {
  std::vector<v1::Member> members(static_cast<size_t>(state.range(0)));
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].set_node(util::StrCat("n", i));
    members[i].set_rack(util::StrCat("r", i / 16));
  }
  for (auto _ : state) {
    const Plan plan("sha256:x", 16'384, members);
    benchmark::DoNotOptimize(plan.FetchOrder(0));
  }
}
BENCHMARK(BM_PlanFetchOrder)->Arg(8)->Arg(128)->Unit(benchmark::kMillisecond);

// Write, journal, verify and commit an object of 64 MiB; beside it the hashing alone, which is the
// bound.
void BM_StoreObject(benchmark::State& state) {
  std::string directory = "/tmp/aist-bench.XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) abort();
  {
    const auto store = *ChunkStore::Open(directory);
    const std::string chunk(4u << 20, 'x');
    const std::string sha = security::Sha256(chunk);
    for (auto _ : state) {
      const std::string id = "dataset:" + std::string(64, 'a');
      (void)store->Begin(id, 16u * chunk.size(), chunk.size());
      for (uint64_t i = 0; i < 16; ++i) (void)store->WriteChunk(id, i, chunk, sha);
      util::OpControl control;
      if (!store->Commit(id, "", control).ok()) state.SkipWithError("commit failed");
      (void)store->Remove(id);
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * 16 * chunk.size()));
  }
  (void)util::RemoveTree(directory);
}
BENCHMARK(BM_StoreObject)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_HashOnly64MiB(benchmark::State& state) {
  const std::string bytes(64u << 20, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(security::Sha256(bytes));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_HashOnly64MiB)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace aistation::transfer
