// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include "topology/sysfs.h"
#include "util/file.h"
#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::topology {
namespace {

SourceKind Guess(std::string_view text) {
  const std::string_view head = util::Trim(text.substr(0, 4096));
  if (head.starts_with("{")) return SourceKind::kJson;
  return head.find("<system") != std::string_view::npos ? SourceKind::kNcclXml
                                                        : SourceKind::kHwlocXml;
}

}  // namespace

Topology::Topology(v1::NodeInventory node) : node_(std::move(node)) {}

absl::StatusOr<DistanceInfo> Topology::Distance(std::string_view a, std::string_view b) const {
  const auto resolve = [this](std::string_view name) -> std::string {
    for (const auto& card : node_.cards()) {
      if (card.id() == name || card.pci_address() == name) return card.id();
    }
    for (const auto& nic : node_.nics()) {
      if (nic.id() == name || nic.pci_address() == name || nic.netdev() == name) return nic.id();
    }
    return "";
  };
  const std::string from = resolve(a);
  const std::string to = resolve(b);
  for (const auto& [id, name] : {std::pair(&from, a), std::pair(&to, b)}) {
    if (!id->empty()) continue;
    return util::NotFound("topology.no_device",
                          util::StrCat("device ", util::Excerpt(name), " is not in ",
                                       node_.source().empty() ? "this machine" : node_.source(),
                                       "; give the id or the PCI address of a card or NIC"));
  }
  if (from == to) return DistanceInfo{v1::LINK_CLASS_SELF, 0};
  for (const auto& distance : node_.distances()) {
    if ((distance.a() == from && distance.b() == to) ||
        (distance.a() == to && distance.b() == from)) {
      return DistanceInfo{distance.link(), distance.bandwidth_mbps()};
    }
  }
  return DistanceInfo{};
}

absl::StatusOr<std::shared_ptr<Topology>> Load(SourceKind kind, const std::string& path) {
  if (kind == SourceKind::kLive || (kind == SourceKind::kGuess && path.empty())) {
    AIST_ASSIGN_OR_RETURN(auto node, ReadMachine(path, IsCardByClass));
    return std::make_shared<Topology>(std::move(node));
  }
  if (path.empty()) {
    return util::InvalidArgument("topology.path", "the path of the topology file must be given");
  }
  AIST_ASSIGN_OR_RETURN(const std::string text, util::ReadFile(path, 32u << 20));
  if (kind == SourceKind::kGuess) kind = Guess(text);
  absl::StatusOr<v1::NodeInventory> node = v1::NodeInventory();
  if (kind == SourceKind::kHwlocXml) {
    node = ParseHwlocXml(text, path);
  } else if (kind == SourceKind::kNcclXml) {
    node = ParseNcclXml(text, path);
  } else {
    node = wire::FromJson<v1::NodeInventory>(text, path);
  }
  if (!node.ok()) return node.status();
  return std::make_shared<Topology>(*std::move(node));
}

}  // namespace aistation::topology
