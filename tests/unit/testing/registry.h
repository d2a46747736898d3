// SPDX-License-Identifier: Apache-2.0
// A registry of the OCI distribution API in this process: one image, counts bytes, may lie or ask
// for credentials.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "net/http_server.h"
#include "security/digest.h"
#include "util/strings.h"

namespace aistation::testing {

class FakeRegistry {
 public:
  explicit FakeRegistry(std::shared_ptr<security::TlsIdentity> identity = nullptr) {
    (void)identity;
    auto started =
        net::HttpServer::Start({}, [this](const auto& q, auto& r) { return Handle(q, r); });
    if (!started.ok()) abort();
    server_ = std::move(*started);
  }
  ~FakeRegistry() { server_->Stop(); }
  std::string host() const { return util::StrCat("127.0.0.1:", server_->port()); }

  // An image of these layers under repository:tag; the digest of its manifest.
  std::string Add(const std::string& repository, const std::string& tag,
                  const std::vector<std::string>& layers, bool in_index = false) {
    const auto put = [this](const std::string& bytes) {
      blobs_[security::Sha256Digest(bytes)] = bytes;
      return security::Sha256Digest(bytes);
    };
    const std::string config = "{\"architecture\":\"amd64\",\"os\":\"linux\"}";
    std::string manifest = util::StrCat(
        R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":")",
        put(config), "\",\"size\":", config.size(), "},\"layers\":[");
    for (size_t i = 0; i < layers.size(); ++i) {
      util::StrAppend(&manifest, i == 0 ? "" : ",",
                      R"({"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":")",
                      put(layers[i]), "\",\"size\":", layers[i].size(), "}");
    }
    manifest += "]}";
    const std::string digest = security::Sha256Digest(manifest);
    manifests_[repository + "@" + digest] = manifest;
    if (!in_index) {
      manifests_[repository + "@" + tag] = manifest;
      return digest;
    }
    const std::string index = util::StrCat(
        R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[)",
        R"({"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":")", digest,
        "\",\"size\":", manifest.size(), R"(,"platform":{"os":"linux","architecture":"amd64"}},)",
        R"({"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:)",
        std::string(64, 'b'), R"(","size":5,"platform":{"os":"linux","architecture":"arm64"}}]})");
    manifests_[repository + "@" + tag] = index;
    manifests_[repository + "@" + security::Sha256Digest(index)] = index;
    return digest;
  }
  uint64_t TotalBytes() const {
    uint64_t n = 0;
    for (const auto& [digest, bytes] : blobs_) n += bytes.size();
    return n;
  }

  std::atomic<uint64_t> blob_bytes{0};
  std::atomic<int> manifest_requests{0};
  std::atomic<bool> corrupt_blobs{false};
  std::atomic<bool> corrupt_manifests{false};
  std::string basic;   // "user:password" when asked for
  std::string bearer;  // token when asked for; got at /token with `basic`

 private:
  absl::Status Handle(const net::ServerRequest& request, net::Responder& responder) {
    const std::string authorization(net::FindHeader(request.headers, "authorization"));
    if (request.path == "/token") {
      if (!basic.empty() && authorization != "Basic " + util::Base64Encode(basic))
        return responder.Send(401, "text/plain", "");
      return responder.Send(200, "application/json", "{\"token\":\"" + bearer + "\"}");
    }
    if (!bearer.empty() && authorization != "Bearer " + bearer) {
      return responder.Send(401, "application/json", "{}",
                            {{"WWW-Authenticate",
                              util::StrCat("Bearer realm=\"http://", host(),
                                           "/token\",service=\"r\",scope=\"repository:x:pull\"")}});
    }
    if (bearer.empty() && !basic.empty() && authorization != "Basic " + util::Base64Encode(basic)) {
      return responder.Send(401, "application/json", "{}",
                            {{"WWW-Authenticate", "Basic realm=\"r\""}});
    }
    const size_t manifests = request.path.find("/manifests/");
    if (manifests != std::string::npos) {
      ++manifest_requests;
      const auto it = manifests_.find(request.path.substr(4, manifests - 4) + "@" +
                                      request.path.substr(manifests + 11));
      if (it == manifests_.end()) return responder.Send(404, "application/json", "{}");
      std::string bytes = it->second;
      if (corrupt_manifests) bytes += " ";
      return responder.Send(200, "application/vnd.oci.image.manifest.v1+json", bytes,
                            {{"Docker-Content-Digest", security::Sha256Digest(it->second)}});
    }
    const size_t blobs = request.path.find("/blobs/");
    const auto it =
        blobs == std::string::npos ? blobs_.end() : blobs_.find(request.path.substr(blobs + 7));
    if (it == blobs_.end()) return responder.Send(404, "application/json", "{}");
    const auto range =
        net::ParseRange(net::FindHeader(request.headers, "range"), it->second.size());
    if (!range.ok()) return range.status();
    const net::ByteRange span = range->value_or(net::ByteRange{0, it->second.size()});
    std::string bytes = it->second.substr(span.offset, span.length);
    if (corrupt_blobs && !bytes.empty()) bytes[0] = static_cast<char>(bytes[0] ^ 1);
    blob_bytes += bytes.size();
    net::Headers headers;
    if (range->has_value()) {
      headers.emplace_back("Content-Range",
                           util::StrCat("bytes ", span.offset, "-", span.offset + span.length - 1,
                                        "/", it->second.size()));
    }
    return responder.Send(range->has_value() ? 206 : 200, "application/octet-stream", bytes,
                          headers);
  }

  std::map<std::string, std::string> blobs_;
  std::map<std::string, std::string> manifests_;  // "repository@tag or digest"
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace aistation::testing
