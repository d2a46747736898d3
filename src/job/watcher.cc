// SPDX-License-Identifier: Apache-2.0
#include "job/watcher.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>

#include "job/classifier.h"
#include "util/clock.h"
#include "util/mutex.h"
#include "util/strings.h"
#include "util/thread.h"

namespace aistation::job {
namespace {

constexpr size_t kParallelNodes = 64;
constexpr int kMaxSigns = 4096;  // lines kept for the verdict

std::chrono::steady_clock::time_point After(int64_t nanos) {
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanos);
}

// Shared by the threads that poll the nodes.
class Attempt {
 public:
  Attempt(const RuleSet& rules, const v1::ClassifyRequest& frame) : rules_(rules) {
    signs_ = frame;
    for (const auto& [rank, node] : frame.rank_node()) ++missing_[node];
    ranks_ = frame.rank_node().size();
  }

  // What one node tells. False when its answers are not needed any more.
  bool Take(const std::string& node, const v1::WatchReply& reply) {
    const util::MutexLock lock(mutex_);
    uint32_t known = 0;
    for (const auto& process : reply.processes()) {
      ++known;
      if (process.running() || !ended_.insert(process.rank()).second) continue;
      (*signs_.mutable_exit_status())[process.rank()] = process.exit_status();
      if (process.exit_status() == 0) continue;
      bad_ = true;
      for (const auto& text : process.output_tail()) {
        v1::LogLine line;
        line.set_source("output");
        line.set_node(node);
        line.set_rank(static_cast<int32_t>(process.rank()));
        line.set_text(text);
        line.set_unix_ns(process.ended_unix_ns());
        AddSign(std::move(line));
      }
    }
    for (const auto& line : reply.log()) {
      AddSign(line);
      bad_ = bad_ || EndsAttempt(rules_, line, signs_);
    }
    if (known < missing_[node]) {
      AddLost(node, util::StrCat("node ", node, " knows ", known, " of ", missing_[node],
                                 " processes: its agent has been started anew"));
    }
    changed_.NotifyAll();
    return !over_;
  }

  bool TakeFailure(const std::string& node, const absl::Status& status, int64_t silent_ns,
                   int64_t lost_ns) {
    const util::MutexLock lock(mutex_);
    if (silent_ns >= lost_ns) {
      AddLost(node, util::StrCat("no answer from node ", node, " for ", silent_ns / 1'000'000,
                                 " ms: ", util::Message(status)));
    }
    changed_.NotifyAll();
    return !over_;
  }

