// SPDX-License-Identifier: Apache-2.0
// A node from a command line: what `agent` and `aistation serve` have in common.
#pragma once

#include <vector>

#include "common/aist.hpp"
#include "common/args.h"

namespace examples {

// --tls-ca, --tls-cert, --tls-key, --allowed-peers
std::vector<Option> TlsOptions();
// From the options or AISTATION_TLS_CA, _CERT, _KEY; null when none of them is set.
aist::Tls LoadTls(aist_context* context, const Args& args);

// --name, --data, --listen, --port, --mirror, …
std::vector<Option> NodeOptions();
aist::Node StartNode(aist_context* context, aist_tls* tls, const Args& args);

// A context that logs to stderr: `level` "debug", "info", "warning", "error", "none".
aist::Context MakeContext(const std::string& name, const std::string& level);

// SIGINT and SIGTERM become bytes in a pipe, so that they can be polled for.
class Signals {
 public:
  Signals();
  int fd() const { return fd_; }
  // Takes what has come; 0: nothing. Waits up to `timeout_ms`, -1: without limit.
  int Next(int timeout_ms) const;

 private:
  int fd_ = -1;
};

}  // namespace examples
