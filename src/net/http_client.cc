// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <curl/curl.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <mutex>

#include "util/clock.h"
#include "util/mutex.h"
#include "util/strings.h"

namespace aistation::net {
namespace {

constexpr size_t kMaxIdle = 64;
constexpr size_t kMaxHeaders = 200;
constexpr size_t kMaxHeaderBytes = 64u << 10;

// One easy handle in its own multi handle, which keeps its connections open.
struct Channel {
  std::string key;  // identity and trust that its connections were made with
  CURL* easy = curl_easy_init();
  CURLM* multi = curl_multi_init();
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
};

// Everything one request needs while libcurl calls back.
struct Exchange {
  const HttpRequest* request = nullptr;
  const HeadSink* on_head = nullptr;
  const BodySink* on_body = nullptr;
  HttpResponse response;
  absl::Status error;
  bool head_given = false;
  size_t header_bytes = 0;
  uint64_t body_bytes = 0;
  int64_t last_byte_ns = 0;
  std::shared_ptr<SSL_CTX> identity;
  CURL* easy = nullptr;
};

absl::Status GiveHead(Exchange& x) {
  if (x.head_given) return absl::OkStatus();
  x.head_given = true;
  long status = 0;
  curl_easy_getinfo(x.easy, CURLINFO_RESPONSE_CODE, &status);
  x.response.status = static_cast<int>(status);
  return x.on_head != nullptr && *x.on_head ? (*x.on_head)(x.response) : absl::OkStatus();
}

size_t OnHeader(char* data, size_t one, size_t size, void* user) {
  auto& x = *static_cast<Exchange*>(user);
  const std::string_view line(data, one * size);
  x.last_byte_ns = util::RealClock().MonotonicNanos();
  if (line.substr(0, 5) == "HTTP/") {  // a new head: after 100 Continue or a redirect
    x.response.headers.clear();
    return line.size();
  }
  x.header_bytes += line.size();
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    if (x.response.headers.size() >= kMaxHeaders || x.header_bytes > kMaxHeaderBytes) {
      x.error = util::Error(absl::StatusCode::kResourceExhausted, "net.headers",
                            util::StrCat(x.request->url, ": too many response headers"));
      return 0;
    }
    x.response.headers.emplace_back(std::string(util::Trim(line.substr(0, colon))),
                                    std::string(util::Trim(line.substr(colon + 1))));
  }
  return line.size();
}

size_t OnBody(char* data, size_t one, size_t size, void* user) {
  auto& x = *static_cast<Exchange*>(user);
  const std::string_view bytes(data, one * size);
  x.last_byte_ns = util::RealClock().MonotonicNanos();
  try {
    x.error = GiveHead(x);
    if (!x.error.ok()) return 0;
    x.body_bytes += bytes.size();
    if (x.request->max_body_bytes != 0 && x.body_bytes > x.request->max_body_bytes) {
      x.error = util::Error(absl::StatusCode::kResourceExhausted, "net.body_size",
                            util::StrCat(x.request->url, ": the answer has more than ",
                                         x.request->max_body_bytes, " bytes"));
      return 0;
    }
    x.error = (*x.on_body)(bytes);
  } catch (const std::exception&) {
    x.error = util::Internal("net.sink", util::StrCat(x.request->url, ": out of memory"));
  }
  return x.error.ok() ? bytes.size() : 0;
}

CURLcode OnSslContext(CURL*, void* raw, void* user) {
  auto* context = static_cast<SSL_CTX*>(raw);
  SSL_CTX* own = static_cast<Exchange*>(user)->identity.get();
  SSL_CTX_set1_cert_store(context, SSL_CTX_get_cert_store(own));
  if (X509* certificate = SSL_CTX_get0_certificate(own)) {
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get0_chain_certs(own, &chain);
    if (SSL_CTX_use_cert_and_key(context, certificate, SSL_CTX_get0_privatekey(own), chain, 1) !=
        1) {
      return CURLE_SSL_CERTPROBLEM;
    }
  }
  return CURLE_OK;
}

bool IsLoopback(std::string_view host) {
  return host.substr(0, 4) == "127." || host == "localhost" || host == "::1";
}

std::string HostText(std::string_view host) {
  return host.find(':') == std::string_view::npos ? std::string(host)
                                                  : util::StrCat("[", host, "]");
}

// Lists that libcurl reads during the transfer.
struct Lists {
  curl_slist* headers = nullptr;
  curl_slist* connect_to = nullptr;
  ~Lists() {
    curl_slist_free_all(headers);
    curl_slist_free_all(connect_to);
  }
};

void SetMethod(CURL* easy, const HttpRequest& request) {
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  const bool with_body = !request.body.empty() || request.method == "POST";
  if (with_body) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method != "GET" && request.method != "POST") {
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

void SetTrust(CURL* easy, const HttpRequest& request, Exchange& x) {
  if (request.identity != nullptr) {
    x.identity = request.identity->client_context();
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, OnSslContext);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &x);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_3));
  } else {
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!request.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
  }
}

