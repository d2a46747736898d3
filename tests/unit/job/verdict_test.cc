// SPDX-License-Identifier: Apache-2.0
// Patterns, rules, verdicts, and what follows from them.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "job/classifier.h"
#include "job/log_follower.h"
#include "job/pattern.h"
#include "job/policy.h"
#include "job/rules.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

TEST(Pattern, FindsAndCaptures) {
  const auto pattern = Pattern::Compile("Xid (PCI:{pci}): {n},*bus");
  ASSERT_OK(pattern);
  const auto found =
      pattern->Find("[1.5] NVRM: Xid (PCI:0000:3B:00): 79, pid=1, fallen off the bus.");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pci, "0000:3B:00");
  EXPECT_EQ(found->number, 79);
  EXPECT_FALSE(pattern->Find("Xid (PCI:zz): 79, bus").has_value());
  EXPECT_FALSE(pattern->Find("Xid (PCI:0000:3b:00): 79, bu").has_value());
  const auto gpu = Pattern::Compile("GPU {pci}: {word} off");
  EXPECT_EQ(gpu->Find("GPU 0000:3b:00.0: fell off")->word, "fell");
  EXPECT_EQ(NormalPci("00000000:3B:00.0"), "0000:3b:00");
  EXPECT_EQ(NormalPci("3b:00"), "0000:3b:00");
  EXPECT_EQ(NormalPci("x"), "");
  for (const char* bad : {"", "{pci", "{pxi}"}) EXPECT_FALSE(Pattern::Compile(bad).ok()) << bad;
  // Linear: thousands of starts, each of them short.
  EXPECT_FALSE(Pattern::Compile("a*b*c*d*e*f{n}")->Find(std::string(4096, 'a')).has_value());
}

TEST(Rules, TheBuiltInOnesAndRefusals) {
  const auto rules = RuleSet::Load("");
  ASSERT_OK(rules);
  EXPECT_GT((*rules)->rules().size(), 40u);
  const auto refuse = [](std::string_view text, const char* part) {
    const auto result = RuleSet::Parse(text, "my.jsonc");
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("my.jsonc"));
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr(part));
  };
  const std::string rule =
      R"("id":"a","sources":["output"],"patterns":["x"],"class":"node","job_action":"stop","node_action":"none","sentence":"s")";
  EXPECT_OK(RuleSet::Parse("{\"rules\":[{" + rule + "}]}", "x"));
  refuse("{\"rules\":[{" + rule + "},{" + rule + "}]}", "rules[1]");
  refuse("{\"rules\":[]}", "at least one");
  refuse(R"({"rules":[{"class":"nonsense"}]})", "rules[0].class");
  refuse(R"({"rules":[{"patterns":["{x}"]}]})", "rules[0].patterns[0]");
  refuse(R"({"rules":[{"weight":101}]})", "rules[0].weight");
  refuse(R"({"rules":[{"sources":[]}]})", "rules[0].sources");
  refuse(R"({"rules":[{"wat":1}]})", "wat");
  EXPECT_FALSE(RuleSet::Load("/does/not/exist").ok());
}

class Verdicts : public ::testing::Test {
 protected:
  Verdicts() {
    (*request_.mutable_pci_card())["n1/0000:3b:00.0"] = "card-a";
    (*request_.mutable_pci_card())["n2/0000:3b:00.0"] = "card-b";
    (*request_.mutable_rank_node())[0] = "n1";
    (*request_.mutable_rank_node())[1] = "n2";
    (*request_.mutable_rank_card())[0] = "card-a";
    (*request_.mutable_rank_card())[1] = "card-b";
  }
  void Line(const std::string& source, const std::string& node, const std::string& text,
            int32_t rank = -1, int64_t at = 1) {
    auto* line = request_.add_lines();
    line->set_source(source);
    line->set_node(node);
    line->set_rank(rank);
    line->set_text(text);
    line->set_unix_ns(at);
  }
  v1::Verdict Classified() { return Classify(*rules_, request_); }
  const std::shared_ptr<const RuleSet> rules_ = *RuleSet::Load("");
  v1::ClassifyRequest request_;
};

