// SPDX-License-Identifier: Apache-2.0
#include "job/launch_service.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <set>

#include "job/log_follower.h"
#include "job/process_table.h"
#include "job/spawn.h"
#include "util/clock.h"
#include "util/mutex.h"
#include "util/strings.h"
#include "util/thread.h"
#include "wire/wire.h"

namespace aistation::job {
namespace {

constexpr size_t kMaxLogLines = 4096;
constexpr int kLogPollMs = 50;
constexpr int64_t kMaxWaitNs = 60'000'000'000;

struct PendingLaunch {
  v1::LaunchRequest request;
  absl::StatusOr<Spawned> result = absl::UnknownError("");
  bool done = false;
};

absl::Status CheckLaunch(const v1::LaunchRequest& request) {
  if (!util::IsSafeName(request.job())) {
    return util::InvalidArgument("job.id", util::StrCat("job: expected a name of letters, digits, "
                                                        "'.', '_', '-', got \"",
                                                        util::Excerpt(request.job()), "\""));
  }
  if (request.command_size() == 0 || request.command_size() > 10'000) {
    return util::InvalidArgument("job.command", "command: expected 1 to 10,000 arguments");
  }
  for (const auto& [name, value] : request.environment()) {
    if (name.empty() || name.find('=') != std::string::npos ||
        name.find('\0') != std::string::npos || value.find('\0') != std::string::npos) {
      return util::InvalidArgument("job.environment", util::StrCat("environment: bad variable \"",
                                                                   util::Excerpt(name), "\""));
    }
  }
  return absl::OkStatus();
}

bool SameAttempt(const Process& p, const std::string& job, uint32_t attempt) {
  return p.info.job() == job && (attempt == 0 || p.info.attempt() == attempt);
}

}  // namespace

struct LaunchService::State {
  explicit State(LaunchOptions o) : options(std::move(o)), follower(options.kernel_log) {}

  const LaunchOptions options;
  LogFollower follower;  // of the minder thread
  util::Fd wake;
  std::atomic<bool> stopping{false};
  util::Mutex mutex;
  util::CondVar changed;
  ProcessTable table AIST_GUARDED_BY(mutex);
  std::deque<std::shared_ptr<PendingLaunch>> pending AIST_GUARDED_BY(mutex);
  std::set<ProcessKey> launching AIST_GUARDED_BY(mutex);
  std::deque<v1::LogLine> log AIST_GUARDED_BY(mutex);
  uint64_t log_seq AIST_GUARDED_BY(mutex) = 0;
  util::Thread minder;

  void Wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(wake.get(), &one, sizeof(one));
  }
  void Mind();
  void SpawnPending();
  void Reap(Process& process) AIST_REQUIRES(mutex);
  void Drain(Process& process) AIST_REQUIRES(mutex);
  void ReadLog();
  absl::Status Fence(const v1::LaunchRequest& request) AIST_REQUIRES(mutex);
  v1::ProcessInfo Adopt(const v1::LaunchRequest& request, Spawned spawned) AIST_REQUIRES(mutex);
  std::string DirectoryOf(const v1::LaunchRequest& request) const {
    return util::StrCat(options.work_directory, "/", request.job(), "/", request.attempt());
  }
  void Signal(Process& process, int sig) AIST_REQUIRES(mutex) {
    if (process.pid > 0) kill(-process.pid, sig);
  }
  void WaitAWhile() AIST_REQUIRES(mutex) {
    changed.WaitUntil(mutex, std::chrono::steady_clock::now() + std::chrono::milliseconds(200));
  }
  // Waits until none of them runs; false when the deadline passed.
  bool WaitDead(const std::function<bool(const Process&)>& which,
                std::chrono::steady_clock::time_point deadline) AIST_REQUIRES(mutex);
};

