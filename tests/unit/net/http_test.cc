// SPDX-License-Identifier: Apache-2.0
// Client and server on loopback.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "net/http_client.h"
#include "net/http_server.h"
#include "net/rate_limiter.h"
#include "unit/testing/certificates.h"
#include "unit/testing/matchers.h"
#include "util/clock.h"
#include "util/strings.h"

namespace aistation::net {
namespace {

using testing::CertificateAuthority;

std::unique_ptr<HttpServer> Serve(ServerOptions options, Handler handler) {
  auto server = HttpServer::Start(options, std::move(handler));
  EXPECT_OK(server);
  return std::move(*server);
}

absl::Status Echo(const ServerRequest& request, Responder& responder) {
  return responder.Send(200, "text/plain",
                        util::StrCat(request.method, " ", request.path, " ", request.Query("q"),
                                     " ", request.body, " ", util::Join(request.peer_names, ",")));
}

HttpRequest To(const HttpServer& server, std::string path, bool tls = false) {
  HttpRequest request;
  request.url = util::StrCat(tls ? "https" : "http", "://127.0.0.1:", server.port(), path);
  request.use_proxy = false;
  return request;
}

// What a server answers to raw bytes; waits until it closes.
std::string Raw(uint16_t port, const std::string& bytes, bool close_after = false) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  if (close_after) shutdown(fd, SHUT_WR);
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;)
    out.append(buffer, static_cast<size_t>(n));
  close(fd);
  return out;
}

TEST(Http, RequestAndResponse) {
  const auto server = Serve({}, Echo);
  HttpClient client;
  util::OpControl control;
  HttpRequest request = To(*server, "/a%20b?q=x%2Fy");
  request.method = "POST";
  request.body = "body";
  const auto response = client.Fetch(request, control);
  ASSERT_OK(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "POST /a b x/y body ");
  EXPECT_EQ(FindHeader(response->headers, "CONTENT-TYPE"), "text/plain");
}

TEST(Http, ErrorsOfHandlersCrossTheWire) {
  const auto server = Serve({}, [](const ServerRequest&, Responder&) {
    return util::Error(absl::StatusCode::kAborted, "a.b", "try again");
  });
  HttpClient client;
  util::OpControl control;
  const auto response = client.Fetch(To(*server, "/"), control);
  ASSERT_OK(response);
  const absl::Status error = ErrorFromResponse(*response, "peer x");
  EXPECT_TRUE(absl::IsAborted(error));
  EXPECT_EQ(util::Reason(error), "a.b");
  EXPECT_THAT(util::Message(error), ::testing::HasSubstr("try again"));
}

TEST(Http, MutualTlsTellsWhoAsks) {
  CertificateAuthority ca;
  ServerOptions options;
  options.identity = ca.Identity("server");
  const auto server = Serve(options, Echo);
  HttpClient client;
  util::OpControl control;
  HttpRequest request = To(*server, "/", true);
  request.identity = ca.Identity("alice", "127.0.0.9");
  request.peer_name = "server";
  const auto response = client.Fetch(request, control);
  ASSERT_OK(response);
  EXPECT_THAT(response->body, ::testing::HasSubstr("alice"));
  request.peer_name = "somebody-else";
  EXPECT_REASON(client.Fetch(request, control), "net.tls", "");
}