TEST_F(Verdicts, TheKernelLogBeatsWhatProcessesSay) {
  Line("output", "n1", "ncclRemoteError: Connection closed by remote peer", 0);
  Line("kernel_log", "n2", "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.");
  (*request_.mutable_exit_status())[0] = 1;
  (*request_.mutable_exit_status())[1] = 137;
  const auto verdict = Classified();
  EXPECT_EQ(verdict.rule(), "nv-off-bus");
  EXPECT_EQ(verdict.fault_class(), "accelerator");
  EXPECT_EQ(verdict.node(), "n2");
  EXPECT_EQ(verdict.card_id(), "card-b");
  EXPECT_THAT(verdict.sentence(), ::testing::HasSubstr("card-b of n2"));
  EXPECT_THAT(verdict.evidence(0).line(), ::testing::HasSubstr("79"));
  EXPECT_GT(verdict.evidence_size(), 2);
}

TEST_F(Verdicts, CardsOfOtherJobsSayNothing) {
  Line("kernel_log", "n1", "NVRM: Xid (PCI:0000:99:00): 79, GPU has fallen off the bus.");
  (*request_.mutable_exit_status())[0] = 1;
  EXPECT_EQ(Classified().rule(), "exit");
  v1::LogLine line = request_.lines(0);
  EXPECT_FALSE(EndsAttempt(*rules_, line, request_));
  line.set_text("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.");
  EXPECT_TRUE(EndsAttempt(*rules_, line, request_));
  line.set_text("NVRM: Xid (PCI:0000:3b:00): 63, Row remapper");
  EXPECT_FALSE(EndsAttempt(*rules_, line, request_)) << "work goes on";
}

TEST_F(Verdicts, SecondaryLinesNeverDecideAlone) {
  Line("output", "n1", "Watchdog caught collective operation timeout", 0);
  (*request_.mutable_exit_status())[0] = 137;
  const auto verdict = Classified();
  EXPECT_EQ(verdict.fault_class(), "unknown");
  EXPECT_EQ(verdict.job_action(), "restart");
  EXPECT_EQ(verdict.node_action(), "none");
  EXPECT_THAT(verdict.sentence(), ::testing::HasSubstr("not known"));
}

TEST_F(Verdicts, OfEqualOnesTheEarliest) {
  Line("kernel_log", "n2", "NVRM: Xid (PCI:0000:3b:00): 48, DBE", -1, 20);
  Line("kernel_log", "n1", "NVRM: Xid (PCI:0000:3b:00): 95, uncontained", -1, 10);
  EXPECT_EQ(Classified().node(), "n1");
}

TEST_F(Verdicts, UsersErrors) {
  Line("output", "n1", "ModuleNotFoundError: No module named 'x'", 0);
  (*request_.mutable_exit_status())[0] = 1;
  EXPECT_EQ(Classified().job_action(), "stop");
  EXPECT_EQ(Classified().fault_class(), "user_code");
  request_.clear_lines();
  (*request_.mutable_exit_status())[0] = 139;
  EXPECT_EQ(Classified().rule(), "crash");
  (*request_.mutable_exit_status())[0] = 127;
  EXPECT_EQ(Classified().rule(), "cannot-run");
  request_.clear_exit_status();
  EXPECT_EQ(Classified().rule(), "");
}

