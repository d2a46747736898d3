// SPDX-License-Identifier: Apache-2.0
// Requests to other members about chunks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aistation/v1/transfer.pb.h"
#include "net/http_client.h"
#include "security/tls.h"
#include "util/op.h"

namespace aistation::transfer {

// "https://address:port/path".
std::string PeerUrl(const v1::Member& member, std::string_view path);
// A request to a member: mutual TLS, its certificate must carry its name, no proxy.
net::HttpRequest PeerRequest(const v1::Member& member, std::string_view path,
                             const std::shared_ptr<security::TlsIdentity>& identity);

struct PeerChunk {
  std::string bytes;
  std::string sha256;  // as the peer says, and checked: 32 raw bytes
};
// Asks for one chunk; the peer waits up to `wait_ms` for it. DATA_LOSS `transfer.bad_peer` when the
// bytes are not what the peer itself says; NOT_FOUND, DEADLINE_EXCEEDED: not there (yet).
absl::StatusOr<PeerChunk> FetchChunk(net::HttpClient& client,
                                     const std::shared_ptr<security::TlsIdentity>& identity,
                                     const v1::Member& member, std::string_view object,
                                     uint64_t chunk, uint64_t length, int wait_ms,
                                     util::OpControl& control);
absl::StatusOr<v1::ChunkDigests> FetchDigests(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    const v1::Member& member, std::string_view object, util::OpControl& control);

}  // namespace aistation::transfer
