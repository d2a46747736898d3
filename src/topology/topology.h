// SPDX-License-Identifier: Apache-2.0
// One machine, immutable, as every reader yields it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aistation/v1/inventory.pb.h"
#include "util/status.h"

namespace aistation::topology {

struct DistanceInfo {
  v1::LinkClass link = v1::LINK_CLASS_UNKNOWN;
  uint64_t bandwidth_mbps = 0;
};

// Thread-safe, immutable.
class Topology {
 public:
  explicit Topology(v1::NodeInventory node);
  const v1::NodeInventory& node() const { return node_; }
  // Devices by id or PCI address. NOT_FOUND `topology.no_device`.
  absl::StatusOr<DistanceInfo> Distance(std::string_view a, std::string_view b) const;

 private:
  v1::NodeInventory node_;
};

enum class SourceKind { kGuess = 0, kLive = 1, kHwlocXml = 2, kNcclXml = 3, kJson = 4 };

// `path`: the file, or for kLive the root that holds sys/ ("" is "/").
absl::StatusOr<std::shared_ptr<Topology>> Load(SourceKind kind, const std::string& path);
// Pure parsers; `source` names the input in errors.
absl::StatusOr<v1::NodeInventory> ParseHwlocXml(std::string_view text, std::string_view source);
absl::StatusOr<v1::NodeInventory> ParseNcclXml(std::string_view text, std::string_view source);

}  // namespace aistation::topology