void LaunchService::State::Drain(Process& process) {
  char buffer[8192];
  // Bounded a turn, so that one that prints without end does not starve the others; more than the
  // pipe can hold, so that nothing is left of one that has ended.
  for (int i = 0; i < 256 && process.output.valid(); ++i) {
    const ssize_t n = read(process.output.get(), buffer, sizeof(buffer));
    if (n > 0) {
      process.Append(std::string_view(buffer, static_cast<size_t>(n)));
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      process.output.Close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void LaunchService::State::Reap(Process& process) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(process.pid);
  // Its group goes while the pid still is ours, so the number cannot belong to anybody else.
  if (waitid(P_PID, id, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0) return;
  kill(-process.pid, SIGKILL);
  Drain(process);
  info = {};
  int status = -1;  // the host has reaped it: unknown
  if (waitid(P_PID, id, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0) {
    status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  }
  process.pid = -1;
  process.pidfd.Close();
  process.output.Close();
  process.file.Close();
  process.info.set_running(false);
  process.info.set_exit_status(status);
  process.info.set_ended_unix_ns(util::RealClock().UnixNanos());
  table.Trim();
  changed.NotifyAll();
}

void LaunchService::State::SpawnPending() {
  for (;;) {
    std::shared_ptr<PendingLaunch> next;
    {
      const util::MutexLock lock(mutex);
      if (pending.empty()) return;
      next = pending.front();
      pending.pop_front();
    }
    const v1::LaunchRequest& request = next->request;
    std::map<std::string, std::string> environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                                      {"LANG", "C.UTF-8"}};
    for (const auto& [name, value] : request.environment()) environment[name] = value;
    const std::string directory =
        request.working_directory().empty() ? DirectoryOf(request) : request.working_directory();
    auto spawned =
        Spawn({request.command().begin(), request.command().end()}, environment, directory);
    const util::MutexLock lock(mutex);
    next->result = std::move(spawned);
    next->done = true;
    changed.NotifyAll();
  }
}

void LaunchService::State::ReadLog() {
  std::vector<std::string> lines;
  follower.Poll([&](std::string_view line) { lines.push_back(util::ToValidUtf8(line)); });
  if (lines.empty()) return;
  const int64_t now = util::RealClock().UnixNanos();
  const util::MutexLock lock(mutex);
  for (std::string& text : lines) {
    v1::LogLine line;
    line.set_source("kernel_log");
    line.set_node(options.node);
    line.set_rank(-1);
    line.set_text(std::move(text));
    line.set_unix_ns(now);
    log.push_back(std::move(line));
    ++log_seq;
    if (log.size() > kMaxLogLines) log.pop_front();
  }
  changed.NotifyAll();
}

void LaunchService::State::Mind() {
  while (!stopping.load()) {
    std::vector<pollfd> fds = {{wake.get(), POLLIN, 0}};
    std::vector<std::shared_ptr<Process>> owners;
    {
      const util::MutexLock lock(mutex);
      for (const auto& [key, process] : table.all()) {
        if (process->pid <= 0) continue;
        fds.push_back({process->pidfd.get(), POLLIN, 0});
        owners.push_back(process);
        if (process->output.valid()) {
          fds.push_back({process->output.get(), POLLIN, 0});
          owners.push_back(process);
        }
      }
    }
    poll(fds.data(), fds.size(), options.kernel_log.empty() ? 1000 : kLogPollMs);
    if (fds[0].revents != 0) {
      uint64_t count;
      [[maybe_unused]] const ssize_t n = read(wake.get(), &count, sizeof(count));
    }
    // The log first: a line that explains a death is there when the death is told.
    ReadLog();
    SpawnPending();
    const util::MutexLock lock(mutex);
    for (size_t i = 1; i < fds.size(); ++i) {
      Process& process = *owners[i - 1];
      if (fds[i].revents == 0 || process.pid <= 0) continue;
      if (fds[i].fd == process.pidfd.get()) {
        Reap(process);
      } else {
        Drain(process);
      }
    }
  }
}

bool LaunchService::State::WaitDead(const std::function<bool(const Process&)>& which,
                                    std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    bool alive = false;
    for (const auto& [key, process] : table.all()) {
      alive = alive || (process->info.running() && which(*process));
    }
    if (!alive) return true;
    if (!changed.WaitUntil(mutex, deadline) && std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
  }
}

LaunchService::LaunchService(std::shared_ptr<State> state) : state_(std::move(state)) {}
LaunchService::~LaunchService() { Stop(); }

absl::StatusOr<std::unique_ptr<LaunchService>> LaunchService::Start(LaunchOptions options) {
  AIST_RETURN_IF_ERROR(util::MakeDirectories(options.work_directory));
  auto state = std::make_shared<State>(std::move(options));
  state->wake = util::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!state->wake.valid()) return util::ErrnoError(errno, "job.eventfd", "cannot make an eventfd");
  state->minder = util::Thread::Start("aist-launch", [raw = state.get()] { raw->Mind(); });
  if (!state->minder.joinable()) {
    return util::Error(absl::StatusCode::kResourceExhausted, "job.thread",
                       "cannot start a thread for processes");
  }
  return std::unique_ptr<LaunchService>(new LaunchService(std::move(state)));
}

// Refuses what is over, and ends what an earlier attempt left. Ranks of this attempt may be of an
// older epoch: another manager has taken the job over.
absl::Status LaunchService::State::Fence(const v1::LaunchRequest& request) {
  const auto older = [&](const Process& p) {
    return p.info.job() == request.job() && p.info.attempt() != request.attempt() &&
           p.epoch < request.epoch();
  };
  for (const auto& [key, process] : table.all()) {
    if (process->info.running() && older(*process)) Signal(*process, SIGKILL);
  }
  if (!WaitDead(older, std::chrono::steady_clock::now() + std::chrono::seconds(20))) {
    return util::Unavailable(
        "job.not_dead", util::StrCat("node ", options.node, ": processes of an earlier attempt of ",
                                     request.job(), " do not end"));
  }
  if (table.Running() + pending.size() >= kMaxProcesses) {
    return util::Error(
        absl::StatusCode::kResourceExhausted, "job.too_many_processes",
        util::StrCat("node ", options.node, " runs ", kMaxProcesses, " processes already"));
  }
  return absl::OkStatus();
}

v1::ProcessInfo LaunchService::State::Adopt(const v1::LaunchRequest& request, Spawned spawned) {
  auto process = std::make_shared<Process>();
  process->epoch = request.epoch();
  process->pid = spawned.pid;
  process->pidfd = std::move(spawned.pidfd);
  process->output = std::move(spawned.output);
  auto file = util::OpenFile(util::StrCat(DirectoryOf(request), "/rank-", request.rank(), ".log"),
                             O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file.ok()) process->file = std::move(*file);
  process->info.set_job(request.job());
  process->info.set_attempt(request.attempt());
  process->info.set_rank(request.rank());
  process->info.set_pid(process->pid);
  process->info.set_running(true);
  process->info.set_started_unix_ns(util::RealClock().UnixNanos());
  table.all()[{request.job(), request.attempt(), request.rank()}] = process;
  Wake();  // the minder polls it from now on
  return process->Describe();
}

absl::StatusOr<v1::ProcessInfo> LaunchService::Launch(const v1::LaunchRequest& request) {
  State& s = *state_;
  if (!s.options.allow_launch) {
    return util::Error(absl::StatusCode::kPermissionDenied, "job.launch_not_allowed",
                       util::StrCat("node ", s.options.node,
                                    " does not run processes for jobs; start it with launching "
                                    "allowed"));
  }
  AIST_RETURN_IF_ERROR(CheckLaunch(request));
  AIST_RETURN_IF_ERROR(util::MakeDirectories(s.DirectoryOf(request)));
  const ProcessKey key{request.job(), request.attempt(), request.rank()};
  auto pending = std::make_shared<PendingLaunch>();
  pending->request = request;
  const util::MutexLock lock(s.mutex);
  if (s.stopping.load()) return util::Unavailable("job.stopping", "this node is stopping");
  const uint64_t known = s.table.RaiseEpoch(request.job(), request.epoch());
  if (known > request.epoch()) {
    return util::Error(absl::StatusCode::kAborted, "job.fenced",
                       util::StrCat("job ", request.job(), ": epoch ", request.epoch(),
                                    " is over, node ", s.options.node, " knows epoch ", known));
  }
  while (s.launching.count(key) != 0 && !s.stopping.load()) s.WaitAWhile();  // asked twice
  if (const auto process = s.table.Find(key)) return process->Describe();
  AIST_RETURN_IF_ERROR(s.Fence(request));
  s.pending.push_back(pending);
  s.launching.insert(key);
  s.Wake();
  while (!pending->done && !s.stopping.load()) s.WaitAWhile();
  s.launching.erase(key);
  s.changed.NotifyAll();
  if (!pending->done) return util::Unavailable("job.stopping", "this node is stopping");
  if (!pending->result.ok()) {
    return util::Annotate(pending->result.status(), util::StrCat("node ", s.options.node));
  }
  return s.Adopt(request, std::move(*pending->result));
}

v1::WatchReply LaunchService::Watch(const v1::WatchRequest& request,
                                    const std::function<bool()>& stop) {
  State& s = *state_;
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::nanoseconds(std::min<uint64_t>(request.wait_ns(), kMaxWaitNs));
  const util::MutexLock lock(s.mutex);
  const bool position_only = request.after_log_seq() == UINT64_MAX;
  for (;;) {
    uint32_t ended = 0;
    uint32_t all = 0;
    for (const auto& [key, process] : s.table.all()) {
      if (!SameAttempt(*process, request.job(), request.attempt())) continue;
      ++all;
      if (!process->info.running()) ++ended;
    }
    const bool news =
        ended > request.known_ended() || (!position_only && s.log_seq > request.after_log_seq());
    const auto now = std::chrono::steady_clock::now();
    if (news || all == 0 || now >= deadline || s.stopping.load() || stop()) break;
    s.changed.WaitUntil(s.mutex, std::min(deadline, now + std::chrono::milliseconds(200)));
  }
  v1::WatchReply reply;
  for (const auto& [key, process] : s.table.all()) {
    if (SameAttempt(*process, request.job(), request.attempt())) {
      *reply.add_processes() = process->Describe();
    }
  }
  reply.set_log_seq(s.log_seq);
  if (position_only) return reply;
  const uint64_t first = s.log_seq - s.log.size();  // number of the line before log[0]
  // A watcher that is ahead has seen an earlier life of this service: it gets all.
  const uint64_t after = request.after_log_seq() > s.log_seq ? 0 : request.after_log_seq();
  for (size_t i = 0; i < s.log.size(); ++i) {
    if (first + i + 1 > after) *reply.add_log() = s.log[i];
  }
  return reply;
}

v1::KillReply LaunchService::Kill(const v1::KillRequest& request) {
  State& s = *state_;
  const auto grace = std::chrono::nanoseconds(std::min<uint64_t>(request.grace_ns(), kMaxWaitNs));
  v1::KillReply reply;
  const util::MutexLock lock(s.mutex);
  for (const int sig : {SIGTERM, SIGKILL}) {
    for (const auto& [key, process] : s.table.all()) {
      if (!process->info.running() || !SameAttempt(*process, request.job(), request.attempt())) {
        continue;
      }
      if (sig == SIGTERM) reply.set_killed(reply.killed() + 1);
      s.Signal(*process, sig);
    }
    const auto wait = sig == SIGTERM ? grace : std::chrono::nanoseconds(10'000'000'000);
    reply.set_all_dead(s.WaitDead(
        [&](const Process& p) { return SameAttempt(p, request.job(), request.attempt()); },
        std::chrono::steady_clock::now() + wait));
    if (reply.all_dead()) break;
  }
  return reply;
}

std::vector<std::string> LaunchService::Describe() {
  const util::MutexLock lock(state_->mutex);
  std::vector<std::string> out;
  for (const auto& [key, process] : state_->table.all()) {
    if (!process->info.running()) continue;
    out.push_back(util::StrCat(process->info.job(), "/", process->info.attempt(), "/",
                               process->info.rank(), " pid ", process->info.pid()));
  }
  return out;
}

void LaunchService::Stop() {
  State& s = *state_;
  {
    const util::MutexLock lock(s.mutex);
    for (const auto& [key, process] : s.table.all()) s.Signal(*process, SIGKILL);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (s.table.Running() > 0 && !s.stopping.load()) {
      if (!s.changed.WaitUntil(s.mutex, deadline)) break;
    }
    s.stopping.store(true);
    s.changed.NotifyAll();
  }
  s.Wake();
  s.minder.Join();
}

bool LaunchService::Handles(const net::ServerRequest& request) const {
  return request.path == "/aistation/v1/launch" || request.path == "/aistation/v1/watch" ||
         request.path == "/aistation/v1/kill";
}

absl::Status LaunchService::Handle(const net::ServerRequest& request, net::Responder& responder) {
  constexpr const char* kType = "application/x-protobuf";
  if (request.method != "POST") {
    return util::InvalidArgument("net.method", util::StrCat(request.path, ": expected POST"));
  }
  if (request.path == "/aistation/v1/launch") {
    AIST_ASSIGN_OR_RETURN(
        const auto message,
        wire::Parse<v1::LaunchRequest>(wire::Format::kProtobuf, request.body, "launch request"));
    AIST_ASSIGN_OR_RETURN(const auto info, Launch(message));
    return responder.Send(200, kType, wire::Serialize(info));
  }
  if (request.path == "/aistation/v1/watch") {
    AIST_ASSIGN_OR_RETURN(
        const auto message,
        wire::Parse<v1::WatchRequest>(wire::Format::kProtobuf, request.body, "watch request"));
    return responder.Send(200, kType,
                          wire::Serialize(Watch(message, [&] { return responder.stopping(); })));
  }
  AIST_ASSIGN_OR_RETURN(
      const auto message,
      wire::Parse<v1::KillRequest>(wire::Format::kProtobuf, request.body, "kill request"));
  return responder.Send(200, kType, wire::Serialize(Kill(message)));
}

}  // namespace aistation::job
