// SPDX-License-Identifier: Apache-2.0
// Jobs against nodes that a test plays.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <set>
#include <thread>

#include "job/manager.h"
#include "job/policy.h"
#include "store/audit.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

// What the nodes do is decided by the test: one script an attempt.
class PlayedCluster final : public Cluster, public Launcher {
 public:
  struct Script {
    int32_t exit_status = 0;  // of rank 0
    std::string kernel_log;   // on the node of rank 0
    bool never_ends = false;
    bool node_silent = false;  // the node of rank 0 does not answer once it runs
    absl::Status image;
    bool probe_fails = false;
  };
  std::map<uint32_t, Script> scripts;  // by attempt
  std::atomic<int> launched{0};
  std::atomic<int> killed{0};

  Launcher& launcher() override { return *this; }
  bool has_nodes() const override { return true; }

  absl::StatusOr<std::vector<v1::ImageResult>> StageImage(const v1::ImagePullRequest& request,
                                                          util::OpControl&) override {
    const util::MutexLock lock(mutex_);
    references.push_back(request.reference());
    AIST_RETURN_IF_ERROR(scripts[attempt_].image);
    v1::ImageResult result;
    result.set_digest("sha256:" + std::string(64, 'a'));
    return std::vector<v1::ImageResult>(static_cast<size_t>(request.members_size()), result);
  }
  absl::StatusOr<std::vector<v1::DatasetResult>> StageDataset(
      const v1::JobSpec&, const std::string&, const std::vector<v1::Member>& members,
      const std::string&, util::OpControl&) override {
    return std::vector<v1::DatasetResult>(members.size());
  }
  absl::StatusOr<v1::ProbeMatrix> Probe(const v1::ProbeRequest& request,
                                        util::OpControl&) override {
    const util::MutexLock lock(mutex_);
    ++attempt_;
    v1::ProbeMatrix matrix;
    *matrix.mutable_endpoints() = request.endpoints();
    matrix.set_all_ok(!scripts[attempt_].probe_fails);
    for (uint32_t a = 0; a < static_cast<uint32_t>(request.endpoints_size()); ++a) {
      for (uint32_t b = 0; b < static_cast<uint32_t>(request.endpoints_size()); ++b) {
        auto* result = matrix.add_results();
        result->set_from(a);
        result->set_to(b);
        result->set_ok(!scripts[attempt_].probe_fails || (a != 0 && b != 0));
      }
    }
    return matrix;
  }
  absl::StatusOr<v1::ProcessInfo> Launch(const v1::Member& node, const v1::LaunchRequest& request,
                                         util::OpControl&) override {
    const util::MutexLock lock(mutex_);
    attempt_ = request.attempt();
    ++launched;
    v1::ProcessInfo& info = processes_[{request.attempt(), request.rank()}];
    info.set_rank(request.rank());
    info.set_attempt(request.attempt());
    info.set_running(true);
    nodes_[{request.attempt(), request.rank()}] = node.node();
    environments[request.rank()] = {request.environment().begin(), request.environment().end()};
    return info;
  }
  absl::StatusOr<v1::WatchReply> Watch(const v1::Member& node, const v1::WatchRequest& request,
                                       util::OpControl& control) override {
    if (request.after_log_seq() == UINT64_MAX) return v1::WatchReply();
    (void)control.Sleep(5'000'000);
    const util::MutexLock lock(mutex_);
    const Script& script = scripts[request.attempt()];
    const bool first = nodes_[{request.attempt(), 0}] == node.node();
    if (script.node_silent && first) return util::Unavailable("net.connect", "no answer");
    v1::WatchReply reply;
    for (auto& [key, info] : processes_) {
      if (key.first != request.attempt() || nodes_[key] != node.node()) continue;
      if (!script.never_ends) {
        info.set_running(false);
        info.set_exit_status(key.second == 0 ? script.exit_status : 0);
      }
      *reply.add_processes() = info;
    }
    if (first && !script.kernel_log.empty()) {
      reply.set_log_seq(1);
      if (request.after_log_seq() == 0) {
        auto* line = reply.add_log();
        line->set_source("kernel_log");
        line->set_node(node.node());
        line->set_rank(-1);
        line->set_unix_ns(INT64_MAX / 2);
        line->set_text(script.kernel_log);
      }
    }
    return reply;
  }
  absl::StatusOr<v1::KillReply> Kill(const v1::Member& node, const v1::KillRequest& request,
                                     util::OpControl&) override {
    const util::MutexLock lock(mutex_);
    ++killed;
    if (scripts[attempt_].node_silent && nodes_[{attempt_, 0}] == node.node()) {
      return util::Unavailable("net.connect", "no answer");
    }
    (void)request;
    v1::KillReply reply;
    reply.set_all_dead(true);
    return reply;
  }
  std::map<uint32_t, std::map<std::string, std::string>> environments;
  std::vector<std::string> references;

