// SPDX-License-Identifier: Apache-2.0
#include "image/registry_client.h"

#include "image/manifest.h"
#include "security/digest.h"
#include "util/file.h"
#include "util/strings.h"
#include "wire/json_reader.h"

namespace aistation::image {
namespace {

constexpr size_t kMaxChallenge = 8192;
constexpr int kRedirects = 5;  // registries send blobs from object storage

std::string KeyOf(const Reference& reference) {
  return util::StrCat(reference.registry, "/", reference.repository);
}

absl::Status StatusError(const net::HttpResponse& response, const std::string& what) {
  const std::string shown = util::StrCat(what, ": HTTP status ", response.status, " ",
                                         util::Excerpt(util::ToValidUtf8(response.body), 200));
  if (response.status == 404) return util::NotFound("image.not_found", shown);
  if (response.status == 401 || response.status == 403) {
    return util::Error(absl::StatusCode::kUnauthenticated, "image.credentials",
                       shown + "; check username and password_file of this registry");
  }
  if (response.status == 429 || response.status >= 500) {
    return util::Unavailable("image.registry", shown);
  }
  return util::Error(absl::StatusCode::kUnknown, "image.registry", shown);
}

}  // namespace

Challenge ParseChallenge(std::string_view header) {
  Challenge challenge;
  if (header.size() > kMaxChallenge) return challenge;
  header = util::Trim(header);
  const size_t blank = header.find(' ');
  const std::string scheme = util::AsciiLower(header.substr(0, blank));
  if (scheme != "bearer" && scheme != "basic") return challenge;
  challenge.scheme = scheme;
  std::string_view rest = blank == std::string_view::npos ? "" : header.substr(blank + 1);
  while (!rest.empty()) {
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) break;
    const std::string key = util::AsciiLower(util::Trim(rest.substr(0, equals)));
    rest = rest.substr(equals + 1);
    std::string value;
    if (!rest.empty() && rest[0] == '"') {
      size_t i = 1;
      for (; i < rest.size() && rest[i] != '"'; ++i) {
        if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
        value += rest[i];
      }
      rest = i < rest.size() ? rest.substr(i + 1) : "";
    } else {
      const size_t comma = rest.find(',');
      value = std::string(util::Trim(rest.substr(0, comma)));
      rest = comma == std::string_view::npos ? "" : rest.substr(comma);
    }
    if (key == "realm") challenge.realm = value;
    if (key == "service") challenge.service = value;
    if (key == "scope") challenge.scope = value;
    while (!rest.empty() && (rest[0] == ',' || rest[0] == ' ')) rest.remove_prefix(1);
  }
  return challenge;
}

RegistryAccess RegistryClient::AccessOf(const std::string& registry) const {
  const auto found = config_.find(registry);
  return found == config_.end() ? RegistryAccess{} : found->second;
}

absl::StatusOr<std::string> RegistryClient::Password(const RegistryAccess& access) const {
  auto content = util::ReadFile(access.password_file, 64 << 10);
  if (!content.ok()) return util::Annotate(content.status(), "password_file");
  while (!content->empty() && (content->back() == '\n' || content->back() == '\r')) {
    content->pop_back();
  }
  return content;
}

absl::StatusOr<net::HttpRequest> RegistryClient::MakeRequest(const Reference& reference,
                                                             std::string_view path) {
  const RegistryAccess access = AccessOf(reference.registry);
  net::HttpRequest request;
  request.url = util::StrCat(access.plain_http ? "http" : "https", "://", reference.registry,
                             "/v2/", net::PercentEncodePath(reference.repository), path);
  request.ca_file = access.ca_file;
  request.max_redirects = kRedirects;
  const util::MutexLock lock(mutex_);
  if (const auto found = credentials_.find(KeyOf(reference)); found != credentials_.end()) {
    request.bearer_token = found->second.bearer;
    request.user_password = found->second.basic;
  }
  return request;
}

absl::Status RegistryClient::Authenticate(const Reference& reference, const Challenge& challenge,
                                          net::HttpRequest* request, util::OpControl& control) {
  const RegistryAccess access = AccessOf(reference.registry);
  std::string basic;
  if (!access.username.empty()) {
    AIST_ASSIGN_OR_RETURN(const std::string password, Password(access));
    basic = util::StrCat(access.username, ":", password);
  }
  Credentials fresh;
  if (challenge.scheme == "basic") {
    fresh.basic = basic;
  } else {
    net::HttpRequest token_request;
    const std::string scope = challenge.scope.empty()
                                  ? util::StrCat("repository:", reference.repository, ":pull")
                                  : challenge.scope;
    token_request.url =
        util::StrCat(challenge.realm, challenge.realm.find('?') == std::string::npos ? "?" : "&",
                     "service=", net::PercentEncodePath(challenge.service),
                     "&scope=", net::PercentEncodePath(scope));
    token_request.ca_file = access.ca_file;
    token_request.user_password = basic;
    token_request.max_body_bytes = 1u << 20;
    if (!basic.empty() && !access.plain_http && challenge.realm.substr(0, 8) != "https://") {
      return util::FailedPrecondition(
          "image.realm",
          util::StrCat(reference.registry, ": sends passwords to ", util::Excerpt(challenge.realm),
                       ", which is not https; refused"));
    }
    AIST_ASSIGN_OR_RETURN(const auto response, client_->Fetch(token_request, control));
    if (response.status != 200) {
      return StatusError(response, util::StrCat("token for ", KeyOf(reference)));
    }
    AIST_ASSIGN_OR_RETURN(const wire::Json json, wire::ParseJson(response.body, "token answer"));
    for (const char* key : {"token", "access_token"}) {
      if (json.is_object() && json.contains(key) && json[key].is_string()) {
        fresh.bearer = json[key].get<std::string>();
        break;
      }
    }
    if (fresh.bearer.empty()) {
      return util::InvalidArgument(
          "image.token", util::StrCat("token for ", KeyOf(reference), ": no token in the answer"));
    }
  }
  request->bearer_token = fresh.bearer;
  request->user_password = fresh.basic;
  const util::MutexLock lock(mutex_);
  credentials_[KeyOf(reference)] = fresh;
  return absl::OkStatus();
}

