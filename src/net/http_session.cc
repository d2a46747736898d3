// SPDX-License-Identifier: Apache-2.0
#include "net/http_session.h"

#include <openssl/ssl.h>
#include <poll.h>
#include <sys/sendfile.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "security/certificate.h"
#include "util/file.h"
#include "util/json_writer.h"
#include "util/strings.h"

namespace aistation::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr size_t kPiece = 256u << 10;

std::string_view ReasonPhrase(int status) {
  const auto text = http::obsolete_reason(static_cast<http::status>(status));
  return text.empty() ? std::string_view("Status") : std::string_view(text.data(), text.size());
}

std::string_view View(boost::string_view text) { return {text.data(), text.size()}; }

class Session final : public Responder {
 public:
  Session(const ServerOptions& options, const Handler& handler, SessionShared& shared,
          std::string remote)
      : options_(options),
        handler_(handler),
        shared_(shared),
        remote_(std::move(remote)),
        tcp_(io_) {}

  bool Adopt(int fd, bool v6) {
    error_code error;
    tcp_.socket().assign(v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), fd, error);
    return !error;
  }

  void Run() {
    if (options_.identity != nullptr && !Handshake()) return;
    while (!shared_.stopping() && ServeOne()) {
    }
    error_code ignored;
    tcp_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  absl::Status Start(int status, const Headers& headers, uint64_t content_length) override {
    if (started_) return util::Internal("net.respond", "the response was started twice");
    started_ = true;
    left_ = head_only_ ? 0 : content_length;
    std::string head = util::StrCat("HTTP/1.1 ", status, " ", ReasonPhrase(status), "\r\n");
    for (const auto& [key, value] : headers) {
      if (value.find_first_of("\r\n") != std::string::npos) continue;  // no header injection
      util::StrAppend(&head, key, ": ", value, "\r\n");
    }
    if (status != 204 && status != 304) {
      util::StrAppend(&head, "Content-Length: ", content_length, "\r\n");
    }
    util::StrAppend(&head,
                    keep_alive_ ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
    return Put(head);
  }

  absl::Status Write(std::string_view bytes) override {
    if (head_only_) return absl::OkStatus();
    if (bytes.size() > left_) return util::Internal("net.respond", "more bytes than announced");
    left_ -= bytes.size();
    return Put(bytes);
  }

  absl::Status WriteFile(int fd, uint64_t offset, uint64_t length) override {
    if (head_only_) return absl::OkStatus();
    if (length > left_) return util::Internal("net.respond", "more bytes than announced");
    return tls_.has_value() ? CopyFile(fd, offset, length) : SendFile(fd, offset, length);
  }

  bool started() const override { return started_; }
  bool stopping() const override { return shared_.stopping(); }

 private:
  // Runs one asynchronous step to its end: sequential code, with the stream's time-out.
  template <class StartStep>
  error_code Await(int64_t timeout_ns, StartStep&& start) {
    error_code result = asio::error::would_block;
    tcp_.expires_after(std::chrono::nanoseconds(timeout_ns));
    io_.restart();
    start([&result](error_code error, auto&&...) { result = error; });
    io_.run();
    return result;
  }

  // Calls `use` with the stream that carries HTTP.
  template <class Use>
  auto WithStream(Use&& use) {
    return tls_.has_value() ? use(*tls_) : use(tcp_);
  }

  bool Handshake() {
    const auto context = options_.identity->server_context();
    SSL_CTX_up_ref(context.get());
    ssl_.emplace(context.get());  // takes the reference
    tls_.emplace(tcp_, *ssl_);
    const error_code error = Await(options_.head_timeout_ns, [&](auto done) {
      tls_->async_handshake(asio::ssl::stream_base::server, done);
    });
    if (error) {
      options_.log.Info("net", util::StrCat("TLS handshake with ", remote_, ": ", error.message()));
      return false;
    }
    if (X509* peer = SSL_get0_peer_certificate(tls_->native_handle())) {
      names_ = security::NamesOf(peer);
    }
    if (!options_.identity->PeerAllowed(names_)) {
      options_.log.Warning(
          "net", util::StrCat("peer ", remote_, " (", names_.empty() ? "no name" : names_[0],
                              ") is not among the allowed peers"));
      return false;
    }
    return true;
  }

  bool WaitForRequest() {
    if (buffer_.size() > 0) return true;
    size_t received = 0;
    const error_code error = Await(options_.keep_alive_ns, [&](auto done) {
      WithStream([&](auto& stream) {
        stream.async_read_some(buffer_.prepare(4096), [&received, done](error_code e, size_t n) {
          received = n;
          done(e);
        });
      });
    });
    if (error) return false;
    buffer_.commit(received);
    return true;
  }

  bool ReadBody(http::request_parser<http::string_body>& parser) {
    if (View(parser.get()[http::field::expect]) == "100-continue" &&
        !Put("HTTP/1.1 100 Continue\r\n\r\n").ok()) {
      return false;
    }
    // A peer that sends a byte now and then must not hold the connection for ever.
    const int64_t give_up = util::RealClock().MonotonicNanos() + 10 * options_.io_timeout_ns;
    while (!parser.is_done()) {
      const error_code error = Await(options_.io_timeout_ns, [&](auto done) {
        WithStream([&](auto& stream) { http::async_read_some(stream, buffer_, parser, done); });
      });
      if (error == http::error::body_limit) {
        Refuse(413,
               util::StrCat("the request body has more than ", options_.max_body_bytes, " bytes"));
        return false;
      }
      if (error || util::RealClock().MonotonicNanos() > give_up) return false;
    }
    return true;
  }

  // One request and its response. False: close.
  bool ServeOne() {
    started_ = head_only_ = false;
    keep_alive_ = false;
    left_ = 0;
    if (!WaitForRequest()) return false;
    http::request_parser<http::string_body> parser;
    parser.header_limit(static_cast<uint32_t>(options_.max_header_bytes));
    parser.body_limit(options_.max_body_bytes);
    const error_code error = Await(options_.head_timeout_ns, [&](auto done) {
      WithStream([&](auto& stream) { http::async_read_header(stream, buffer_, parser, done); });
    });
    if (error == http::error::header_limit) {
      Refuse(431,
             util::StrCat("the request head has more than ", options_.max_header_bytes, " bytes"));
      return false;
    }
    if (error == http::error::body_limit) {
      Refuse(413,
             util::StrCat("the request body has more than ", options_.max_body_bytes, " bytes"));
      return false;
    }
    if (error) {
      if (error.category() == http::make_error_code(http::error::bad_method).category() &&
          error != http::error::end_of_stream && error != http::error::partial_message) {
        Refuse(400, util::StrCat("not an HTTP/1.1 request: ", error.message()));
      }
      return false;
    }
    if (!ReadBody(parser)) return false;
    return Answer(parser);
  }

  bool Answer(http::request_parser<http::string_body>& parser) {
    auto& message = parser.get();
    ServerRequest request;
    request.method = std::string(View(message.method_string()));
    const std::string_view target = View(message.target());
    const size_t question = target.find('?');
    if (question != std::string_view::npos)
      request.query = std::string(target.substr(question + 1));
    auto path = PercentDecode(target.substr(0, question));
    if (!path.ok() || path->empty() || path->front() != '/') {
      Refuse(400, "the target must be a path with valid percent encoding");
      return false;
    }
    request.path = *std::move(path);
    for (const auto& field : message) {
      request.headers.emplace_back(std::string(View(field.name_string())),
                                   std::string(View(field.value())));
    }
    request.body = std::move(message.body());
    request.peer_names = names_;
    request.remote_address = remote_;
    head_only_ = request.method == "HEAD";
    keep_alive_ = message.keep_alive() && !shared_.stopping();
    absl::Status status = handler_(request, *this);
    if (status.ok() && !started_) {
      status = util::Internal("net.respond", "the handler gave no response");
    }
    if (!status.ok()) {
      if (started_) return false;
      status = SendError(HttpStatus(status.code()), status);
    }
    return status.ok() && left_ == 0 && keep_alive_;
  }

  absl::Status SendError(int http_status, const absl::Status& status) {
    util::JsonWriter w;
    w.BeginObject();
    w.Field("code", static_cast<int32_t>(status.code()));
    w.Field("reason", util::Reason(status));
    w.Field("message", util::Message(status));
    w.EndObject();
    return Send(http_status, "application/json", w.Take());
  }

  void Refuse(int http_status, std::string_view message) {
    keep_alive_ = false;
    (void)SendError(http_status, util::InvalidArgument("net.request", message));
  }

  absl::Status Put(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kPiece);
      if (!shared_.Pace(piece.size())) return Stopped();
      const error_code error = Await(options_.io_timeout_ns, [&](auto done) {
        WithStream([&](auto& stream) {
          asio::async_write(stream, asio::buffer(piece.data(), piece.size()), done);
        });
      });
      if (error) return Lost(error.message());
      bytes.remove_prefix(piece.size());
    }
    return absl::OkStatus();
  }

  absl::Status CopyFile(int fd, uint64_t offset, uint64_t length) {
    std::string piece;
    while (length > 0) {
      piece.resize(std::min<uint64_t>(length, kPiece));
      AIST_ASSIGN_OR_RETURN(const size_t got,
                            util::PreadFull(fd, piece.data(), piece.size(), offset, "served file"));
      if (got != piece.size()) return util::DataLoss("net.file", "the served file became shorter");
      left_ -= got;
      AIST_RETURN_IF_ERROR(Put(piece));
      offset += got;
      length -= got;
    }
    return absl::OkStatus();
  }

  absl::Status SendFile(int fd, uint64_t offset, uint64_t length) {
    const int socket = tcp_.socket().native_handle();
    while (length > 0) {
      const size_t piece = std::min<uint64_t>(length, kPiece);
      if (!shared_.Pace(piece)) return Stopped();
      size_t sent = 0;
      while (sent < piece) {
        off_t position = static_cast<off_t>(offset);
        const ssize_t n = sendfile(socket, fd, &position, piece - sent);
        if (n == 0) return util::DataLoss("net.file", "the served file became shorter");
        if (n < 0) {
          if (errno == EINTR) continue;
          if (errno != EAGAIN) return Lost(util::Message(util::ErrnoError(errno, "", "sendfile")));
          pollfd ready{socket, POLLOUT, 0};
          const int wait_ms = static_cast<int>(options_.io_timeout_ns / 1'000'000);
          if (poll(&ready, 1, wait_ms) == 0) return Lost("no progress");
          continue;
        }
        sent += static_cast<size_t>(n);
        offset += static_cast<uint64_t>(n);
        left_ -= static_cast<uint64_t>(n);
      }
      length -= piece;
    }
    return absl::OkStatus();
  }

  absl::Status Lost(std::string_view why) const {
    return util::Unavailable("net.broken", util::StrCat("connection from ", remote_, ": ", why));
  }
  static absl::Status Stopped() {
    return util::Error(absl::StatusCode::kCancelled, "net.stopping", "the server is stopping");
  }

  const ServerOptions& options_;
  const Handler& handler_;
  SessionShared& shared_;
  const std::string remote_;
  asio::io_context io_{1};
  beast::tcp_stream tcp_;
  std::optional<asio::ssl::context> ssl_;
  std::optional<asio::ssl::stream<beast::tcp_stream&>> tls_;
  beast::flat_buffer buffer_;
  std::vector<std::string> names_;
  bool started_ = false;
  bool head_only_ = false;
  bool keep_alive_ = false;
  uint64_t left_ = 0;
};

}  // namespace

void RunSession(const ServerOptions& options, const Handler& handler, SessionShared& shared, int fd,
                bool v6, const std::string& remote, const std::function<void()>& before_close) {
  struct BeforeClose {
    const std::function<void()>& call;
    ~BeforeClose() { call(); }
  };
  const auto session = std::make_unique<Session>(options, handler, shared, remote);
  if (!session->Adopt(fd, v6)) {
    before_close();
    ::close(fd);
    return;
  }
  const BeforeClose guard{before_close};  // runs before the session and its socket go
  session->Run();
}

}  // namespace aistation::net