 private:
  util::Mutex mutex_;
  uint32_t attempt_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, v1::ProcessInfo> processes_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> nodes_;
};

// Refuses all writes after a number of them: as a process that died there.
class DyingStore final : public store::Store {
 public:
  DyingStore(std::shared_ptr<store::Store> below, int writes)
      : below_(std::move(below)), left_(writes) {}
  absl::StatusOr<store::Entry> Get(std::string_view key) override { return below_->Get(key); }
  absl::StatusOr<store::RangeResult> Range(std::string_view prefix, uint32_t limit) override {
    return below_->Range(prefix, limit);
  }
  absl::StatusOr<int64_t> Txn(const std::vector<store::Condition>& c,
                              const std::vector<store::Write>& w) override {
    if (left_.fetch_sub(1) <= 0) return util::Unavailable("test.died", "the process died here");
    return below_->Txn(c, w);
  }
  absl::StatusOr<int64_t> GrantLease(int64_t ttl) override { return below_->GrantLease(ttl); }
  absl::Status KeepAlive(int64_t lease) override { return below_->KeepAlive(lease); }
  absl::Status RevokeLease(int64_t lease) override { return below_->RevokeLease(lease); }
  absl::StatusOr<std::unique_ptr<store::Watch>> WatchPrefix(std::string_view p,
                                                            int64_t r) override {
    return below_->WatchPrefix(p, r);
  }
  bool died() const { return left_.load() <= 0; }

 private:
  const std::shared_ptr<store::Store> below_;
  std::atomic<int> left_;
};

v1::Inventory Centre() {
  v1::Inventory out;
  for (int n = 0; n < 3; ++n) {
    auto* node = out.add_nodes();
    node->set_name(util::StrCat("n", n));
    node->set_address("10.0.0.1");
    for (int c = 0; c < 2; ++c) {
      auto* card = node->add_cards();
      card->set_id(util::StrCat("n", n, "-c", c));
      card->set_index(static_cast<uint32_t>(c));
      card->set_model("H100 SXM5 80GB");
      card->set_pci_address(util::StrCat("0000:3", c, ":00.0"));
      auto* nic = node->add_nics();
      nic->set_id(util::StrCat("mlx5_", c));
      nic->set_state("ACTIVE");
      nic->set_port(1);
      nic->set_address(util::StrCat("10.0.", n, ".", c));
      auto* gid = nic->add_gids();
      gid->set_index(3);
      gid->set_type("RoCE v2");
    }
  }
  return out;
}

class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(store_); }
  void Open(std::shared_ptr<store::Store> with) {
    DriverParts parts;
    parts.store = with;
    const v1::Inventory inventory = Centre();
    // The inventory is there once; later lives find it.
    auto allocator =
        alloc::Allocator::Open(with, store_->Get("alloc/inventory").ok() ? nullptr : &inventory);
    ASSERT_OK(allocator);
    parts.allocator = *allocator;
    parts.cluster = cluster_;
    parts.rules = *RuleSet::Load("");
    parts.catalogue = *accel::Catalogue::Load("");
    parts.owner = "test";
    parts.limits.poll_ns = 10'000'000;
    parts.limits.lost_ns = 200'000'000;
    parts.limits.settle_ns = 30'000'000;
    allocator_ = parts.allocator;
    parts_ = parts;
    manager_ = std::make_unique<Manager>(parts, [n = uint64_t{1}]() mutable { return n++; });
  }
  v1::JobSpec Spec() {
    v1::JobSpec spec;
    spec.set_name("train");
    spec.set_department("risk");
    spec.add_command("/bin/train");
    spec.mutable_resources()->set_cards(4);
    spec.mutable_resources()->set_need_nics(true);
    spec.set_image("registry.bank.example/a/b:tag");
    spec.set_dataset("http://x/");
    spec.set_dataset_name("d");
    spec.set_backoff_ns(1'000'000);
    return spec;
  }
  v1::Job RunToTheEnd(const v1::JobSpec& spec) {
    const auto id = manager_->Submit(spec);
    EXPECT_OK(id);
    util::OpControl control(util::RealClock().MonotonicNanos() + 60'000'000'000);
    const auto job = manager_->Run(*id, control);
    EXPECT_OK(job);
    return job.ok() ? *job : v1::Job();
  }
  std::shared_ptr<store::Store> store_ = store::MakeMemoryStore();
  std::shared_ptr<PlayedCluster> cluster_ = std::make_shared<PlayedCluster>();
  std::shared_ptr<alloc::Allocator> allocator_;
  DriverParts parts_;
  std::unique_ptr<Manager> manager_;
};

