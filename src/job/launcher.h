// SPDX-License-Identifier: Apache-2.0
// How the manager of a job starts, watches and ends its processes.
#pragma once

#include <memory>

#include "aistation/v1/job.pb.h"
#include "job/launch_service.h"
#include "net/http_client.h"
#include "security/tls.h"
#include "util/op.h"

namespace aistation::job {

// Thread-safe.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual absl::StatusOr<v1::ProcessInfo> Launch(const v1::Member& node,
                                                 const v1::LaunchRequest& request,
                                                 util::OpControl& control) = 0;
  virtual absl::StatusOr<v1::WatchReply> Watch(const v1::Member& node,
                                               const v1::WatchRequest& request,
                                               util::OpControl& control) = 0;
  virtual absl::StatusOr<v1::KillReply> Kill(const v1::Member& node, const v1::KillRequest& request,
                                             util::OpControl& control) = 0;
};

// The launch services of the nodes, over mutual TLS.
std::unique_ptr<Launcher> MakeRemoteLauncher(std::shared_ptr<net::HttpClient> client,
                                             std::shared_ptr<security::TlsIdentity> identity);
// One service in this process, whatever the node is called.
std::unique_ptr<Launcher> MakeLocalLauncher(std::shared_ptr<LaunchService> service);

}  // namespace aistation::job
