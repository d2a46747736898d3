// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "dataset/listing.h"
#include "dataset/manifest.h"
#include "util/strings.h"

namespace aistation::dataset {
namespace {

void BM_FinishManifest100000Files(benchmark::State& state) {
  v1::DatasetManifest manifest;
  manifest.set_name("d");
  manifest.set_source("file:///d/");
  manifest.set_chunk_bytes(4u << 20);
  for (int i = 0; i < 100'000; ++i) {
    auto* file = manifest.add_files();
    file->set_path(util::StrCat("dir", i % 100, "/file", i));
    file->set_size_bytes(100'000);
  }
  for (auto _ : state) Finish(&manifest);
}
BENCHMARK(BM_FinishManifest100000Files)->Unit(benchmark::kMillisecond);

void BM_ParseJsonListing1000(benchmark::State& state) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) {
    util::StrAppend(&text, i == 0 ? "" : ",", "{\"name\":\"f", i,
                    "\",\"type\":\"file\",\"mtime\":\"Tue, 01 Dec 2026 10:00:00 GMT\",\"size\":", i,
                    "}");
  }
  text += "]";
  for (auto _ : state) benchmark::DoNotOptimize(ParseJsonListing(text, "bench"));
}
BENCHMARK(BM_ParseJsonListing1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace aistation::dataset
