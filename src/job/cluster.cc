// SPDX-License-Identifier: Apache-2.0
#include "job/cluster.h"

#include <stdlib.h>

#include <cerrno>

#include "dataset/cache.h"
#include "dataset/index.h"
#include "image/distribute.h"
#include "net/http_client.h"
#include "roce/probe.h"
#include "util/file.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

class RemoteCluster final : public Cluster {
 public:
  explicit RemoteCluster(std::shared_ptr<security::TlsIdentity> identity)
      : identity_(std::move(identity)),
        client_(std::make_shared<net::HttpClient>()),
        launcher_(MakeRemoteLauncher(client_, identity_)) {}

  Launcher& launcher() override { return *launcher_; }
  bool has_nodes() const override { return true; }

  absl::StatusOr<std::vector<v1::ImageResult>> StageImage(const v1::ImagePullRequest& request,
                                                          util::OpControl& control) override {
    return image::Distribute(*client_, identity_, request, control);
  }

  absl::StatusOr<std::vector<v1::DatasetResult>> StageDataset(
      const v1::JobSpec& spec, const std::string& job, const std::vector<v1::Member>& members,
      const std::string& version, util::OpControl& control) override {
    dataset::IndexOptions options;
    options.name = spec.dataset_name();
    options.source = spec.dataset();
    v1::DatasetCacheRequest request;
    AIST_ASSIGN_OR_RETURN(*request.mutable_manifest(), dataset::Index(options, *client_, control));
    if (!version.empty() && request.manifest().version() != version) {
      return util::InvalidArgument(
          "job.dataset_changed", util::StrCat("dataset ", spec.dataset_name(),
                                              " has changed since the first attempt: ", version,
                                              " then, ", request.manifest().version(),
                                              " now; submit the job again to use the new content"));
    }
    request.set_job(job);
    for (const auto& member : members) *request.add_members() = member;
    return dataset::Distribute(*client_, identity_, request, control);
  }

  absl::StatusOr<v1::ProbeMatrix> Probe(const v1::ProbeRequest& request,
                                        util::OpControl& control) override {
    return roce::Probe(*client_, identity_, request, control);
  }

 private:
  const std::shared_ptr<security::TlsIdentity> identity_;
  const std::shared_ptr<net::HttpClient> client_;
  const std::unique_ptr<Launcher> launcher_;
};

class LocalCluster final : public Cluster {
 public:
  LocalCluster(std::string directory, std::shared_ptr<LaunchService> service)
      : directory_(std::move(directory)),
        service_(std::move(service)),
        launcher_(MakeLocalLauncher(service_)) {}
  ~LocalCluster() override {
    service_->Stop();
    (void)util::RemoveTree(directory_);  // left-overs in the temporary directory harm nobody
  }
  Launcher& launcher() override { return *launcher_; }
  bool has_nodes() const override { return false; }
  absl::StatusOr<std::vector<v1::ImageResult>> StageImage(const v1::ImagePullRequest&,
                                                          util::OpControl&) override {
    return NeedsNodes("image");
  }
  absl::StatusOr<std::vector<v1::DatasetResult>> StageDataset(const v1::JobSpec&,
                                                              const std::string&,
                                                              const std::vector<v1::Member>&,
                                                              const std::string&,
                                                              util::OpControl&) override {
    return NeedsNodes("dataset");
  }
  absl::StatusOr<v1::ProbeMatrix> Probe(const v1::ProbeRequest&, util::OpControl&) override {
    return NeedsNodes("probe");
  }

 private:
  static absl::Status NeedsNodes(std::string_view what) {
    return util::FailedPrecondition("job.needs_nodes",
                                    util::StrCat("a job of local processes has no ", what,
                                                 "; give the manager a TLS identity to use nodes"));
  }
  const std::string directory_;
  const std::shared_ptr<LaunchService> service_;
  const std::unique_ptr<Launcher> launcher_;
};

}  // namespace

std::unique_ptr<Cluster> MakeRemoteCluster(std::shared_ptr<security::TlsIdentity> identity) {
  return std::make_unique<RemoteCluster>(std::move(identity));
}

absl::StatusOr<std::unique_ptr<Cluster>> MakeLocalCluster(util::Logger log) {
  std::string directory = "/tmp/aistation-jobs.XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) {
    return util::ErrnoError(errno, "job.directory", "cannot make a directory in /tmp");
  }
  LaunchOptions options;
  options.node = "local";
  options.work_directory = directory;
  options.allow_launch = true;
  options.log = std::move(log);
  AIST_ASSIGN_OR_RETURN(auto service, LaunchService::Start(std::move(options)));
  return std::unique_ptr<Cluster>(
      new LocalCluster(directory, std::shared_ptr<LaunchService>(std::move(service))));
}

}  // namespace aistation::job
