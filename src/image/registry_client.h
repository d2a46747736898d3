// SPDX-License-Identifier: Apache-2.0
// Client of the OCI distribution API: manifests and ranges of blobs, with basic or bearer
// authentication.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "image/reference.h"
#include "image/registry_config.h"
#include "net/http_client.h"
#include "util/mutex.h"
#include "util/op.h"

namespace aistation::image {

// What a "WWW-Authenticate: Bearer …" or "Basic …" header asks for. Pure.
struct Challenge {
  std::string scheme;  // "bearer", "basic", "" when the header is something else
  std::string realm;
  std::string service;
  std::string scope;
};
Challenge ParseChallenge(std::string_view header);

struct FetchedManifest {
  std::string digest;
  std::string media_type;
  std::string bytes;  // have the digest; checked
};

// Thread-safe.
class RegistryClient {
 public:
  RegistryClient(std::shared_ptr<net::HttpClient> client, RegistryConfig config)
      : client_(std::move(client)), config_(std::move(config)) {}

  // By `selector`: a tag or a digest. NOT_FOUND `image.not_found`; UNAUTHENTICATED
  // `image.credentials`; DATA_LOSS `image.digest`.
  absl::StatusOr<FetchedManifest> GetManifest(const Reference& reference,
                                              const std::string& selector,
                                              util::OpControl& control);
  // Exactly `length` bytes of a blob from `offset`, in order.
  absl::Status ReadBlob(const Reference& reference, const std::string& digest, uint64_t offset,
                        uint64_t length, const std::function<absl::Status(std::string_view)>& sink,
                        util::OpControl& control);

 private:
  RegistryAccess AccessOf(const std::string& registry) const;
  absl::StatusOr<net::HttpRequest> MakeRequest(const Reference& reference, std::string_view path);
  // Sends; when the registry asks for credentials, gets a token or takes the password, and sends
  // once more.
  absl::StatusOr<net::HttpResponse> Send(const Reference& reference, net::HttpRequest request,
                                         const net::HeadSink& on_head, const net::BodySink& on_body,
                                         util::OpControl& control);
  absl::Status Authenticate(const Reference& reference, const Challenge& challenge,
                            net::HttpRequest* request, util::OpControl& control);
  absl::StatusOr<std::string> Password(const RegistryAccess& access) const;

  const std::shared_ptr<net::HttpClient> client_;
  const RegistryConfig config_;
  util::Mutex mutex_;
  // Registry and repository to the credentials that worked last.
  struct Credentials {
    std::string bearer;
    std::string basic;
  };
  std::map<std::string, Credentials> credentials_ AIST_GUARDED_BY(mutex_);
};

}  // namespace aistation::image