TEST(Http, StrangersAndPlainClientsAreRefused) {
  CertificateAuthority ca;
  CertificateAuthority other("other");
  ServerOptions options;
  options.identity = ca.Identity("server");
  std::atomic<int> handled{0};
  const auto server = Serve(options, [&](const ServerRequest& q, Responder& r) {
    ++handled;
    return Echo(q, r);
  });
  HttpClient client;
  util::OpControl control;
  HttpRequest request = To(*server, "/", true);
  request.peer_name = "server";
  request.identity = other.Identity("alice");
  EXPECT_FALSE(client.Fetch(request, control).ok());
  request.identity = nullptr;
  request.ca_file = ca.ca_file();
  EXPECT_FALSE(client.Fetch(request, control).ok()) << "no certificate at all";
  EXPECT_EQ(Raw(server->port(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n").find("HTTP/1.1 200"),
            std::string::npos);
  EXPECT_EQ(handled.load(), 0);
}

TEST(Http, BodiesAreBounded) {
  ServerOptions options;
  options.max_body_bytes = 100;
  const auto server = Serve(options, [](const ServerRequest& q, Responder& r) {
    return r.Send(200, "text/plain", q.path == "/large" ? std::string(5000, 'x') : q.body);
  });
  HttpClient client;
  util::OpControl control;
  HttpRequest request = To(*server, "/");
  request.method = "POST";
  request.body = std::string(101, 'x');
  const auto refused = client.Fetch(request, control);
  EXPECT_TRUE(!refused.ok() || refused->status == 413) << refused->status;
  request = To(*server, "/large");
  request.max_body_bytes = 4999;
  const auto large = client.Fetch(request, control);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Http, BadRequestsDoNotReachTheHandler) {
  ServerOptions options;
  options.head_timeout_ns = 300'000'000;
  std::atomic<int> handled{0};
  const auto server = Serve(options, [&](const ServerRequest& q, Responder& r) {
    ++handled;
    return Echo(q, r);
  });
  for (const std::string& bad :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(40'000, 'a') + "\r\n\r\n",
        std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n")}) {
    EXPECT_EQ(Raw(server->port(), bad).find(" 200 "), std::string::npos) << bad.substr(0, 30);
  }
  const int64_t start = util::RealClock().MonotonicNanos();
  EXPECT_EQ(Raw(server->port(), "GET / HT").find(" 200 "), std::string::npos)
      << "a head that never ends";
  EXPECT_LT(util::RealClock().MonotonicNanos() - start, 5'000'000'000);
  EXPECT_EQ(handled.load(), 0);
}

TEST(Http, CancelEndsAWait) {
  const auto server = Serve({}, [](const ServerRequest&, Responder& r) {
    while (!r.stopping()) util::RealClock().SleepNanos(5'000'000);
    return absl::CancelledError("");
  });
  HttpClient client;
  util::OpControl control;
  std::thread canceller([&] {
    util::RealClock().SleepNanos(50'000'000);
    control.Cancel();
  });
  EXPECT_TRUE(absl::IsCancelled(client.Fetch(To(*server, "/"), control).status()));
  canceller.join();
}

TEST(Http, NobodyThere) {
  auto server = Serve({}, Echo);
  const HttpRequest request = To(*server, "/");
  server->Stop();
  HttpClient client;
  util::OpControl control;
  EXPECT_REASON(client.Fetch(request, control), "net.connect", "127.0.0.1");
}

TEST(Http, RedirectsLoseCredentials) {
  std::string seen = "unset";
  const auto target = Serve({}, [&seen](const ServerRequest& q, Responder& r) {
    seen = std::string(FindHeader(q.headers, "authorization"));
    return r.Send(200, "text/plain", "there");
  });
  const auto first = Serve({}, [&](const ServerRequest&, Responder& r) {
    return r.Send(307, "text/plain", "",
                  {{"Location", util::StrCat("http://localhost:", target->port(), "/x")}});
  });
  HttpClient client;
  util::OpControl control;
  HttpRequest request = To(*first, "/");
  request.bearer_token = "secret";
  request.max_redirects = 2;
  const auto response = client.Fetch(request, control);
  ASSERT_OK(response);
  EXPECT_EQ(response->body, "there");
  EXPECT_EQ(seen, "");
}

TEST(Http, StoppingEndsConnections) {
  auto server = Serve({}, Echo);
  HttpClient client;
  util::OpControl control;
  ASSERT_OK(client.Fetch(To(*server, "/"), control));  // kept alive
  const int64_t start = util::RealClock().MonotonicNanos();
  server->Stop();
  EXPECT_LT(util::RealClock().MonotonicNanos() - start, 3'000'000'000);
}

TEST(Range, Parse) {
  EXPECT_FALSE((*ParseRange("", 10)).has_value());
  EXPECT_FALSE((*ParseRange("bytes=1-2,4-5", 10)).has_value());
  EXPECT_FALSE((*ParseRange("lines=1-2", 10)).has_value());
  const auto is = [](std::string_view header, uint64_t size, uint64_t offset, uint64_t length) {
    const auto range = ParseRange(header, size);
    ASSERT_OK(range);
    ASSERT_TRUE(range->has_value()) << header;
    EXPECT_EQ((*range)->offset, offset) << header;
    EXPECT_EQ((*range)->length, length) << header;
  };
  is("bytes=0-0", 10, 0, 1);
  is("bytes=3-", 10, 3, 7);
  is("bytes=-4", 10, 6, 4);
  is("bytes=-40", 10, 0, 10);
  is("bytes=2-99", 10, 2, 8);
  EXPECT_EQ(ParseRange("bytes=10-", 10).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ParseRange("bytes=0-", 0).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(Url, Parse) {
  const auto url = ParseUrl("https://[::1]:8443/a?b=c");
  ASSERT_OK(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/a?b=c");
  EXPECT_EQ(ParseUrl("http://h")->path, "/");
  for (const char* bad :
       {"", "h/x", "ftp://h/", "http://", "http://h:99999/", "http://u:p@h/", "http://h /"}) {
    EXPECT_FALSE(ParseUrl(bad).ok()) << bad;
  }
  EXPECT_EQ(PercentEncodePath("a b/\xc3\xa9%"), "a%20b/%C3%A9%25");
  EXPECT_EQ(*PercentDecode("a%20b"), "a b");
  EXPECT_FALSE(PercentDecode("%2").ok());
}

TEST(RateLimiter, BooksTime) {
  RateLimiter limiter(1000);
  const int64_t start = 1'000'000'000'000;
  EXPECT_EQ(limiter.Reserve(50, start), 0);
  EXPECT_EQ(limiter.Reserve(1000, start), 0) << "the first 50 ms are a burst";
  EXPECT_EQ(limiter.Reserve(1, start), 1'000'000'000);
  EXPECT_EQ(RateLimiter(0).Reserve(1u << 30, start), 0);
}

}  // namespace
}  // namespace aistation::net