  // Waits for the end: all ranks ended well, or the signs of a failure have settled.
  absl::StatusOr<AttemptOutcome> Wait(const WatchLimits& limits, util::OpControl& control) {
    const util::MutexLock lock(mutex_);
    const auto limit = limits.time_limit_ns > 0 ? After(limits.time_limit_ns)
                                                : std::chrono::steady_clock::time_point::max();
    auto settled = std::chrono::steady_clock::time_point::max();
    for (;;) {
      const absl::Status status = control.Check();
      if (!status.ok()) {
        over_ = true;
        return status;
      }
      const auto now = std::chrono::steady_clock::now();
      if (!bad_ && ended_.size() == ranks_) break;
      if (now >= limit && !bad_) {
        v1::LogLine line;
        line.set_source("scheduler");
        line.set_rank(-1);
        line.set_text(util::StrCat("time limit of ", limits.time_limit_ns / 1'000'000'000, " s"));
        AddSign(std::move(line));
        bad_ = true;
        break;
      }
      if (bad_) {
        settled = std::min(settled, now + std::chrono::nanoseconds(limits.settle_ns));
        if (now >= settled) break;
      }
      changed_.WaitUntil(mutex_, std::min({settled, limit, now + std::chrono::milliseconds(200)}));
    }
    over_ = true;
    AttemptOutcome out;
    out.succeeded = !bad_;
    out.signs = signs_;
    return out;
  }

 private:
  void AddSign(v1::LogLine line) AIST_REQUIRES(mutex_) {
    if (signs_.lines_size() < kMaxSigns) *signs_.add_lines() = std::move(line);
  }
  void AddLost(const std::string& node, std::string text) AIST_REQUIRES(mutex_) {
    bad_ = true;
    if (!lost_.insert(node).second) return;
    v1::LogLine line;
    line.set_source("heartbeat");
    line.set_node(node);
    line.set_rank(-1);
    line.set_text(std::move(text));
    line.set_unix_ns(util::RealClock().UnixNanos());
    AddSign(std::move(line));
  }

  const RuleSet& rules_;
  util::Mutex mutex_;
  util::CondVar changed_;
  v1::ClassifyRequest signs_ AIST_GUARDED_BY(mutex_);
  std::map<std::string, uint32_t> missing_ AIST_GUARDED_BY(mutex_);  // ranks by node
  size_t ranks_ = 0;
  std::set<uint32_t> ended_ AIST_GUARDED_BY(mutex_);
  std::set<std::string> lost_ AIST_GUARDED_BY(mutex_);
  bool bad_ AIST_GUARDED_BY(mutex_) = false;
  bool over_ AIST_GUARDED_BY(mutex_) = false;
};

void DropOlder(int64_t since_unix_ns, v1::WatchReply* reply) {
  auto& log = *reply->mutable_log();
  log.erase(std::remove_if(log.begin(), log.end(),
                           [&](const v1::LogLine& line) { return line.unix_ns() < since_unix_ns; }),
            log.end());
}

void PollNode(Launcher& launcher, Attempt& attempt, const v1::Member& node,
              v1::WatchRequest request, const WatchLimits& limits, util::OpControl& control) {
  auto answered = std::chrono::steady_clock::now();
  const bool all_lines = request.after_log_seq() == 0;
  while (control.Check().ok()) {
    auto reply = launcher.Watch(node, request, control);
    if (reply.ok()) {
      if (all_lines) DropOlder(limits.since_unix_ns, &*reply);
      answered = std::chrono::steady_clock::now();
      request.set_after_log_seq(reply->log_seq());
      uint32_t ended = 0;
      for (const auto& process : reply->processes()) ended += process.running() ? 0 : 1;
      request.set_known_ended(ended);
      if (!attempt.Take(node.node(), *reply)) return;
      // All that can happen here has happened; the log still matters while others run.
      if (reply->processes().empty()) (void)control.Sleep(limits.poll_ns);
      continue;
    }
    const int64_t silent =
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - answered).count();
    if (!attempt.TakeFailure(node.node(), reply.status(), silent, limits.lost_ns)) return;
    if (!control.Sleep(300'000'000).ok()) return;
  }
}

}  // namespace

void ForEachNode(const std::vector<v1::Member>& nodes,
                 const std::function<void(size_t, const v1::Member&)>& work) {
  std::atomic<size_t> next{0};
  const auto take = [&] {
    for (size_t i = next++; i < nodes.size(); i = next++) work(i, nodes[i]);
  };
  std::vector<util::Thread> threads;
  for (size_t i = 1; i < std::min(nodes.size(), kParallelNodes); ++i) {
    threads.push_back(util::Thread::Start("aist-job", take));
  }
  take();
  for (auto& thread : threads) thread.Join();
}

absl::StatusOr<AttemptOutcome> WatchAttempt(Launcher& launcher, const RuleSet& rules,
                                            const v1::ClassifyRequest& frame,
                                            const std::string& job, uint32_t attempt,
                                            const std::vector<v1::Member>& nodes,
                                            const std::map<std::string, uint64_t>& positions,
                                            const WatchLimits& limits, util::OpControl& control) {
  Attempt shared(rules, frame);
  util::OpControl polls;  // ends the long polls once the outcome is known
  const uint64_t hook = control.OnCancel([&polls] { polls.Cancel(); });
  std::vector<util::Thread> threads;
  for (const auto& node : nodes) {
    v1::WatchRequest request;
    request.set_job(job);
    request.set_attempt(attempt);
    const auto position = positions.find(node.node());
    request.set_after_log_seq(position == positions.end() ? 0 : position->second);
    request.set_wait_ns(static_cast<uint64_t>(limits.poll_ns));
    threads.push_back(util::Thread::Start("aist-watch", [&, node, request] {
      PollNode(launcher, shared, node, request, limits, polls);
    }));
    if (!threads.back().joinable()) {
      threads.pop_back();
      polls.Cancel();
      for (auto& thread : threads) thread.Join();
      control.RemoveCancelHook(hook);
      return util::Error(absl::StatusCode::kResourceExhausted, "job.thread",
                         "cannot start a thread for each node");
    }
  }
  auto outcome = shared.Wait(limits, control);
  polls.Cancel();
  for (auto& thread : threads) thread.Join();
  control.RemoveCancelHook(hook);
  return outcome;
}

}  // namespace aistation::job
