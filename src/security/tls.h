// SPDX-License-Identifier: Apache-2.0
// TLS identity: certificates and keys from files, reloadable. All OpenSSL of the product is behind
// this folder (and the TLS streams of net).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/clock.h"
#include "util/status.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace aistation::security {

struct TlsOptions {
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> allowed_peers;  // SAN patterns, "*." as the first label; none: any
};

// Thread-safe. TLS 1.3 only, both ends authenticated.
class TlsIdentity {
 public:
  // Checks: files readable, key not readable by others (mode & 077 == 0), key fits certificate,
  // validity, chain ends at the CA. Errors: see aist_tls_load().
  static absl::StatusOr<std::shared_ptr<TlsIdentity>> Load(const TlsOptions& options,
                                                           util::Clock& clock = util::RealClock());
  ~TlsIdentity();

  // Reads the files again; on an error the old identity stays in use.
  absl::Status Reload();
  // Grows with each Reload(); clients that cache connections drop those of an older one.
  uint64_t generation() const;

  // For connections made from now on: verify peers against the CA, TLS 1.3 only. The shared_ptr
  // keeps it alive across a reload.
  std::shared_ptr<SSL_CTX> server_context() const;  // demands a client certificate
  std::shared_ptr<SSL_CTX> client_context() const;
  const TlsOptions& options() const;

  // Whether a peer with these SAN names (DNS and IP as text) may talk to us.
  bool PeerAllowed(const std::vector<std::string>& names) const;
  std::vector<std::string> names() const;  // own SANs
  std::string DescribeJson() const;        // see aist_tls_describe()

 private:
  struct State;
  explicit TlsIdentity(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// SAN names (DNS and IP) in a PEM certificate; for tests and tools. Bounded input.
absl::StatusOr<std::vector<std::string>> CertificateNames(std::string_view pem);

}  // namespace aistation::security
