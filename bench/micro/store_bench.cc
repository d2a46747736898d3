// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include "store/audit.h"
#include "store/store.h"
#include "util/file.h"
#include "util/strings.h"

namespace aistation::store {
namespace {

// range(0): 0 memory, 1 SQLite
struct Subject {
  explicit Subject(bool sqlite) {
    if (!sqlite) {
      store = MakeMemoryStore();
      return;
    }
    if (mkdtemp(directory.data()) == nullptr) abort();
    store = *OpenSqliteStore(directory + "/s.db");
  }
  ~Subject() {
    store.reset();
    (void)util::RemoveTree(directory);
  }
  std::string directory = "/tmp/aist-bench.XXXXXX";
  std::shared_ptr<Store> store;
};

void BM_PutDurable(benchmark::State& state) {
  const Subject subject(state.range(0) != 0);
  uint64_t n = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(subject.store->Put(util::StrCat("k", n++ % 1000), "value"));
}
BENCHMARK(BM_PutDurable)->Arg(0)->Arg(1)->UseRealTime();

void BM_Get(benchmark::State& state) {
  const Subject subject(state.range(0) != 0);
  for (int i = 0; i < 1000; ++i) (void)subject.store->Put(util::StrCat("k", i), "value");
  uint64_t n = 0;
  for (auto _ : state) benchmark::DoNotOptimize(subject.store->Get(util::StrCat("k", n++ % 1000)));
}
BENCHMARK(BM_Get)->Arg(0)->Arg(1);

void BM_AuditAppend(benchmark::State& state) {
  const Subject subject(state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(AuditAppend(*subject.store, "a", "b", "c", "{}"));
}
BENCHMARK(BM_AuditAppend)->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace aistation::store
