// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "report/report.h"
#include "util/strings.h"

namespace aistation::report {
namespace {

void BM_Html100Jobs(benchmark::State& state) {
  v1::Report report;
  report.set_to_unix_ns(2'000'000'000'000);
  for (int j = 0; j < 100; ++j) {
    auto* job = report.add_jobs();
    job->set_id(util::StrCat("job", j));
    job->set_submitted_unix_ns(j * 1'000'000'000ll);
    auto* attempt = job->add_attempts();
    attempt->set_started_unix_ns(j * 1'000'000'000ll + 1);
    attempt->set_ended_unix_ns(j * 1'000'000'000ll + 500'000'000);
  }
  AddUse(&report);
  for (auto _ : state) benchmark::DoNotOptimize(ToHtml(report, "bench"));
}
BENCHMARK(BM_Html100Jobs)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace aistation::report
