// SPDX-License-Identifier: Apache-2.0
#include "transfer/peer.h"

#include "net/http_server.h"
#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "util/strings.h"

namespace aistation::transfer {

std::string PeerUrl(const v1::Member& member, std::string_view path) {
  const bool v6 = member.address().find(':') != std::string::npos;
  return util::StrCat("https://", v6 ? "[" : "", member.address(), v6 ? "]" : "", ":",
                      member.port(), path);
}

net::HttpRequest PeerRequest(const v1::Member& member, std::string_view path,
                             const std::shared_ptr<security::TlsIdentity>& identity) {
  net::HttpRequest request;
  request.url = PeerUrl(member, path);
  request.identity = identity;
  request.peer_name = member.node();
  request.use_proxy = false;
  request.connect_timeout_ns = 10'000'000'000;  // a full link delays handshakes
  return request;
}

absl::StatusOr<PeerChunk> FetchChunk(net::HttpClient& client,
                                     const std::shared_ptr<security::TlsIdentity>& identity,
                                     const v1::Member& member, std::string_view object,
                                     uint64_t chunk, uint64_t length, int wait_ms,
                                     util::OpControl& control) {
  auto request = PeerRequest(
      member, util::StrCat("/aistation/v1/chunks/", object, "/", chunk, "?wait_ms=", wait_ms),
      identity);
  request.max_body_bytes = std::max<uint64_t>(length, 64u << 10);
  request.idle_timeout_ns = int64_t{wait_ms} * 1'000'000 + 10'000'000'000;
  AIST_ASSIGN_OR_RETURN(auto response, client.Fetch(request, control));
  if (response.status != 200) {
    return net::ErrorFromResponse(response, util::StrCat("chunk from ", member.node()));
  }
  PeerChunk result;
  const auto digest = util::HexDecode(net::FindHeader(response.headers, "Aistation-Sha256"));
  if (response.body.size() != length || !digest.has_value() ||
      security::Sha256(response.body) != *digest) {
    return util::DataLoss("transfer.bad_peer",
                          util::StrCat(member.node(), " sent chunk ", chunk, " of ", object,
                                       " with bytes that are not what it says"));
  }
  result.bytes = std::move(response.body);
  result.sha256 = *digest;
  return result;
}

absl::StatusOr<v1::ChunkDigests> FetchDigests(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    const v1::Member& member, std::string_view object, util::OpControl& control) {
  auto request = PeerRequest(member, util::StrCat("/aistation/v1/chunks/", object), identity);
  request.idle_timeout_ns = 10'000'000'000;
  AIST_ASSIGN_OR_RETURN(auto response, client.Fetch(request, control));
  const std::string what = util::StrCat("chunks of ", object, " at ", member.node());
  if (response.status != 200) return net::ErrorFromResponse(response, what);
  v1::ChunkDigests digests;
  if (!digests.ParseFromString(response.body) || digests.chunk_bytes() < kMinChunkBytes ||
      digests.chunk_bytes() > kMaxChunkBytes ||
      digests.sha256().size() !=
          ChunkCount(digests.size_bytes(), digests.chunk_bytes()) * security::kSha256Size) {
    return util::DataLoss("transfer.bad_peer", util::StrCat(what, ": not an answer of its kind"));
  }
  return digests;
}

}  // namespace aistation::transfer