TEST_F(DriverTest, SucceedsAndGivesItsCardsBack) {
  const v1::Job job = RunToTheEnd(Spec());
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.message();
  ASSERT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(job.attempts(0).exit_status_size(), 4);
  EXPECT_EQ(allocator_->State()->grants_size(), 0);
  const auto events = manager_->Events(job.id(), 0, 0);
  ASSERT_OK(events);
  std::vector<v1::JobState> states;
  for (const auto& event : events->events()) {
    if (states.empty() || states.back() != event.state()) states.push_back(event.state());
  }
  EXPECT_THAT(states, ::testing::ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_PLACED,
                                             v1::JOB_STATE_PROBED, v1::JOB_STATE_STAGED,
                                             v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED));
  EXPECT_TRUE(store::AuditVerify(*store_)->ok());
}

TEST_F(DriverTest, RanksGetTheirEnvironment) {
  RunToTheEnd(Spec());
  const auto& e = cluster_->environments[3];
  EXPECT_EQ(e.at("RANK"), "3");
  EXPECT_EQ(e.at("WORLD_SIZE"), "4");
  EXPECT_EQ(e.at("LOCAL_RANK"), "1");
  EXPECT_EQ(e.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(e.at("AISTATION_NODE"), "n1");
  EXPECT_EQ(e.at("AISTATION_CARD"), "n1-c1");
  EXPECT_EQ(e.at("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(e.at("MASTER_ADDR"), "10.0.0.0");
  EXPECT_EQ(e.at("MASTER_PORT"), cluster_->environments[0].at("MASTER_PORT"));
  EXPECT_TRUE(e.count("NCCL_IB_HCA"));
}

TEST_F(DriverTest, AFaultyCardsNodeIsLeftOut) {
  cluster_->scripts[1].kernel_log = "NVRM: Xid (PCI:0000:30:00): 79, GPU has fallen off the bus.";
  cluster_->scripts[1].never_ends = true;  // the line alone ends the attempt
  const v1::Job job = RunToTheEnd(Spec());
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.message();
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.attempts(0).verdict().rule(), "nv-off-bus");
  const std::string culprit = job.attempts(0).verdict().node();
  for (const auto& node : job.attempts(1).placement().nodes()) EXPECT_NE(node.node(), culprit);
  EXPECT_THAT(allocator_->State()->cordoned_nodes(), ::testing::ElementsAre(culprit));
  EXPECT_GE(cluster_->killed.load(), 2);
  EXPECT_THAT(cluster_->references[1], ::testing::HasSubstr("@sha256:"))
      << "the second attempt has the same image";
  bool audited = false;
  const auto log = store::AuditRead(*store_, 1, 100);
  for (const auto& entry : log->entries())
    audited = audited || (entry.action() == "node.cordon" && entry.object() == culprit);
  EXPECT_TRUE(audited);
}

TEST_F(DriverTest, ANodeThatDoesNotAnswerIsLeftOutForGood) {
  cluster_->scripts[1].node_silent = true;
  cluster_->scripts[1].never_ends = true;
  const v1::Job job = RunToTheEnd(Spec());
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.message();
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.attempts(0).verdict().rule(), "node-lost");
  ASSERT_EQ(job.attempts(0).unproven_nodes_size(), 1) << "nobody proved that its processes ended";
  EXPECT_EQ(job.attempts(0).unproven_nodes(0), job.attempts(0).verdict().node());
}

TEST_F(DriverTest, AUsersErrorIsTriedOnceMore) {
  cluster_->scripts[1].exit_status = 3;
  cluster_->scripts[2].exit_status = 3;
  const v1::Job job = RunToTheEnd(Spec());
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts_size(), 2);
  EXPECT_THAT(job.message(), ::testing::HasSubstr("the same as in attempt 1"));
  EXPECT_EQ(allocator_->State()->grants_size(), 0);
}

TEST_F(DriverTest, AnImageThatCannotBeHadStopsIt) {
  cluster_->scripts[1].image = util::NotFound("image.not_found", "no such image");
  const v1::Job job = RunToTheEnd(Spec());
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(job.attempts(0).verdict().rule(), "registry-refuses");
  EXPECT_THAT(job.message(), ::testing::HasSubstr("no such image"));
  EXPECT_EQ(cluster_->launched.load(), 0);
}

TEST_F(DriverTest, ANicThatDoesNotReachIsLeftOut) {
  cluster_->scripts[1].probe_fails = true;
  const v1::Job job = RunToTheEnd(Spec());
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.message();
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.attempts(0).verdict().fault_class(), "network");
  EXPECT_EQ(job.attempts(0).verdict().card_id(), "n0-c0");
  EXPECT_EQ(cluster_->launched.load(), 4) << "nothing was started on it";
}

