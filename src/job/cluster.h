// SPDX-License-Identifier: Apache-2.0
// What the driver of a job needs from the nodes. Implemented over mutual TLS, in this process, and
// by tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aistation/v1/job.pb.h"
#include "job/launcher.h"

namespace aistation::job {

// Thread-safe.
class Cluster {
 public:
  virtual ~Cluster() = default;
  virtual Launcher& launcher() = 0;
  // Results in the order of the members.
  virtual absl::StatusOr<std::vector<v1::ImageResult>> StageImage(
      const v1::ImagePullRequest& request, util::OpControl& control) = 0;
  // Lists the source and caches it. `version`: what an earlier attempt had, "" any;
  // INVALID_ARGUMENT `job.dataset_changed` when it is another one now.
  virtual absl::StatusOr<std::vector<v1::DatasetResult>> StageDataset(
      const v1::JobSpec& spec, const std::string& job, const std::vector<v1::Member>& members,
      const std::string& version, util::OpControl& control) = 0;
  virtual absl::StatusOr<v1::ProbeMatrix> Probe(const v1::ProbeRequest& request,
                                                util::OpControl& control) = 0;
  // False: processes run here, there is nothing to reach.
  virtual bool has_nodes() const = 0;
};

std::unique_ptr<Cluster> MakeRemoteCluster(std::shared_ptr<security::TlsIdentity> identity);
// Processes run below a directory of their own, removed at the end. Images and datasets are
// refused: FAILED_PRECONDITION `job.needs_nodes`.
absl::StatusOr<std::unique_ptr<Cluster>> MakeLocalCluster(util::Logger log);

}  // namespace aistation::job
