// SPDX-License-Identifier: Apache-2.0
// One image to many nodes: the side that serves and the side that asks.
#pragma once

#include <memory>
#include <vector>

#include "aistation/v1/image.pb.h"
#include "image/image_service.h"
#include "transfer/remote_op.h"

namespace aistation::image {

// Methods "image-resolve" and "image-pull".
void Register(transfer::RemoteOps& ops, ImageService& service);

// The first member resolves the tag; then all pull that digest. Results in the order of the
// members.
absl::StatusOr<std::vector<v1::ImageResult>> Distribute(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    const v1::ImagePullRequest& request, util::OpControl& control);

}  // namespace aistation::image
