// SPDX-License-Identifier: Apache-2.0
#include "image/manifest.h"

#include "security/digest.h"
#include "util/strings.h"
#include "wire/json_reader.h"

namespace aistation::image {
namespace {

using wire::Json;

constexpr size_t kMaxLayers = 1000;
constexpr uint64_t kMaxBlob = uint64_t{4} << 40;

absl::Status Bad(std::string_view source, std::string_view field, std::string_view expected) {
  return util::InvalidArgument("image.manifest",
                               util::StrCat(source, ": ", field, ": expected ", expected));
}

std::string Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

absl::StatusOr<Descriptor> ReadDescriptor(const Json& json, std::string_view source,
                                          const std::string& field) {
  if (!json.is_object()) return Bad(source, field, "an object with digest and size");
  Descriptor d;
  d.media_type = Text(json, "mediaType");
  const auto digest = security::ParseDigest(Text(json, "digest"));
  if (!digest.ok()) return Bad(source, field + ".digest", "sha256: and 64 hexadecimal digits");
  d.digest = digest->ToString();
  const auto size = json.find("size");
  if (size == json.end() || !size->is_number_unsigned() || size->get<uint64_t>() > kMaxBlob) {
    return Bad(source, field + ".size", "a number of bytes up to 4 TiB");
  }
  d.size = size->get<uint64_t>();
  if (const auto platform = json.find("platform");
      platform != json.end() && platform->is_object()) {
    d.platform = util::StrCat(Text(*platform, "os"), "/", Text(*platform, "architecture"));
    if (const std::string variant = Text(*platform, "variant"); !variant.empty()) {
      util::StrAppend(&d.platform, "/", variant);
    }
  }
  return d;
}

absl::Status ReadList(const Json& json, const char* key, std::string_view source,
                      std::vector<Descriptor>* out) {
  const auto list = json.find(key);
  if (list == json.end() || !list->is_array() || list->size() > kMaxLayers) {
    return Bad(source, key, "an array of at most 1,000 descriptors");
  }
  for (size_t i = 0; i < list->size(); ++i) {
    AIST_ASSIGN_OR_RETURN(Descriptor d,
                          ReadDescriptor((*list)[i], source, util::StrCat(key, "[", i, "]")));
    out->push_back(std::move(d));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Manifest> ParseManifest(std::string_view text, std::string_view source) {
  if (text.size() > kMaxManifestBytes) return Bad(source, "size", "at most 4 MiB");
  AIST_ASSIGN_OR_RETURN(const Json json, wire::ParseJson(text, source));
  if (!json.is_object()) return Bad(source, "document", "a JSON object");
  const auto version = json.find("schemaVersion");
  if (version == json.end() || *version != 2) {
    return Bad(source, "schemaVersion", "2; older manifests are not supported");
  }
  Manifest manifest;
  manifest.media_type = Text(json, "mediaType");
  manifest.is_index = json.contains("manifests");
  if (manifest.is_index && (json.contains("layers") || json.contains("config"))) {
    return Bad(source, "document", "either manifests or config and layers, not both");
  }
  if (manifest.is_index) {
    if (manifest.media_type.empty())
      manifest.media_type = "application/vnd.oci.image.index.v1+json";
    AIST_RETURN_IF_ERROR(ReadList(json, "manifests", source, &manifest.children));
    return manifest;
  }
  if (manifest.media_type.empty()) {
    manifest.media_type = "application/vnd.oci.image.manifest.v1+json";
  }
  if (!json.contains("config")) return Bad(source, "config", "a descriptor");
  AIST_ASSIGN_OR_RETURN(manifest.config, ReadDescriptor(json["config"], source, "config"));
  AIST_RETURN_IF_ERROR(ReadList(json, "layers", source, &manifest.layers));
  return manifest;
}

absl::StatusOr<Descriptor> PickPlatform(const Manifest& index, std::string_view platform,
                                        std::string_view source) {
  const std::string wanted(platform.empty() ? "linux/amd64" : platform);
  std::string known;
  for (const auto& child : index.children) {
    if (child.platform == wanted || child.platform.starts_with(wanted + "/")) return child;
    if (child.platform.empty() || child.platform.starts_with("unknown/")) continue;
    util::StrAppend(&known, known.empty() ? "" : ", ", child.platform);
  }
  return util::NotFound("image.platform",
                        util::StrCat(source, ": no image for ", wanted, "; there is ",
                                     known.empty() ? "none" : known));
}

}  // namespace aistation::image