TEST(Policy, RetriesWhatMayHelp) {
  v1::Job job;
  job.set_id("j");
  job.mutable_spec()->set_backoff_ns(1'000'000'000);
  EXPECT_TRUE(DecideNext(job).retry);
  const auto fail = [&job](const std::string& rule, const std::string& action,
                           const std::string& node_action, const std::string& node,
                           const std::string& card) {
    auto* attempt = job.add_attempts();
    attempt->set_number(static_cast<uint32_t>(job.attempts_size()));
    auto* verdict = attempt->mutable_verdict();
    verdict->set_rule(rule);
    verdict->set_job_action(action);
    verdict->set_node_action(node_action);
    verdict->set_node(node);
    verdict->set_card_id(card);
    verdict->set_confidence(0.9);
  };
  fail("x", "restart_excluding", "exclude_card", "n1", "c1");
  EXPECT_TRUE(DecideNext(job).retry);
  EXPECT_EQ(DecideNext(job).delay_ns, 1'000'000'000);
  EXPECT_EQ(ExclusionsOf(job).cards, std::vector<std::string>{"c1"});
  EXPECT_TRUE(ExclusionsOf(job).nodes.empty());
  EXPECT_TRUE(ShouldCordon(job.attempts(0).verdict()));
  fail("y", "wait", "none", "n2", "");
  EXPECT_EQ(DecideNext(job).delay_ns, 8'000'000'000) << "doubled, and four times for waiting";
  EXPECT_TRUE(ExclusionsOf(job).nodes.empty());
  job.mutable_attempts(1)->add_unproven_nodes("n9");
  EXPECT_EQ(ExclusionsOf(job).nodes, std::vector<std::string>{"n9"});
  fail("z", "restart_excluding", "exclude_node", "n3", "c9");
  EXPECT_FALSE(DecideNext(job).retry) << "three attempts";
  job.mutable_spec()->set_max_attempts(10);
  EXPECT_TRUE(DecideNext(job).retry);
  const auto request = RequestFor(job);
  EXPECT_EQ(request.request_id(), "j/4");
  EXPECT_THAT(request.exclude_nodes(), ::testing::ElementsAre("n3", "n9"));
  EXPECT_THAT(request.exclude_cards(), ::testing::ElementsAre("c1"));
  fail("once", "restart_once", "none", "", "");
  EXPECT_TRUE(DecideNext(job).retry);
  fail("once", "restart_once", "none", "", "");
  EXPECT_FALSE(DecideNext(job).retry) << "the same twice";
  fail("s", "stop", "none", "", "");
  EXPECT_FALSE(DecideNext(job).retry);
  job.mutable_attempts(5)->mutable_verdict()->set_confidence(0.5);
  EXPECT_FALSE(ShouldCordon(job.attempts(5).verdict()));
}

TEST(Policy, ProbeFindingsNameTheCulprit) {
  v1::Placement placement;
  v1::ProbeMatrix matrix;
  for (int n = 0; n < 3; ++n) {
    auto* node = placement.add_nodes();
    node->set_node(util::StrCat("n", n));
    for (int c = 0; c < 2; ++c) {
      auto* card = node->add_cards();
      card->set_card_id(util::StrCat("c", n, c));
      card->set_nic_id(util::StrCat("nic", c));
      card->set_nic_address(util::StrCat("10.0.", n, ".", c));
    }
  }
  const auto request = ProbeFor(placement);
  ASSERT_EQ(request.endpoints_size(), 6);
  *matrix.mutable_endpoints() = request.endpoints();
  const auto fill = [&](auto bad) {
    matrix.clear_results();
    for (uint32_t a = 0; a < 6; ++a) {
      for (uint32_t b = 0; b < 6; ++b) {
        if (a == b) continue;
        auto* result = matrix.add_results();
        result->set_from(a);
        result->set_to(b);
        result->set_ok(!bad(a, b));
      }
    }
  };
  std::string card;
  fill([](uint32_t a, uint32_t b) { return a == 3 || b == 3; });
  EXPECT_EQ(ProbeFinding(matrix, placement, &card).node(), "n1");
  EXPECT_EQ(card, "c11") << "one NIC of the node";
  fill([](uint32_t a, uint32_t b) { return a / 2 == 2 || b / 2 == 2; });
  EXPECT_EQ(ProbeFinding(matrix, placement, &card).node(), "n2");
  EXPECT_EQ(card, "") << "the whole node";
}

TEST(Policy, SpecificationsAreChecked) {
  v1::JobSpec spec;
  spec.set_name("a");
  spec.set_department("d");
  spec.add_command("x");
  spec.mutable_resources()->set_cards(1);
  EXPECT_OK(CheckSpec(spec));
  spec.set_dataset("http://x/");
  EXPECT_REASON(CheckSpec(spec), "job.spec", "dataset_name");
  spec.set_dataset_name("d");
  spec.set_checkpoint_directory("relative");
  EXPECT_REASON(CheckSpec(spec), "job.spec", "absolute");
  spec.clear_checkpoint_directory();
  (*spec.mutable_environment())["A=B"] = "x";
  EXPECT_REASON(CheckSpec(spec), "job.spec", "environment");
}

TEST(LogFollower, GrowthRotationTruncation) {
  const testing::TempDir dir;
  const std::string path = dir / "log";
  std::vector<std::string> lines;
  const auto append = [&](const std::string& text) {
    const auto fd = util::OpenFile(path, O_WRONLY | O_CREAT | O_APPEND);
    ASSERT_EQ(write(fd->get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  append("before\n");
  LogFollower follower(path);
  const auto poll = [&] {
    lines.clear();
    follower.Poll([&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  };
  EXPECT_TRUE(poll().empty()) << "what was there before does not count";
  append("one\ntw");
  EXPECT_THAT(poll(), ::testing::ElementsAre("one"));
  append("o\n");
  EXPECT_THAT(poll(), ::testing::ElementsAre("two"));
  append("last of the old\n");
  ASSERT_EQ(rename(path.c_str(), (path + ".1").c_str()), 0);
  append("first of the new\n");
  EXPECT_THAT(poll(), ::testing::ElementsAre("last of the old", "first of the new"));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  append("x\n");
  EXPECT_THAT(poll(), ::testing::ElementsAre("x"));
  append(std::string(10'000, 'a') + "\n");
  EXPECT_EQ(poll()[0].size(), kMaxLogLine);
  LogFollower late(dir / "later");
  dir.Write("later", "all of it\n");
  lines.clear();
  late.Poll([&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_THAT(lines, ::testing::ElementsAre("all of it"));
  EXPECT_EQ(KmsgMessage("6,1234,5678,-;NVRM: x\n SUBSYSTEM=pci"), "NVRM: x");
  EXPECT_EQ(KmsgMessage("plain; text"), "plain; text");
}

// Excerpts of real failures with their labels, where they are at hand.
TEST(Conformance, LabelledFaults) {
  const char* named = getenv("AISTATION_SHARED");
  const std::string base =
      util::JoinPath(named != nullptr ? named : AIST_SOURCE_DIR "/../shared", "data/faults");
  if (!util::Exists(base + "/labels.tsv")) GTEST_SKIP() << "no labelled faults at " << base;
  const auto rules = *RuleSet::Load("");
  const std::string labels = *util::ReadFile(base + "/labels.tsv");
  int all = 0;
  int right = 0;
  int accelerator = 0;
  int accelerator_right = 0;
  for (const auto row : util::Split(labels, '\n')) {
    const auto columns = util::Split(row, '\t');
    if (columns.size() < 5 || columns[0] == "file") continue;
    const auto text = util::ReadFile(util::StrCat(base, "/", columns[0]));
    if (!text.ok()) continue;
    v1::ClassifyRequest request;
    for (const auto line : util::Split(*text, '\n')) {
      for (const char* source : {"kernel_log", "output"}) {
        auto* l = request.add_lines();
        l->set_source(source);
        l->set_node("n");
        l->set_text(std::string(line));
      }
    }
    const v1::Verdict verdict = Classify(*rules, request);
    const bool fits = verdict.fault_class() == columns[1];
    ++all;
    right += fits ? 1 : 0;
    if (columns[1] == "accelerator") {
      ++accelerator;
      accelerator_right += fits ? 1 : 0;
    }
  }
  std::printf("class as labelled: %d of %d, accelerator faults: %d of %d\n", right, all,
              accelerator_right, accelerator);
  // A floor, so that a change of rules that loses ground is seen.
  EXPECT_GE(right * 2, all);
  EXPECT_GE(accelerator_right * 10, accelerator * 6);
}

}  // namespace
}  // namespace aistation::job
