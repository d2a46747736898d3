// SPDX-License-Identifier: Apache-2.0
#include "image/distribute.h"

#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::image {

void Register(transfer::RemoteOps& ops, ImageService& service) {
  ops.Register("image-resolve",
               [&service](const net::ServerRequest&, std::string_view bytes,
                          util::OpControl& control) -> absl::StatusOr<std::string> {
                 AIST_ASSIGN_OR_RETURN(const auto request,
                                       wire::Parse<v1::ImagePullRequest>(wire::Format::kProtobuf,
                                                                         bytes, "image request"));
                 return service.Resolve(request, control);
               });
  ops.Register("image-pull",
               [&service](const net::ServerRequest&, std::string_view bytes,
                          util::OpControl& control) -> absl::StatusOr<std::string> {
                 AIST_ASSIGN_OR_RETURN(const auto request,
                                       wire::Parse<v1::ImagePullRequest>(wire::Format::kProtobuf,
                                                                         bytes, "image request"));
                 AIST_ASSIGN_OR_RETURN(const auto result, service.Pull(request, control));
                 return wire::Serialize(result);
               });
}

absl::StatusOr<std::vector<v1::ImageResult>> Distribute(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    const v1::ImagePullRequest& request, util::OpControl& control) {
  if (request.members().empty() || request.members_size() > 10'000) {
    return util::InvalidArgument("image.members", "members: expected 1 to 10,000 nodes");
  }
  const std::vector<v1::Member> members(request.members().begin(), request.members().end());
  AIST_ASSIGN_OR_RETURN(Reference reference, ParseReference(request.reference()));
  const std::string resolve = wire::Serialize(request);
  auto resolved = transfer::CallAll(client, identity, std::span(members).first(1), "image-resolve",
                                    std::span(&resolve, 1), false, control);
  if (!resolved[0].ok()) return resolved[0].status();
  v1::ImagePullRequest exact = request;
  reference.digest = *resolved[0];
  exact.set_reference(reference.ToString());
  const std::string pull = wire::Serialize(exact);
  auto results = transfer::CallAll(client, identity, members, "image-pull", std::span(&pull, 1),
                                   false, control);
  std::vector<v1::ImageResult> out;
  absl::Status failure;
  for (auto& result : results) {
    if (!result.ok()) {
      // The first real error, not the cancellation that it caused.
      if (failure.ok() || failure.code() == absl::StatusCode::kCancelled) failure = result.status();
      continue;
    }
    AIST_ASSIGN_OR_RETURN(
        out.emplace_back(),
        wire::Parse<v1::ImageResult>(wire::Format::kProtobuf, *result, "image result"));
  }
  AIST_RETURN_IF_ERROR(control.Check());
  if (!failure.ok()) return failure;
  return out;
}

}  // namespace aistation::image
