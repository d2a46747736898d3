// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include "alloc/allocator.h"
#include "job/job_store.h"
#include "report/svg.h"
#include "topology/xml.h"
#include "unit/testing/matchers.h"
#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::report {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 1'700'000'000 * kSecond;

v1::Job Sample(const std::string& id, const std::string& department) {
  v1::Job job;
  job.set_id(id);
  job.mutable_spec()->set_name("a<b>&\"c'");
  job.mutable_spec()->set_department(department);
  job.set_state(v1::JOB_STATE_SUCCEEDED);
  job.set_submitted_unix_ns(kStart);
  job.set_ended_unix_ns(kStart + 100 * kSecond);
  for (int n = 0; n < 2; ++n) {
    auto* attempt = job.add_attempts();
    attempt->set_number(static_cast<uint32_t>(n) + 1);
    attempt->set_started_unix_ns(kStart + 40 * n * kSecond);
    attempt->set_running_unix_ns(kStart + (40 * n + 10) * kSecond);
    attempt->set_ended_unix_ns(kStart + (40 * n + 30) * kSecond);
    auto* node = attempt->mutable_placement()->add_nodes();
    node->set_node("n1");
    for (int c = 0; c < 4; ++c) node->add_cards()->set_card_id(util::StrCat("c", c));
    attempt->add_images()->mutable_stats()->set_bytes_source(1000);
    attempt->add_datasets()->mutable_stats()->set_bytes_peers(500);
    auto* probe = attempt->mutable_probe();
    for (int e = 0; e < 2; ++e) {
      probe->add_endpoints()->set_node(util::StrCat("n", e));
      auto* result = probe->add_results();
      result->set_from(static_cast<uint32_t>(e));
      result->set_to(static_cast<uint32_t>(1 - e));
      result->set_ok(e == 0);
      result->set_error("<script>alert(1)</script>");
    }
  }
  job.mutable_attempts(0)->mutable_verdict()->set_sentence("card <c1> fell & broke");
  job.mutable_attempts(0)->mutable_verdict()->add_evidence()->set_line("]]> \x01 \"line\"");
  return job;
}

class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    v1::Inventory inventory;
    auto* node = inventory.add_nodes();
    node->set_name("n1");
    for (int c = 0; c < 4; ++c) node->add_cards()->set_id(util::StrCat("c", c));
    const auto allocator = alloc::Allocator::Open(store_, &inventory);
    v1::PlacementRequest request;
    request.set_request_id("g");
    request.set_job("job-x");
    request.set_cards(2);
    ASSERT_OK((*allocator)->Allocate(request));
    for (const auto& [id, department] : {std::pair{"j1", "risk"}, {"j2", "ret,ail \"x\""}}) {
      job::StoredJob stored;
      stored.job = Sample(id, department);
      ASSERT_OK(job::WriteJob(*store_, &stored, "did something", util::RealClock()));
    }
  }
  std::shared_ptr<store::Store> store_ = store::MakeMemoryStore();
};

TEST_F(ReportTest, SumsUpByDepartment) {
  const auto report = Build(*store_, {});
  ASSERT_OK(report);
  EXPECT_EQ(report->jobs_size(), 2);
  EXPECT_EQ(report->events_size(), 2);
  ASSERT_EQ(report->departments_size(), 2);
  const auto& risk = report->departments(1);
  EXPECT_EQ(risk.department(), "risk");
  EXPECT_DOUBLE_EQ(risk.card_seconds(), 2 * 30 * 4);
  EXPECT_DOUBLE_EQ(risk.lost_card_seconds(), 30 * 4);
  EXPECT_EQ(risk.failed_attempts(), 1u);
  EXPECT_EQ(risk.bytes_source(), 2000u);
  EXPECT_EQ(risk.bytes_peers(), 1000u);
  EXPECT_EQ(report->card_job().at("n1/c0"), "job-x");
  EXPECT_EQ(report->inventory().nodes_size(), 1);
}

TEST_F(ReportTest, OnlyTheTimeAskedFor) {
  Options options;
  options.from_unix_ns = kStart + 20 * kSecond;
  options.to_unix_ns = kStart + 50 * kSecond;
  const auto report = Build(*store_, options);
  ASSERT_OK(report);
  EXPECT_DOUBLE_EQ(report->departments(1).card_seconds(), (10 + 10) * 4);
  options.job = "j1";
  EXPECT_EQ(Build(*store_, options)->jobs_size(), 1);
  options.job = "none";
  EXPECT_REASON(Build(*store_, options), "job.no_job", "none");
  options = Options();
  options.from_unix_ns = 5;
  options.to_unix_ns = 4;
  EXPECT_REASON(Build(*store_, options), "report.time", "");
  EXPECT_EQ(Build(*store::MakeMemoryStore(), {})->jobs_size(), 0)
      << "an empty store has an empty report";
}

TEST_F(ReportTest, CsvIsQuoted) {
  EXPECT_EQ(
      ToCsv(*Build(*store_, {})),
      "department,card_seconds,lost_card_seconds,jobs,failed_attempts,bytes_source,bytes_peers\r\n"
      "\"ret,ail \"\"x\"\"\",240.000,120.000,1,1,2000,1000\r\n"
      "risk,240.000,120.000,1,1,2000,1000\r\n");
}

TEST_F(ReportTest, ThePageIsWellFormedAndEscaped) {
  const auto report = Build(*store_, {});
  const std::string html = ToHtml(*report, "<title> & more");
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http://"), std::string::npos) << "nothing is loaded from elsewhere";
  EXPECT_EQ(html.find("https://"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_THAT(html, ::testing::HasSubstr("&lt;title&gt; &amp; more"));
  EXPECT_THAT(html, ::testing::HasSubstr("card &lt;c1&gt; fell &amp; broke"));
  // As XML: the bounded reader of topologies will do. Void elements and the doctype are HTML's own.
  std::string xml =
      util::ReplaceAll(util::ReplaceAll(html, "<!DOCTYPE html>\n", ""), "<br>", "<br/>");
  const size_t style = xml.find("<style>");
  xml.erase(style, xml.find("</style>") + 8 - style);
  const auto root = topology::ParseXml(util::ReplaceAll(xml, "&#39;", "'"), "page");
  ASSERT_OK(root);
  EXPECT_THAT(html, ::testing::HasSubstr("class=\"bad\""));
  for (const char* part : {"Timeline", "Cards by node", "Reachability", "Bytes by node"}) {
    EXPECT_THAT(html, ::testing::HasSubstr(part));
  }
}

TEST(Svg, Escape) {
  EXPECT_EQ(Escape("<a b=\"c\" d='e'>&\x02\xff"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp; \xef\xbf\xbd");
  EXPECT_EQ(ClockTime(0), "1970-01-01 00:00:00 UTC");
  EXPECT_EQ(ClockTime(kStart), "2023-11-14 22:13:20 UTC");
}

}  // namespace
}  // namespace aistation::report
