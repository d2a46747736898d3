// SPDX-License-Identifier: Apache-2.0
// How registries are reached: JSON with comments,
//   {"registries": {"registry.bank.example:5000": {"ca_file": "/etc/…", "plain_http": false,
//                   "username": "puller", "password_file": "/run/secrets/…"}}}
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "util/status.h"

namespace aistation::image {

struct RegistryAccess {
  std::string ca_file;
  bool plain_http = false;
  std::string username;
  std::string password_file;  // read when needed; its content never reaches a log or an error
};
using RegistryConfig = std::map<std::string, RegistryAccess>;

// Strict: unknown keys are errors. "" is an empty configuration.
absl::StatusOr<RegistryConfig> ParseRegistryConfig(std::string_view text, std::string_view source);

}  // namespace aistation::image