absl::StatusOr<net::HttpResponse> RegistryClient::Send(const Reference& reference,
                                                       net::HttpRequest request,
                                                       const net::HeadSink& on_head,
                                                       const net::BodySink& on_body,
                                                       util::OpControl& control) {
  for (int attempt = 0;; ++attempt) {
    bool refused = false;
    std::string refusal;
    auto response = client_->Stream(
        request,
        [&](const net::HttpResponse& head) -> absl::Status {
          refused = head.status >= 400;
          return refused ? absl::OkStatus() : on_head(head);
        },
        [&](std::string_view bytes) -> absl::Status {
          if (!refused) return on_body(bytes);
          if (refusal.size() < 1024) refusal.append(bytes.substr(0, 1024));
          return absl::OkStatus();
        },
        control);
    if (!response.ok() || response->status != 401 || attempt > 0) {
      if (response.ok() && refused) response->body = refusal;
      return response;
    }
    const Challenge challenge =
        ParseChallenge(net::FindHeader(response->headers, "WWW-Authenticate"));
    if (challenge.scheme.empty()) return response;
    AIST_RETURN_IF_ERROR(Authenticate(reference, challenge, &request, control));
  }
}

absl::StatusOr<FetchedManifest> RegistryClient::GetManifest(const Reference& reference,
                                                            const std::string& selector,
                                                            util::OpControl& control) {
  AIST_ASSIGN_OR_RETURN(auto request,
                        MakeRequest(reference, util::StrCat("/manifests/", selector)));
  request.headers.emplace_back("Accept", kAccept);
  request.max_body_bytes = kMaxManifestBytes;
  std::string body;
  AIST_ASSIGN_OR_RETURN(
      const auto response,
      Send(
          reference, request, [](const net::HttpResponse&) { return absl::OkStatus(); },
          [&body](std::string_view bytes) {
            body.append(bytes);
            return absl::OkStatus();
          },
          control));
  const std::string what = util::StrCat("manifest ", KeyOf(reference), " ", selector);
  if (response.status != 200) return StatusError(response, what);
  FetchedManifest manifest;
  manifest.media_type = std::string(net::FindHeader(response.headers, "Content-Type"));
  manifest.digest = security::Sha256Digest(body);
  const std::string_view said = net::FindHeader(response.headers, "Docker-Content-Digest");
  const std::string_view wanted = selector.find(':') != std::string::npos ? selector : said;
  if (wanted.substr(0, 7) == "sha256:" && wanted != manifest.digest) {
    return util::DataLoss("image.digest", util::StrCat(what, ": the bytes have the digest ",
                                                       manifest.digest, ", expected ", wanted));
  }
  manifest.bytes = std::move(body);
  return manifest;
}

absl::Status RegistryClient::ReadBlob(const Reference& reference, const std::string& digest,
                                      uint64_t offset, uint64_t length,
                                      const std::function<absl::Status(std::string_view)>& sink,
                                      util::OpControl& control) {
  if (length == 0) return absl::OkStatus();
  AIST_ASSIGN_OR_RETURN(auto request, MakeRequest(reference, util::StrCat("/blobs/", digest)));
  request.headers.emplace_back("Range", util::StrCat("bytes=", offset, "-", offset + length - 1));
  request.max_body_bytes = 0;
  const std::string what = util::StrCat("blob ", KeyOf(reference), "@", digest);
  uint64_t skip = 0;
  uint64_t left = length;
  AIST_ASSIGN_OR_RETURN(const auto response,
                        Send(
                            reference, request,
                            [&](const net::HttpResponse& head) -> absl::Status {
                              if (head.status == 206) return absl::OkStatus();
                              if (head.status != 200) return StatusError(head, what);
                              skip = offset;  // a registry without ranges sends all of it
                              return absl::OkStatus();
                            },
                            [&](std::string_view bytes) -> absl::Status {
                              const uint64_t drop = std::min<uint64_t>(skip, bytes.size());
                              skip -= drop;
                              bytes.remove_prefix(drop);
                              bytes = bytes.substr(0, left);
                              left -= bytes.size();
                              return bytes.empty() ? absl::OkStatus() : sink(bytes);
                            },
                            control));
  if (response.status >= 400) return StatusError(response, what);
  if (left != 0) {
    return util::Unavailable("image.short", util::StrCat(what, ": ", left, " bytes are missing"));
  }
  return absl::OkStatus();
}

}  // namespace aistation::image
