// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 server for peers (mutual TLS) and for the loopback mirror (plain).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_client.h"
#include "security/tls.h"
#include "util/log.h"
#include "util/status.h"

namespace aistation::net {

struct ServerRequest {
  std::string method;
  std::string path;   // decoded, without the query
  std::string query;  // raw
  Headers headers;
  std::string body;                     // at most ServerOptions.max_body_bytes
  std::vector<std::string> peer_names;  // SANs of the client, empty without TLS
  std::string remote_address;
  // Value of a query parameter, decoded; "" when absent.
  std::string Query(std::string_view name) const;
};

// Writes the response. All calls block until the bytes are taken or the connection fails (then an
// error: stop and return it).
class Responder {
 public:
  virtual ~Responder() = default;
  // Head with Content-Length `content_length`; exactly that many bytes must follow by Write().
  virtual absl::Status Start(int status, const Headers& headers, uint64_t content_length) = 0;
  virtual absl::Status Write(std::string_view bytes) = 0;
  // From a file, with sendfile where the kernel and the connection allow.
  virtual absl::Status WriteFile(int fd, uint64_t offset, uint64_t length) = 0;
  // Complete response.
  absl::Status Send(int status, std::string_view content_type, std::string_view body,
                    Headers headers = {});
  virtual bool started() const = 0;
  // True when the server is stopping: long waits should end.
  virtual bool stopping() const = 0;
};

// Handles one request on the connection's thread. An error before Start() becomes an HTTP error
// with a JSON body {"code","reason","message"}; after Start() it closes the connection.
using Handler = std::function<absl::Status(const ServerRequest& request, Responder& responder)>;

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;                                // 0: any free one
  std::shared_ptr<security::TlsIdentity> identity;  // null: plain HTTP
  uint32_t max_connections = 256;                   // more wait in the listen queue
  uint64_t max_header_bytes = 16 << 10;
  uint64_t max_body_bytes = 8u << 20;
  int64_t head_timeout_ns = 10'000'000'000;  // to send a complete request head
  int64_t io_timeout_ns = 30'000'000'000;    // no progress for this long: closed
  int64_t keep_alive_ns = 60'000'000'000;
  uint64_t max_rate_bytes = 0;  // sum over connections, bytes/s; 0: no limit
  util::Logger log;
};

// A thread per connection (bounded), each driving its own io_context: sequential code with
// time-outs.
class HttpServer {
 public:
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const ServerOptions& options,
                                                           Handler handler);
  ~HttpServer();  // as Stop()
  uint16_t port() const;
  const std::string& address() const;
  // Closes the listener and all connections, joins the threads (handlers see stopping()).
  void Stop();

 private:
  struct State;
  explicit HttpServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// "bytes=a-b", "bytes=a-", "bytes=-n" against `size`; nullopt: no or unusable header (serve all).
// OUT_OF_RANGE (416) when it cannot be satisfied. Several ranges count as unusable.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};
absl::StatusOr<std::optional<ByteRange>> ParseRange(std::string_view header, uint64_t size);

// HTTP status of an error code.
int HttpStatus(absl::StatusCode code);
// The error that an HTTP error response from a peer carries (body of Handler errors).
absl::Status ErrorFromResponse(const HttpResponse& response, std::string_view what);

}  // namespace aistation::net
