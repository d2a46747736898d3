// SPDX-License-Identifier: Apache-2.0
// HTTP client for registries, storage and peers. All libcurl of the product is behind it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "security/tls.h"
#include "util/op.h"
#include "util/status.h"

namespace aistation::net {

using Headers = std::vector<std::pair<std::string, std::string>>;
// First value of a header, compared without case; "" when absent.
std::string_view FindHeader(const Headers& headers, std::string_view name);

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string body;
  // Mutual TLS 1.3 with this identity (peers). `peer_name`: SAN that the server must have, "" =
  // host.
  std::shared_ptr<security::TlsIdentity> identity;
  std::string peer_name;
  std::string ca_file;        // trust for https without identity; "" system trust
  std::string user_password;  // "user:password" for basic auth, sent to this host only
  std::string bearer_token;   // never sent to another host on redirect
  int max_redirects = 0;
  uint64_t max_body_bytes = 64u << 20;  // Fetch: more is RESOURCE_EXHAUSTED. Stream: 0 = no limit
  int64_t connect_timeout_ns = 5'000'000'000;
  int64_t idle_timeout_ns = 30'000'000'000;  // no byte for this long: UNAVAILABLE `net.idle`
  bool use_proxy = true;                     // false for peers
  uint64_t max_rate_bytes = 0;               // bytes/s for this request, 0: no limit
};

struct HttpResponse {
  int status = 0;
  Headers headers;
  std::string body;
  std::string final_url;
};

// Receives body bytes in order; an error stops the transfer and is returned by Stream().
using BodySink = std::function<absl::Status(std::string_view bytes)>;
// Called once before the first body byte; an error stops the transfer.
using HeadSink = std::function<absl::Status(const HttpResponse& head)>;

// Thread-safe; keeps connections open for the next request (also TLS sessions). A response with any
// HTTP status is a success here; not reaching the server is UNAVAILABLE `net.connect`,
// a failed handshake or a name that does not fit UNAUTHENTICATED `net.tls`.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  absl::StatusOr<HttpResponse> Fetch(const HttpRequest& request, util::OpControl& control);
  absl::StatusOr<HttpResponse> Stream(const HttpRequest& request, const HeadSink& on_head,
                                      const BodySink& on_body, util::OpControl& control);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Url {
  std::string scheme, host, path;  // host without brackets; path with query, starts with '/'
  uint16_t port = 0;               // 0: default of the scheme
};
absl::StatusOr<Url> ParseUrl(std::string_view text);   // http, https
std::string PercentEncodePath(std::string_view path);  // keeps '/'
absl::StatusOr<std::string> PercentDecode(std::string_view text);

}  // namespace aistation::net
