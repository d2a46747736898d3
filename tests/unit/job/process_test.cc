// SPDX-License-Identifier: Apache-2.0
// Real processes of this machine.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "job/launch_service.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/file.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

class Processes : public ::testing::Test {
 protected:
  void Start(bool allow = true) {
    LaunchOptions options;
    options.node = "here";
    options.work_directory = dir_ / "work";
    options.kernel_log = dir_ / "kernel";
    options.allow_launch = allow;
    auto service = LaunchService::Start(options);
    ASSERT_OK(service);
    service_ = std::move(*service);
  }
  v1::LaunchRequest Request(uint32_t rank, const std::string& script, uint64_t epoch = 1,
                            uint32_t attempt = 1) {
    v1::LaunchRequest request;
    request.set_job("j");
    request.set_attempt(attempt);
    request.set_rank(rank);
    request.set_epoch(epoch);
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), script})
      request.add_command(word);
    return request;
  }
  v1::WatchReply WaitFor(uint32_t ended, uint32_t attempt = 1) {
    v1::WatchRequest request;
    request.set_job("j");
    request.set_attempt(attempt);
    request.set_wait_ns(10'000'000'000);
    request.set_known_ended(ended - 1);
    return service_->Watch(request, [] { return false; });
  }
  // A zombie that its new parent has not reaped yet is dead.
  static bool Alive(int64_t pid) {
    const auto stat = util::ReadFile(util::StrCat("/proc/", pid, "/stat"));
    return stat.ok() && stat->find(") Z ") == std::string::npos;
  }
  testing::TempDir dir_;
  std::unique_ptr<LaunchService> service_;
};

TEST_F(Processes, RunAndTellHowTheyEnded) {
  Start();
  auto request = Request(0, "echo to stdout; echo $WORD >&2; pwd; exit 7");
  (*request.mutable_environment())["WORD"] = "to stderr";
  ASSERT_OK(service_->Launch(request));
  const auto reply = WaitFor(1);
  ASSERT_EQ(reply.processes_size(), 1);
  const auto& process = reply.processes(0);
  EXPECT_FALSE(process.running());
  EXPECT_EQ(process.exit_status(), 7);
  EXPECT_THAT(process.output_tail(),
              ::testing::ElementsAre("to stdout", "to stderr", dir_ / "work/j/1"));
  EXPECT_EQ(*util::ReadFile(dir_ / "work/j/1/rank-0.log"),
            "to stdout\nto stderr\n" + (dir_ / "work/j/1\n"));
}

TEST_F(Processes, SignalsCountFrom128) {
  Start();
  ASSERT_OK(service_->Launch(Request(0, "kill -9 $$")));
  EXPECT_EQ(WaitFor(1).processes(0).exit_status(), 137);
}

TEST_F(Processes, NothingIsInherited) {
  Start();
  const int open_fd = dup(0);  // not close-on-exec
  ASSERT_OK(service_->Launch(
      Request(0, "ls /proc/self/fd | tr '\\n' ' '; env | sort | cut -d= -f1 | tr '\\n' ' '")));
  const auto reply = WaitFor(1);
  close(open_fd);
  EXPECT_THAT(reply.processes(0).output_tail(0), ::testing::HasSubstr("0 1 2 3 LANG"));
}

TEST_F(Processes, TheSameAskedTwiceRunsOnce) {
  Start();
  const auto first = service_->Launch(Request(0, "sleep 60"));
  const auto again = service_->Launch(Request(0, "sleep 60"));
  ASSERT_OK(first);
  EXPECT_EQ(first->pid(), again->pid());
}

TEST_F(Processes, ANewerEpochEndsAnOlderAttempt) {
  Start();
  const auto old = service_->Launch(Request(0, "sleep 60", 1, 1));
  ASSERT_OK(old);
  ASSERT_OK(service_->Launch(Request(0, "sleep 60", 2, 2)));
  EXPECT_FALSE(Alive(old->pid()));
  EXPECT_REASON(service_->Launch(Request(1, "sleep 60", 1, 1)), "job.fenced", "epoch 1 is over");
}

