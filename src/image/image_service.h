// SPDX-License-Identifier: Apache-2.0
// Images on one node: pulled with the other members, listed, pinned, exported, served.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aistation/v1/image.pb.h"
#include "image/manifest.h"
#include "image/registry_client.h"
#include "net/http_server.h"
#include "transfer/engine.h"
#include "util/mutex.h"

namespace aistation::image {

struct ImageOptions {
  std::string directory;  // of the node; images/ and layouts/ are below it
  std::string self;       // name of this node
  std::shared_ptr<transfer::Engine> engine;
  std::shared_ptr<net::HttpClient> client;
  std::shared_ptr<security::TlsIdentity> identity;
  RegistryConfig registries;
  uint64_t chunk_bytes = 4u << 20;
  util::Logger log;
};

// Thread-safe.
class ImageService {
 public:
  static absl::StatusOr<std::unique_ptr<ImageService>> Open(ImageOptions options);

  // Digest of the manifest of the request's platform. A tag is asked at the registry; what is known
  // by its digest is looked for here, then at the members, then at the registry.
  absl::StatusOr<std::string> Resolve(const v1::ImagePullRequest& request,
                                      util::OpControl& control);
  // All blobs, then the record of the image. With a job named, also an OCI layout for its
  // processes.
  absl::StatusOr<v1::ImageResult> Pull(const v1::ImagePullRequest& request,
                                       util::OpControl& control);
  // Images whose blobs are all here.
  absl::StatusOr<v1::ImageList> List();
  absl::Status Pin(std::string_view reference, bool on);
  // OCI layout; blobs are hard links where the file system allows. Replaces nothing.
  absl::Status Export(std::string_view reference, const std::string& directory);

  // OCI distribution API, read only: /v2/, manifests; blobs are the engine's.
  bool Handles(const net::ServerRequest& request) const;
  absl::Status Handle(const net::ServerRequest& request, net::Responder& responder);

 private:
  explicit ImageService(ImageOptions options) : options_(std::move(options)) {}
  absl::StatusOr<std::string> ManifestBytes(const Reference& reference, const std::string& selector,
                                            const v1::ImagePullRequest& request,
                                            std::string* digest, util::OpControl& control);
  absl::StatusOr<Manifest> LocalManifest(const std::string& digest);
  absl::Status FetchBlobs(const Reference& reference, const Manifest& manifest,
                          const v1::ImagePullRequest& request, v1::ImageResult* result,
                          util::OpControl& control);
  absl::StatusOr<v1::Image> Find(std::string_view reference);
  absl::StatusOr<std::vector<v1::Image>> Records();
  absl::Status SetPins(const v1::Image& image, bool on);
  absl::Status WriteLayout(const v1::Image& image, const std::string& directory);
  absl::Status ServeManifest(const std::string& name, const std::string& selector,
                             net::Responder& responder);

  const ImageOptions options_;
  util::Mutex mutex_;  // of the records on disk
};

}  // namespace aistation::image
