// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "topology/topology.h"
#include "util/strings.h"

namespace aistation::topology {
namespace {

std::string Machine() {
  std::string out = "<system version=\"1\">";
  for (int cpu = 0; cpu < 2; ++cpu) {
    util::StrAppend(&out, "<cpu numaid=\"", cpu, "\">");
    for (int i = 0; i < 4; ++i) {
      util::StrAppend(&out, "<pci busid=\"0000:", cpu, i,
                      ":00.0\" class=\"0x060400\"><pci busid=\"0000:", cpu, i,
                      ":01.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\"><gpu dev=\"",
                      cpu * 4 + i, "\"/></pci><pci busid=\"0000:", cpu, i,
                      ":02.0\" class=\"0x020000\"><nic><net name=\"mlx5_", cpu * 4 + i,
                      "\" dev=\"0\" speed=\"400000\"/></nic></pci></pci>");
    }
    out += "</cpu>";
  }
  return out + "</system>";
}

void BM_ParseNcclXml(benchmark::State& state) {
  const std::string text = Machine();
  for (auto _ : state) benchmark::DoNotOptimize(ParseNcclXml(text, "bench"));
}
BENCHMARK(BM_ParseNcclXml);

void BM_Distance(benchmark::State& state) {
  const Topology topology(*ParseNcclXml(Machine(), "bench"));
  for (auto _ : state) benchmark::DoNotOptimize(topology.Distance("0000:00:01.0", "mlx5_7"));
}
BENCHMARK(BM_Distance);

}  // namespace
}  // namespace aistation::topology