TEST_F(Processes, KillReachesTheChildrenToo) {
  Start();
  const std::string pids = dir_ / "pids";
  ASSERT_OK(service_->Launch(
      Request(0, "trap '' TERM; sleep 60 & echo $! >" + pids + "; sleep 60 & wait; wait")));
  for (int i = 0; i < 200 && util::ReadLineOr(pids, "").empty(); ++i) usleep(10'000);
  v1::KillRequest request;
  request.set_job("j");
  request.set_grace_ns(50'000'000);
  const auto reply = service_->Kill(request);
  EXPECT_EQ(reply.killed(), 1u);
  EXPECT_TRUE(reply.all_dead());
  const int64_t child = *util::ParseInt<int64_t>(util::ReadLineOr(pids, ""));
  for (int i = 0; i < 100 && Alive(child); ++i) usleep(10'000);
  EXPECT_FALSE(Alive(child));
}

TEST_F(Processes, StopKillsAll) {
  Start();
  const auto process = service_->Launch(Request(0, "sleep 60"));
  ASSERT_OK(process);
  service_->Stop();
  EXPECT_FALSE(Alive(process->pid()));
}

TEST_F(Processes, KernelLogLinesComeWithTheirNumbers) {
  Start();
  ASSERT_OK(service_->Launch(Request(0, "sleep 60")));
  dir_.Write("kernel", "a line\nanother\n");
  v1::WatchRequest request;
  request.set_job("j");
  request.set_attempt(1);
  request.set_wait_ns(5'000'000'000);
  auto reply = service_->Watch(request, [] { return false; });
  for (int i = 0; i < 100 && reply.log_size() < 2; ++i)
    reply = service_->Watch(request, [] { return false; });
  ASSERT_EQ(reply.log_size(), 2);
  EXPECT_EQ(reply.log(1).text(), "another");
  EXPECT_EQ(reply.log_seq(), 2u);
  request.set_after_log_seq(UINT64_MAX);
  request.set_wait_ns(0);
  EXPECT_EQ(service_->Watch(request, [] { return false; }).log_size(), 0);
}

TEST_F(Processes, Refusals) {
  Start();
  auto request = Request(0, "x");
  request.set_job("../evil");
  EXPECT_REASON(service_->Launch(request), "job.id", "evil");
  request = Request(0, "x");
  request.set_command(0, "/does/not/exist");
  EXPECT_TRUE(absl::IsNotFound(service_->Launch(request).status()));
  request.set_command(0, "no-such-program");
  EXPECT_REASON(service_->Launch(request), "job.program", "PATH");
  request = Request(0, "x");
  request.set_working_directory("/does/not/exist");
  EXPECT_FALSE(service_->Launch(request).ok());
  (*request.mutable_environment())["A=B"] = "c";
  EXPECT_REASON(service_->Launch(request), "job.environment", "A=B");
  service_->Stop();
  Start(/*allow=*/false);
  EXPECT_REASON(service_->Launch(Request(0, "x")), "job.launch_not_allowed", "here");
}

TEST_F(Processes, OutputIsBounded) {
  Start();
  ASSERT_OK(service_->Launch(
      Request(0, "yes 0123456789012345678901234567890123456789 | head -c 80000000; echo end")));
  const auto reply = WaitFor(1);
  const auto& process = reply.processes(0);
  EXPECT_EQ(process.exit_status(), 0);
  EXPECT_LE(process.output_tail_size(), 41);
  EXPECT_EQ(process.output_tail(process.output_tail_size() - 1), "012345678901234567890end");
  struct stat st {};
  ASSERT_EQ(stat((dir_ / "work/j/1/rank-0.log").c_str(), &st), 0);
  EXPECT_EQ(st.st_size, 64 << 20);
}

}  // namespace
}  // namespace aistation::job