void SetCredentials(CURL* easy, const HttpRequest& request) {
  // libcurl sends neither to another host after a redirect (CURLOPT_UNRESTRICTED_AUTH is off).
  if (!request.bearer_token.empty()) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, request.bearer_token.c_str());
  } else if (!request.user_password.empty()) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(easy, CURLOPT_USERPWD, request.user_password.c_str());
  }
}

absl::Status Prepare(const HttpRequest& request, Exchange& x, Lists& lists, char* error_text) {
  AIST_ASSIGN_OR_RETURN(const Url url, ParseUrl(request.url));
  CURL* easy = x.easy;
  curl_easy_reset(easy);  // keeps connections
  std::string target = request.url;
  if (!request.peer_name.empty()) {
    // The certificate is checked against the name, the connection goes to the address.
    const std::string port = util::StrCat(url.port != 0 ? url.port : uint16_t{443});
    target = util::StrCat(url.scheme, "://", request.peer_name, ":", port, url.path);
    lists.connect_to = curl_slist_append(
        nullptr,
        util::StrCat(request.peer_name, ":", port, ":", HostText(url.host), ":", port).c_str());
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, lists.connect_to);
  }
  if (request.identity != nullptr) {
    const std::string& name = request.peer_name.empty() ? url.host : request.peer_name;
    if (!request.identity->PeerAllowed({name})) {
      return util::Error(absl::StatusCode::kPermissionDenied, "net.peer_not_allowed",
                         util::StrCat(name, " is not among the allowed peers of this identity"));
    }
  }
  curl_easy_setopt(easy, CURLOPT_URL, target.c_str());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR,
                   url.scheme == "https" ? "https" : "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, request.max_redirects > 0 ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, static_cast<long>(request.max_redirects));
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<int64_t>(request.connect_timeout_ns / 1'000'000, 1)));
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L << 10);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  if (!request.use_proxy || IsLoopback(url.host)) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  if (request.max_rate_bytes != 0) {
    curl_easy_setopt(easy, CURLOPT_MAX_RECV_SPEED_LARGE,
                     static_cast<curl_off_t>(request.max_rate_bytes));
  }
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &x);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &x);
  lists.headers = curl_slist_append(nullptr, "Expect:");
  for (const auto& [key, value] : request.headers) {
    if (key.find_first_of("\r\n:") != std::string::npos ||
        value.find_first_of("\r\n") != std::string::npos) {
      return util::InvalidArgument("net.header", "request header: line breaks are not allowed");
    }
    lists.headers = curl_slist_append(lists.headers, util::StrCat(key, ": ", value).c_str());
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lists.headers);
  SetMethod(easy, request);
  SetTrust(easy, request, x);
  SetCredentials(easy, request);
  return absl::OkStatus();
}

absl::Status CurlError(CURLcode code, const std::string& url, std::string_view text) {
  const std::string message =
      util::StrCat(url, ": ", text.empty() ? curl_easy_strerror(code) : text);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return util::Error(absl::StatusCode::kUnauthenticated, "net.tls", message);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
      return util::Unavailable("net.connect", message);
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return util::FailedPrecondition("net.redirect", message);
    case CURLE_OUT_OF_MEMORY:
      return util::Error(absl::StatusCode::kResourceExhausted, "net.memory", message);
    default:
      // In TLS 1.3 the refusal of a client certificate comes after the handshake.
      if (text.find("alert") != std::string_view::npos) {
        return util::Error(absl::StatusCode::kUnauthenticated, "net.tls", message);
      }
      return util::Unavailable("net.broken", message);
  }
}