TEST_F(DriverTest, WhatNeverFitsIsRefusedAtOnce) {
  auto spec = Spec();
  spec.mutable_resources()->set_cards(7);
  const v1::Job job = RunToTheEnd(spec);
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_TRUE(job.attempts(0).placement().has_refusal());
}

TEST_F(DriverTest, WhatDoesNotFitNowWaits) {
  v1::PlacementRequest other;
  other.set_request_id("other");
  other.set_cards(4);
  ASSERT_OK(allocator_->Allocate(other));
  std::thread releaser([&] {
    util::RealClock().SleepNanos(200'000'000);
    EXPECT_OK(allocator_->Release("other"));
  });
  const v1::Job job = RunToTheEnd(Spec());
  releaser.join();
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  bool waited = false;
  const auto events = manager_->Events(job.id(), 0, 0);
  for (const auto& event : events->events())
    waited = waited || event.message().rfind("waiting: ", 0) == 0;
  EXPECT_TRUE(waited);
}

TEST_F(DriverTest, OnlyOneDrives) {
  cluster_->scripts[1].never_ends = true;
  const auto id = manager_->Submit(Spec());
  util::OpControl control;
  std::thread first([&] { EXPECT_TRUE(absl::IsCancelled(manager_->Run(*id, control).status())); });
  while (manager_->Get(*id)->state() != v1::JOB_STATE_RUNNING)
    util::RealClock().SleepNanos(5'000'000);
  util::OpControl other;
  EXPECT_REASON(manager_->Run(*id, other), "job.driven_elsewhere", "test");
  control.Cancel();
  first.join();
  EXPECT_EQ(manager_->Get(*id)->state(), v1::JOB_STATE_RUNNING)
      << "the job goes on without its driver";
  cluster_->scripts[1].never_ends = false;
  const auto job = manager_->Run(*id, other);
  ASSERT_OK(job);
  EXPECT_EQ(job->state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(job->attempts_size(), 1);
}

TEST_F(DriverTest, CancelReachesTheDriver) {
  cluster_->scripts[1].never_ends = true;
  const auto id = manager_->Submit(Spec());
  util::OpControl control;
  std::thread driver([&] {
    const auto job = manager_->Run(*id, control);
    ASSERT_OK(job);
    EXPECT_EQ(job->state(), v1::JOB_STATE_CANCELLED);
  });
  while (manager_->Get(*id)->state() != v1::JOB_STATE_RUNNING)
    util::RealClock().SleepNanos(5'000'000);
  EXPECT_OK(manager_->Cancel(*id));
  driver.join();
  EXPECT_EQ(allocator_->State()->grants_size(), 0);
  EXPECT_OK(manager_->Cancel(*id)) << "it has ended: nothing to do";
  EXPECT_REASON(manager_->Cancel("none"), "job.no_job", "none");
}

TEST_F(DriverTest, TheTimeLimitEndsIt) {
  cluster_->scripts[1].never_ends = true;
  auto spec = Spec();
  spec.set_time_limit_ns(100'000'000);
  const v1::Job job = RunToTheEnd(spec);
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.attempts(0).verdict().rule(), "time-limit");
}

// The driver dies at each of its writes in turn; the next one brings the job to the same end.
TEST_F(DriverTest, DiesAtEveryWrite) {
  int deaths = 0;
  for (int writes = 1; writes < 200; ++writes) {
    store_ = store::MakeMemoryStore();
    cluster_ = std::make_shared<PlayedCluster>();
    cluster_->scripts[1].kernel_log = "NVRM: Xid (PCI:0000:30:00): 79, GPU has fallen off the bus.";
    Open(store_);
    const auto id = manager_->Submit(Spec());
    ASSERT_OK(id);
    const auto dying = std::make_shared<DyingStore>(store_, writes);
    Open(dying);
    util::OpControl control(util::RealClock().MonotonicNanos() + 30'000'000'000);
    const auto died = manager_->Run(*id, control);
    const bool whole = died.ok();
    deaths += whole ? 0 : 1;
    if (!whole) {
      EXPECT_EQ(util::Reason(died.status()), "test.died") << died.status();
    }
    // Its lease would end by itself.
    const auto driver = store_->Get("job-driver/" + *id);
    if (driver.ok()) {
      ASSERT_OK(store_->RevokeLease(driver->lease));
    }
    Open(store_);
    const auto job = manager_->Run(*id, control);
    ASSERT_OK(job);
    ASSERT_EQ(job->state(), v1::JOB_STATE_SUCCEEDED) << writes << " " << job->message();
    ASSERT_EQ(job->attempts_size(), 2) << writes;
    ASSERT_EQ(allocator_->State()->grants_size(), 0) << writes;
    ASSERT_TRUE(store::AuditVerify(*store_)->ok()) << writes;
    if (whole) break;
  }
  EXPECT_GT(deaths, 10);
}

}  // namespace
}  // namespace aistation::job
