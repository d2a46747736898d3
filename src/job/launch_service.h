// SPDX-License-Identifier: Apache-2.0
// Processes of jobs on this node, and the node's kernel log, for the manager of the job.
//   POST /aistation/v1/launch  LaunchRequest -> ProcessInfo
//   POST /aistation/v1/watch   WatchRequest  -> WatchReply (long poll)
//   POST /aistation/v1/kill    KillRequest   -> KillReply
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aistation/v1/job.pb.h"
#include "net/http_server.h"
#include "util/log.h"
#include "util/status.h"

namespace aistation::job {

struct LaunchOptions {
  std::string node;            // name of this node
  std::string work_directory;  // work/<job>/<attempt> below it
  std::string kernel_log;      // file or /dev/kmsg; "" none
  bool allow_launch = false;
  util::Logger log;
};

// Thread-safe. Each process leads a group of its own and dies with this service (also when this
// process is killed). Output is drained: kept in a file up to 64 MiB, its last lines in memory.
class LaunchService {
 public:
  static absl::StatusOr<std::unique_ptr<LaunchService>> Start(LaunchOptions options);
  ~LaunchService();  // as Stop()

  // The same (job, attempt, rank) again answers with the process that is there. A newer epoch of a
  // job ends what an older one left. PERMISSION_DENIED `job.launch_not_allowed`; ABORTED
  // `job.fenced` an older epoch than known; NOT_FOUND, PERMISSION_DENIED the program.
  absl::StatusOr<v1::ProcessInfo> Launch(const v1::LaunchRequest& request);
  // Waits for log lines or for processes that ended, at most request.wait_ns (bounded by 60 s).
  v1::WatchReply Watch(const v1::WatchRequest& request, const std::function<bool()>& stop);
  // SIGTERM to the groups, SIGKILL after the grace (at most 60 s).
  v1::KillReply Kill(const v1::KillRequest& request);
  std::vector<std::string> Describe();  // "job/attempt/rank pid 12 running"

  bool Handles(const net::ServerRequest& request) const;
  absl::Status Handle(const net::ServerRequest& request, net::Responder& responder);
  void Stop();  // kills all

 private:
  struct State;
  explicit LaunchService(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace aistation::job
