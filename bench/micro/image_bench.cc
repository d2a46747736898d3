// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "image/manifest.h"
#include "image/reference.h"
#include "util/strings.h"

namespace aistation::image {
namespace {

void BM_ParseManifest40Layers(benchmark::State& state) {
  const std::string descriptor =
      R"({"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:)" +
      std::string(64, 'a') + R"(","size":123456})";
  std::string text = R"({"schemaVersion":2,"config":)" + descriptor + ",\"layers\":[";
  for (int i = 0; i < 40; ++i) util::StrAppend(&text, i == 0 ? "" : ",", descriptor);
  text += "]}";
  for (auto _ : state) benchmark::DoNotOptimize(ParseManifest(text, "bench"));
}
BENCHMARK(BM_ParseManifest40Layers)->Unit(benchmark::kMicrosecond);

void BM_ParseReference(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(ParseReference("registry.bank.example:5000/team/train:2026-12-01"));
}
BENCHMARK(BM_ParseReference);

}  // namespace
}  // namespace aistation::image
