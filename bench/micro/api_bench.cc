// SPDX-License-Identifier: Apache-2.0
// What a call through the C interface costs beyond the work.
#include <aistation/aistation.h>
#include <benchmark/benchmark.h>

namespace {

void BM_StoreGet(benchmark::State& state) {
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_context_create(nullptr, &context, nullptr);
  aist_store_open(context, nullptr, &store, nullptr);
  aist_store_put(store, "k", 1, "v", 1, 0, nullptr, nullptr);
  for (auto _ : state) {
    aist_bytes* value = nullptr;
    aist_store_get(store, "k", 1, &value, nullptr, nullptr);
    aist_bytes_free(value);
  }
  aist_store_free(store);
  aist_context_free(context);
}
BENCHMARK(BM_StoreGet);

void BM_ErrorPath(benchmark::State& state) {
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_context_create(nullptr, &context, nullptr);
  aist_store_open(context, nullptr, &store, nullptr);
  for (auto _ : state) {
    aist_error* error = nullptr;
    aist_store_get(store, "none", 4, nullptr, nullptr, &error);
    aist_error_free(error);
  }
  aist_store_free(store);
  aist_context_free(context);
}
BENCHMARK(BM_ErrorPath);

}  // namespace
