// SPDX-License-Identifier: Apache-2.0
// Proof that every end point of a job reaches every other: real connections from NIC address to NIC
// address. Without verbs it is done by TCP and UDP, and the result says so.
#pragma once

#include <memory>

#include "aistation/v1/roce.pb.h"
#include "net/http_client.h"
#include "security/tls.h"
#include "transfer/remote_op.h"
#include "util/log.h"
#include "util/op.h"

namespace aistation::roce {

// The side on each node. Methods "probe-listen", "probe-connect", "probe-close". Listeners echo
// short messages that carry the secret of their probe, and go after a minute.
class ProbeService {
 public:
  explicit ProbeService(util::Logger log);
  ~ProbeService();
  void Register(transfer::RemoteOps& ops);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Asks each node, over mutual TLS, to open listeners on its NIC addresses, then to connect from
// each of them to all others. At most 1,024 end points. An address that cannot be reached is a
// result, not an error; a node that cannot be asked is one too.
absl::StatusOr<v1::ProbeMatrix> Probe(net::HttpClient& client,
                                      const std::shared_ptr<security::TlsIdentity>& identity,
                                      const v1::ProbeRequest& request, util::OpControl& control);

}  // namespace aistation::roce