// Drives the transfer until it ends, is cancelled, or stands still for too long.
absl::StatusOr<CURLcode> Drive(Channel& channel, Exchange& x, util::OpControl& control) {
  while (true) {
    int running = 0;
    if (curl_multi_perform(channel.multi, &running) != CURLM_OK) {
      return util::Internal("net.curl", util::StrCat(x.request->url, ": libcurl failed"));
    }
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(channel.multi, &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    AIST_RETURN_IF_ERROR(control.Check());
    const int64_t now = util::RealClock().MonotonicNanos();
    if (now - x.last_byte_ns > x.request->idle_timeout_ns) {
      return util::Unavailable("net.idle",
                               util::StrCat(x.request->url, ": no byte for ",
                                            x.request->idle_timeout_ns / 1'000'000, " ms"));
    }
    const int64_t left_ns =
        std::min({control.deadline_ns() - now, x.request->idle_timeout_ns, int64_t{500'000'000}});
    const int wait_ms = static_cast<int>(std::clamp<int64_t>(left_ns / 1'000'000, 1, 500));
    curl_multi_poll(channel.multi, nullptr, 0, wait_ms, nullptr);
  }
}

}  // namespace

struct HttpClient::State {
  util::Mutex mutex;
  std::vector<std::unique_ptr<Channel>> idle AIST_GUARDED_BY(mutex);

  std::unique_ptr<Channel> Take(const std::string& key) {
    {
      const util::MutexLock lock(mutex);
      for (size_t i = idle.size(); i-- > 0;) {
        if (idle[i]->key != key) continue;
        auto channel = std::move(idle[i]);
        idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(i));
        return channel;
      }
    }
    auto channel = std::make_unique<Channel>();
    channel->key = key;
    if (channel->multi != nullptr) {
      curl_multi_setopt(channel->multi, CURLMOPT_MAXCONNECTS, 4L);
    }
    return channel;
  }

  void Give(std::unique_ptr<Channel> channel) {
    const util::MutexLock lock(mutex);
    if (idle.size() >= kMaxIdle) idle.erase(idle.begin());
    idle.push_back(std::move(channel));
  }
};

HttpClient::HttpClient() : state_(std::make_unique<State>()) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)initialised;
}
HttpClient::~HttpClient() = default;

absl::StatusOr<HttpResponse> HttpClient::Stream(const HttpRequest& request, const HeadSink& on_head,
                                                const BodySink& on_body, util::OpControl& control) {
  AIST_RETURN_IF_ERROR(control.Check());
  const std::string key =
      request.identity != nullptr
          ? util::StrCat(reinterpret_cast<uintptr_t>(request.identity.get()), "/",
                         request.identity->generation(), "/", request.peer_name)
          : util::StrCat("ca:", request.ca_file);
  auto channel = state_->Take(key);
  if (channel->easy == nullptr || channel->multi == nullptr) {
    return util::Error(absl::StatusCode::kResourceExhausted, "net.memory",
                       util::StrCat(request.url, ": no memory for a connection"));
  }
  Exchange x;
  x.request = &request;
  x.on_head = &on_head;
  x.on_body = &on_body;
  x.easy = channel->easy;
  x.last_byte_ns = util::RealClock().MonotonicNanos();
  Lists lists;
  char error_text[CURL_ERROR_SIZE] = {};
  AIST_RETURN_IF_ERROR(Prepare(request, x, lists, error_text));
  curl_multi_add_handle(channel->multi, channel->easy);
  const uint64_t hook = control.OnCancel([multi = channel->multi] { curl_multi_wakeup(multi); });
  auto outcome = Drive(*channel, x, control);
  control.RemoveCancelHook(hook);
  char* final_url = nullptr;
  curl_easy_getinfo(channel->easy, CURLINFO_EFFECTIVE_URL, &final_url);
  if (final_url != nullptr) x.response.final_url = final_url;
  absl::Status status = outcome.ok() ? absl::OkStatus() : outcome.status();
  if (status.ok() && !x.error.ok()) status = x.error;
  if (status.ok() && *outcome != CURLE_OK) status = CurlError(*outcome, request.url, error_text);
  if (status.ok()) status = GiveHead(x);
  // Removing an unfinished transfer closes its connection; a finished one stays for the next.
  curl_multi_remove_handle(channel->multi, channel->easy);
  state_->Give(std::move(channel));
  if (!status.ok()) return status;
  return std::move(x.response);
}

absl::StatusOr<HttpResponse> HttpClient::Fetch(const HttpRequest& request,
                                               util::OpControl& control) {
  std::string body;
  auto response = Stream(
      request, nullptr,
      [&body](std::string_view bytes) {
        body.append(bytes);
        return absl::OkStatus();
      },
      control);
  if (response.ok()) response->body = std::move(body);
  return response;
}

}  // namespace aistation::net
