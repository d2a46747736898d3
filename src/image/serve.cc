// SPDX-License-Identifier: Apache-2.0
// What a node hands on of its images: the read-only distribution API, and OCI layouts.
#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "image/image_service.h"
#include "security/digest.h"
#include "util/file.h"
#include "util/json_writer.h"
#include "util/strings.h"

namespace aistation::image {
namespace {

// "/v2/<name>/manifests/<selector>".
bool SplitManifestPath(std::string_view path, std::string* name, std::string* selector) {
  if (path.substr(0, 4) != "/v2/") return false;
  const size_t at = path.rfind("/manifests/");
  if (at == std::string_view::npos || at <= 4) return false;
  *name = std::string(path.substr(4, at - 4));
  *selector = std::string(path.substr(at + 11));
  return !selector->empty() && selector->find('/') == std::string::npos;
}

absl::Status LinkOrCopy(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0 || errno == EEXIST) return absl::OkStatus();
  // Another file system, or one without hard links.
  AIST_ASSIGN_OR_RETURN(const util::Fd in, util::OpenFile(from, O_RDONLY));
  AIST_ASSIGN_OR_RETURN(const util::Fd out, util::OpenFile(to, O_WRONLY | O_CREAT | O_TRUNC));
  std::string piece(1u << 20, '\0');
  for (uint64_t at = 0;;) {
    AIST_ASSIGN_OR_RETURN(const size_t got,
                          util::PreadFull(in.get(), piece.data(), piece.size(), at, from));
    AIST_RETURN_IF_ERROR(util::PwriteAll(out.get(), std::string_view(piece.data(), got), at, to));
    at += got;
    if (got < piece.size()) break;
  }
  if (fsync(out.get()) != 0) return util::ErrnoError(errno, "image.export", to);
  return absl::OkStatus();
}

}  // namespace

absl::Status ImageService::WriteLayout(const v1::Image& image, const std::string& directory) {
  AIST_ASSIGN_OR_RETURN(const Manifest manifest, LocalManifest(image.digest()));
  auto& store = options_.engine->store();
  std::vector<std::string> digests = {image.digest(), manifest.config.digest};
  for (const auto& layer : manifest.layers) digests.push_back(layer.digest);
  for (const auto& text : digests) {
    AIST_ASSIGN_OR_RETURN(const security::Digest digest, security::ParseDigest(text));
    const std::string from = store.PathOf(text);
    if (from.empty()) {
      return util::NotFound("image.blob", util::StrCat(image.reference(), ": blob ", text,
                                                       " was evicted; pull the image again"));
    }
    const std::string folder = util::StrCat(directory, "/blobs/", digest.algorithm);
    AIST_RETURN_IF_ERROR(util::MakeDirectories(folder, 0755));
    AIST_RETURN_IF_ERROR(LinkOrCopy(from, util::JoinPath(folder, digest.hex)));
  }
  AIST_RETURN_IF_ERROR(util::WriteFileDurably(directory + "/oci-layout",
                                              "{\"imageLayoutVersion\":\"1.0.0\"}", 0644));
  AIST_ASSIGN_OR_RETURN(const auto info, store.Info(image.digest()));
  const size_t colon = image.reference().rfind(':');
  const size_t slash = image.reference().rfind('/');
  util::JsonWriter w;
  w.BeginObject();
  w.Field("schemaVersion", 2);
  w.Field("mediaType", "application/vnd.oci.image.index.v1+json");
  w.Key("manifests");
  w.BeginArray();
  w.BeginObject();
  w.Field("mediaType", manifest.media_type);
  w.Field("digest", image.digest());
  w.Field("size", info.size);
  w.Key("annotations");
  w.BeginObject();
  w.Field("org.opencontainers.image.ref.name", colon != std::string::npos && colon > slash
                                                   ? image.reference().substr(colon + 1)
                                                   : std::string("latest"));
  w.EndObject();
  w.EndObject();
  w.EndArray();
  w.EndObject();
  // Last: a layout without its index is not one.
  return util::WriteFileDurably(directory + "/index.json", w.Take(), 0644);
}

bool ImageService::Handles(const net::ServerRequest& request) const {
  std::string name, selector;
  return request.path == "/v2/" || request.path == "/v2" ||
         SplitManifestPath(request.path, &name, &selector);
}

absl::Status ImageService::ServeManifest(const std::string& name, const std::string& selector,
                                         net::Responder& responder) {
  std::string digest;
  {
    const util::MutexLock lock(mutex_);
    AIST_ASSIGN_OR_RETURN(const auto records, Records());
    for (const auto& record : records) {
      const auto reference = ParseReference(record.reference());
      if (!reference.ok() || reference->repository != name) continue;
      if (reference->tag == selector || record.digest() == selector) digest = record.digest();
    }
  }
  // An index, asked for by its digest, is an object of its own.
  if (digest.empty() && selector.find(':') != std::string::npos) digest = selector;
  auto& store = options_.engine->store();
  const auto info = digest.empty() ? absl::StatusOr<transfer::ObjectInfo>(util::NotFound("", ""))
                                   : store.Info(digest);
  if (!info.ok() || !info->complete || info->size > kMaxManifestBytes) {
    return responder.Send(404, "application/json",
                          "{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\","
                          "\"message\":\"this node does not have the image\"}]}");
  }
  AIST_ASSIGN_OR_RETURN(const std::string bytes, store.Read(digest, 0, info->size));
  const auto manifest = ParseManifest(bytes, digest);
  if (!manifest.ok()) {
    return util::NotFound("image.not_here", util::StrCat(digest, " is not a manifest"));
  }
  return responder.Send(200, manifest->media_type, bytes, {{"Docker-Content-Digest", digest}});
}

absl::Status ImageService::Handle(const net::ServerRequest& request, net::Responder& responder) {
  if (request.method != "GET" && request.method != "HEAD") {
    return util::Error(absl::StatusCode::kUnimplemented, "image.read_only",
                       "this registry is a read-only mirror");
  }
  std::string name, selector;
  if (!SplitManifestPath(request.path, &name, &selector)) {
    return responder.Send(200, "application/json", "{}",
                          {{"Docker-Distribution-Api-Version", "registry/2.0"}});
  }
  return ServeManifest(name, selector, responder);
}

}  // namespace aistation::image
