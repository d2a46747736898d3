// SPDX-License-Identifier: Apache-2.0
#include "util/op.h"

#include <poll.h>

#include <atomic>
#include <thread>

#include "unit/testing/matchers.h"
#include "util/clock.h"

namespace aistation::util {
namespace {

OpResult Text(std::string text) {
  return [text](bool json) { return json ? "\"" + text + "\"" : text; };
}

bool Readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, 0) == 1;
}

TEST(Op, EndsWithItsResult) {
  Executor executor;
  auto op = Op::Start(executor, 0, [](OpControl& control) -> absl::StatusOr<OpResult> {
    control.SetProgress(3, 7, "reading");
    return Text("x");
  });
  ASSERT_OK(op);
  ASSERT_TRUE((*op)->Wait(10'000'000'000));
  EXPECT_TRUE(Readable((*op)->fd()));
  ASSERT_OK((*op)->result());
  EXPECT_EQ((*(*op)->result())(true), "\"x\"");
  const Progress progress = (*op)->progress();
  EXPECT_TRUE(progress.ended);
  EXPECT_EQ(progress.done, 3u);
  EXPECT_EQ(progress.total, 7u);
  EXPECT_EQ(progress.phase, "reading");
}

TEST(Op, IsNotReadableBeforeItEnds) {
  Executor executor;
  std::atomic<bool> go{false};
  auto op = Op::Start(executor, 0, [&go](OpControl& control) -> absl::StatusOr<OpResult> {
    while (!go) AIST_RETURN_IF_ERROR(control.Sleep(1'000'000));
    return Text("");
  });
  ASSERT_OK(op);
  EXPECT_FALSE((*op)->Wait(20'000'000));
  EXPECT_FALSE(Readable((*op)->fd()));
  EXPECT_FALSE((*op)->done());
  EXPECT_REASON((*op)->result(), "op.running", "");
  go = true;
  EXPECT_TRUE((*op)->Wait(-1));
}

TEST(Op, CancelWakesASleep) {
  Executor executor;
  auto op = Op::Start(executor, 0, [](OpControl& control) -> absl::StatusOr<OpResult> {
    AIST_RETURN_IF_ERROR(control.Sleep(int64_t{3600} * 1'000'000'000));
    return Text("");
  });
  ASSERT_OK(op);
  (*op)->Cancel();
  ASSERT_TRUE((*op)->Wait(10'000'000'000));
  EXPECT_REASON((*op)->result(), "op.cancelled", "");
}

TEST(Op, DeadlineEndsIt) {
  Executor executor;
  auto op = Op::Start(executor, 20'000'000, [](OpControl& control) -> absl::StatusOr<OpResult> {
    control.SetPhase("dreaming");
    AIST_RETURN_IF_ERROR(control.Sleep(int64_t{3600} * 1'000'000'000));
    return Text("");
  });
  ASSERT_OK(op);
  ASSERT_TRUE((*op)->Wait(10'000'000'000));
  EXPECT_REASON((*op)->result(), "op.deadline", "dreaming");
}

TEST(Op, AnExceptionBecomesAnError) {
  Executor executor;
  auto op = Op::Start(executor, 0, [](OpControl&) -> absl::StatusOr<OpResult> {
    throw std::runtime_error("surprise");
  });
  ASSERT_OK(op);
  ASSERT_TRUE((*op)->Wait(10'000'000'000));
  EXPECT_REASON((*op)->result(), "base.exception", "surprise");
}

TEST(Op, WhatItCapturedIsGoneBeforeItHasEnded) {
  Executor executor;
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> watched = token;
  auto op = Op::Start(
      executor, 0,
      [token = std::move(token)](OpControl&) -> absl::StatusOr<OpResult> { return Text(""); });
  ASSERT_OK(op);
  ASSERT_TRUE((*op)->Wait(10'000'000'000));
  EXPECT_TRUE(watched.expired());
}

TEST(Op, HooksRunOnceAndCanBeRemoved) {
  OpControl control;
  int ran = 0;
  control.OnCancel([&ran] { ++ran; });
  const uint64_t removed = control.OnCancel([&ran] { ran += 100; });
  control.RemoveCancelHook(removed);
  control.Cancel();
  control.Cancel();
  EXPECT_EQ(ran, 1);
  control.OnCancel([&ran] { ++ran; });
  EXPECT_EQ(ran, 2) << "at once when it is cancelled already";
}

TEST(Executor, MoreOperationsThanThreadsWaitInLine) {
  Executor executor(2);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::vector<std::shared_ptr<Op>> ops;
  for (int i = 0; i < 20; ++i) {
    auto op = Op::Start(executor, 0, [&](OpControl&) -> absl::StatusOr<OpResult> {
      const int now = ++running;
      int seen = most.load();
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      RealClock().SleepNanos(2'000'000);
      --running;
      return Text("");
    });
    ASSERT_OK(op);
    ops.push_back(*op);
  }
  for (auto& op : ops) EXPECT_TRUE(op->Wait(20'000'000'000));
  EXPECT_LE(most.load(), 2);
}

TEST(Executor, ItsDestructorCancelsWhatRunsAndWaits) {
  std::shared_ptr<Op> running;
  std::shared_ptr<Op> waiting;
  {
    Executor executor(1);
    const auto body = [](OpControl& control) -> absl::StatusOr<OpResult> {
      AIST_RETURN_IF_ERROR(control.Sleep(int64_t{3600} * 1'000'000'000));
      return Text("");
    };
    running = *Op::Start(executor, 0, body);
    waiting = *Op::Start(executor, 0, body);
  }
  EXPECT_TRUE(running->done());
  EXPECT_TRUE(waiting->done());
  EXPECT_TRUE(absl::IsCancelled(waiting->result().status()));
}

}  // namespace
}  // namespace aistation::util
