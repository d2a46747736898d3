// SPDX-License-Identifier: Apache-2.0
#include "monitor/registry.h"

#include <thread>

#include "monitor/labels.h"
#include "unit/testing/matchers.h"
#include "util/strings.h"

namespace aistation::monitor {
namespace {

TEST(Registry, WritesPrometheusText) {
  Registry registry;
  ASSERT_OK(registry.CounterAdd("jobs_total", "Jobs.", {{"state", "ok"}}, 1));
  ASSERT_OK(registry.CounterAdd("jobs_total", "", {{"state", "ok"}}, 2));
  ASSERT_OK(registry.CounterAdd("jobs_total", "", {{"state", "b\"\\\n"}}, 0.5));
  ASSERT_OK(registry.GaugeSet("level", "A level.", {}, -1.25));
  EXPECT_EQ(registry.Prometheus(),
            "# HELP jobs_total Jobs.\n# TYPE jobs_total counter\n"
            "jobs_total{state=\"b\\\"\\\\\\n\"} 0.5\njobs_total{state=\"ok\"} 3\n"
            "# HELP level A level.\n# TYPE level gauge\nlevel -1.25\n");
}

TEST(Registry, RefusesWhatPrometheusWould) {
  Registry registry;
  EXPECT_FALSE(registry.CounterAdd("1bad", "", {}, 1).ok());
  EXPECT_FALSE(registry.CounterAdd("a_total", "", {{"bad-label", "x"}}, 1).ok());
  EXPECT_FALSE(registry.CounterAdd("a_total", "", {}, -1).ok());
  ASSERT_OK(registry.CounterAdd("a_total", "", {}, 1));
  EXPECT_EQ(registry.GaugeSet("a_total", "", {}, 1).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Registry, SeriesAreBounded) {
  Registry registry;
  absl::Status status;
  int made = 0;
  for (; made < 20'000 && status.ok(); ++made) {
    status = registry.GaugeSet("g", "", {{"i", util::StrCat(made)}}, 1);
  }
  EXPECT_EQ(made, 10'001);
  EXPECT_REASON(status, "monitor.too_many_series", "");
  EXPECT_OK(registry.GaugeSet("g", "", {{"i", "5"}}, 2)) << "what is there can still change";
}

TEST(Registry, CountsAreExactWithManyThreads) {
  Registry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) EXPECT_OK(registry.CounterAdd("n_total", "", {}, 1));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(registry.Prometheus(), ::testing::HasSubstr("n_total 4000\n"));
}

TEST(Subscription, GetsEventsInOrderAndDropsTheOldest) {
  Registry registry;
  const auto events = registry.Subscribe();
  for (int i = 0; i < 2000; ++i) {
    Event event;
    event.message = util::StrCat(i);
    registry.Emit(event);
  }
  const auto first = events->Next(0);
  ASSERT_OK(first);
  EXPECT_EQ(first->message, "976");
  EXPECT_EQ(first->seq, 977u);
  for (int i = 977; i < 2000; ++i) EXPECT_EQ(events->Next(0)->message, util::StrCat(i));
  EXPECT_REASON(events->Next(1'000'000), "monitor.no_event", "");
}

TEST(Labels, Parse) {
  EXPECT_EQ(*ParseLabels(""), Labels());
  EXPECT_EQ(*ParseLabels(R"(a="b", c="d\"\\\ne")"), (Labels{{"a", "b"}, {"c", "d\"\\\ne"}}));
  for (const char* bad : {"a", "a=b", "a=\"b", "a=\"b\"c=\"d\"", "a=\"\\x\""}) {
    EXPECT_REASON(ParseLabels(bad), "monitor.labels", "byte");
  }
}

}  // namespace
}  // namespace aistation::monitor
