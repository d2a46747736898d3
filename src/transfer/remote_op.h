// SPDX-License-Identifier: Apache-2.0
// Long operations on other nodes: POST starts one and answers with its id, a long poll tells the
// progress and in the end the result, DELETE cancels. Bodies are protobuf messages.
//   POST   /aistation/v1/ops/<method>      -> {"id": ...}
//   GET    /aistation/v1/ops/<id>?wait_ms= -> 200 {"done","total","phase"} | 200 result with
//          header Aistation-Done: 1 | an error as net::ErrorFromResponse() reads it
//   DELETE /aistation/v1/ops/<id>
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aistation/v1/transfer.pb.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "util/op.h"

namespace aistation::transfer {

// Server side. Thread-safe. At most 1,000 operations; ended ones are kept for 10 minutes.
class RemoteOps {
 public:
  // Serialized request in, serialized result out.
  using Method = std::function<absl::StatusOr<std::string>(
      const net::ServerRequest& peer, std::string_view request, util::OpControl& control)>;

  explicit RemoteOps(util::Executor& executor);
  ~RemoteOps();                                    // cancels all
  void Register(std::string name, Method method);  // before the server starts
  bool Handles(const net::ServerRequest& request) const;
  absl::Status Handle(const net::ServerRequest& request, net::Responder& responder);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Client side: calls `method` on each member with its request, waits for all, sums the progress.
// The first failure cancels the others unless `keep_going`; each result stands at its member's
// index.
std::vector<absl::StatusOr<std::string>> CallAll(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    std::span<const v1::Member> members, std::string_view method,
    std::span<const std::string> requests, bool keep_going, util::OpControl& control);

// A short call: POST `path` with `body`, at most 8 MiB back.
absl::StatusOr<std::string> CallOne(net::HttpClient& client,
                                    const std::shared_ptr<security::TlsIdentity>& identity,
                                    const v1::Member& member, std::string_view path,
                                    std::string_view body, int64_t timeout_ns,
                                    util::OpControl& control);

}  // namespace aistation::transfer
