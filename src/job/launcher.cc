// SPDX-License-Identifier: Apache-2.0
#include "job/launcher.h"

#include "transfer/remote_op.h"
#include "wire/wire.h"

namespace aistation::job {
namespace {

constexpr int64_t kCallNs = 30'000'000'000;

class RemoteLauncher final : public Launcher {
 public:
  RemoteLauncher(std::shared_ptr<net::HttpClient> client,
                 std::shared_ptr<security::TlsIdentity> identity)
      : client_(std::move(client)), identity_(std::move(identity)) {}

  absl::StatusOr<v1::ProcessInfo> Launch(const v1::Member& node, const v1::LaunchRequest& request,
                                         util::OpControl& control) override {
    return Call<v1::ProcessInfo>(node, "/aistation/v1/launch", request, kCallNs, control);
  }
  absl::StatusOr<v1::WatchReply> Watch(const v1::Member& node, const v1::WatchRequest& request,
                                       util::OpControl& control) override {
    return Call<v1::WatchReply>(node, "/aistation/v1/watch", request,
                                static_cast<int64_t>(request.wait_ns()) + 10'000'000'000, control);
  }
  absl::StatusOr<v1::KillReply> Kill(const v1::Member& node, const v1::KillRequest& request,
                                     util::OpControl& control) override {
    return Call<v1::KillReply>(node, "/aistation/v1/kill", request,
                               static_cast<int64_t>(request.grace_ns()) + 20'000'000'000, control);
  }

 private:
  template <class Reply, class Request>
  absl::StatusOr<Reply> Call(const v1::Member& node, const char* path, const Request& request,
                             int64_t timeout_ns, util::OpControl& control) {
    AIST_ASSIGN_OR_RETURN(const std::string body,
                          transfer::CallOne(*client_, identity_, node, path,
                                            wire::Serialize(request), timeout_ns, control));
    return wire::Parse<Reply>(wire::Format::kProtobuf, body, "reply of a node");
  }

  const std::shared_ptr<net::HttpClient> client_;
  const std::shared_ptr<security::TlsIdentity> identity_;
};

class LocalLauncher final : public Launcher {
 public:
  explicit LocalLauncher(std::shared_ptr<LaunchService> service) : service_(std::move(service)) {}
  absl::StatusOr<v1::ProcessInfo> Launch(const v1::Member&, const v1::LaunchRequest& request,
                                         util::OpControl&) override {
    return service_->Launch(request);
  }
  absl::StatusOr<v1::WatchReply> Watch(const v1::Member&, const v1::WatchRequest& request,
                                       util::OpControl& control) override {
    return service_->Watch(request, [&] { return !control.Check().ok(); });
  }
  absl::StatusOr<v1::KillReply> Kill(const v1::Member&, const v1::KillRequest& request,
                                     util::OpControl&) override {
    return service_->Kill(request);
  }

 private:
  const std::shared_ptr<LaunchService> service_;
};

}  // namespace

std::unique_ptr<Launcher> MakeRemoteLauncher(std::shared_ptr<net::HttpClient> client,
                                             std::shared_ptr<security::TlsIdentity> identity) {
  return std::make_unique<RemoteLauncher>(std::move(client), std::move(identity));
}
std::unique_ptr<Launcher> MakeLocalLauncher(std::shared_ptr<LaunchService> service) {
  return std::make_unique<LocalLauncher>(std::move(service));
}

}  // namespace aistation::job
