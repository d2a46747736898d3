// SPDX-License-Identifier: Apache-2.0
#include "image/registry_config.h"

#include "util/strings.h"
#include "wire/json_reader.h"

namespace aistation::image {
namespace {

using wire::Json;
using wire::Path;

absl::StatusOr<RegistryAccess> ReadAccess(const Json& json, const Path& path) {
  AIST_RETURN_IF_ERROR(wire::internal::ExpectObject(json, path));
  RegistryAccess access;
  for (const auto& [key, value] : json.items()) {
    const Path field(&path, key);
    absl::Status status;
    if (key == "ca_file") {
      status = wire::internal::ReadString(value, field, &access.ca_file);
    } else if (key == "plain_http") {
      status = wire::internal::ReadBool(value, field, &access.plain_http);
    } else if (key == "username") {
      status = wire::internal::ReadString(value, field, &access.username);
    } else if (key == "password_file") {
      status = wire::internal::ReadString(value, field, &access.password_file);
    } else {
      status =
          wire::internal::UnknownField(path, key, "ca_file, plain_http, username, password_file");
    }
    if (!status.ok()) return status;
  }
  if (access.username.empty() != access.password_file.empty()) {
    return util::InvalidArgument("image.registry_config",
                                 path.ToString() + ": username and password_file belong together");
  }
  return access;
}

}  // namespace

absl::StatusOr<RegistryConfig> ParseRegistryConfig(std::string_view text, std::string_view source) {
  RegistryConfig config;
  if (util::Trim(text).empty()) return config;
  AIST_ASSIGN_OR_RETURN(const Json json, wire::ParseJson(text, source));
  const Path root(nullptr, source);
  AIST_RETURN_IF_ERROR(wire::internal::ExpectObject(json, root));
  for (const auto& [key, value] : json.items()) {
    if (key != "registries") return wire::internal::UnknownField(root, key, "registries");
    const Path registries(&root, key);
    AIST_RETURN_IF_ERROR(wire::internal::ExpectObject(value, registries));
    for (const auto& [host, access] : value.items()) {
      AIST_ASSIGN_OR_RETURN(config[host], ReadAccess(access, Path(&registries, host)));
    }
  }
  return config;
}

}  // namespace aistation::image
