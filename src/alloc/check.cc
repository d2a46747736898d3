// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "alloc/allocator.h"
#include "util/strings.h"

namespace aistation::alloc {
namespace {

constexpr int kMaxNodes = 20'000;
constexpr int kMaxDevices = 256;  // cards, or NICs, of one node
constexpr uint32_t kMaxCards = 1'000'000;
constexpr int kMaxNames = 20'000;

absl::Status Bad(std::string_view field, std::string_view expected) {
  return util::InvalidArgument("alloc.inventory",
                               util::StrCat("inventory: ", field, ": expected ", expected));
}

absl::Status Duplicate(std::string_view field, std::string_view what) {
  return util::Error(absl::StatusCode::kAlreadyExists, "alloc.duplicate",
                     util::StrCat("inventory: ", field, ": ", what, " occurs twice"));
}

// `cards` are unique in the cluster: a grant names them.
absl::Status CheckNode(const v1::NodeInventory& node, const std::string& field,
                       std::set<std::string>* cards) {
  if (!util::IsSafeName(node.name())) {
    return Bad(field + ".name", "letters, digits, '.', '_', '-'");
  }
  if (node.port() > 65535) return Bad(field + ".port", "at most 65535");
  if (node.cards_size() > kMaxDevices) return Bad(field + ".cards", "at most 256");
  if (node.nics_size() > kMaxDevices) return Bad(field + ".nics", "at most 256");
  for (int i = 0; i < node.cards_size(); ++i) {
    const std::string at = util::StrCat(field, ".cards[", i, "]");
    const std::string& id = node.cards(i).id();
    if (id.empty() || id.size() > 256) return Bad(at + ".id", "1 to 256 bytes");
    if (!cards->insert(id).second) return Duplicate(at + ".id", id);
  }
  std::set<std::string> nics;
  for (int i = 0; i < node.nics_size(); ++i) {
    const std::string at = util::StrCat(field, ".nics[", i, "]");
    const std::string& id = node.nics(i).id();
    if (id.empty() || id.size() > 256) return Bad(at + ".id", "1 to 256 bytes");
    if (!nics.insert(id).second) return Duplicate(at + ".id", id);
  }
  return absl::OkStatus();
}

absl::Status BadRequest(std::string_view field, std::string_view expected) {
  return util::InvalidArgument("alloc.request",
                               util::StrCat("placement request: ", field, ": expected ", expected));
}

}  // namespace

absl::Status CheckInventory(const v1::Inventory& inventory) {
  if (inventory.nodes_size() > kMaxNodes) return Bad("nodes", "at most 20,000");
  std::set<std::string> nodes;
  std::set<std::string> cards;
  for (int i = 0; i < inventory.nodes_size(); ++i) {
    const std::string field = util::StrCat("nodes[", i, "]");
    AIST_RETURN_IF_ERROR(CheckNode(inventory.nodes(i), field, &cards));
    if (!nodes.insert(inventory.nodes(i).name()).second) {
      return Duplicate(field + ".name", inventory.nodes(i).name());
    }
  }
  std::set<std::string> departments;
  for (int i = 0; i < inventory.quotas_size(); ++i) {
    const std::string field = util::StrCat("quotas[", i, "].department");
    const std::string& name = inventory.quotas(i).department();
    if (name.empty() || name.size() > 128) return Bad(field, "1 to 128 bytes");
    if (!departments.insert(name).second) return Duplicate(field, name);
  }
  return absl::OkStatus();
}

absl::Status CheckRequest(const v1::PlacementRequest& request) {
  if (request.cards() == 0 || request.cards() > kMaxCards) {
    return BadRequest("cards", "1 to 1,000,000");
  }
  if (request.min_cards_per_node() > request.cards()) {
    return BadRequest("min_cards_per_node", "at most cards");
  }
  if (request.request_id().size() > 256) return BadRequest("request_id", "at most 256 bytes");
  if (request.department().size() > 128) return BadRequest("department", "at most 128 bytes");
  if (request.exclude_nodes_size() > kMaxNames || request.exclude_cards_size() > kMaxNames ||
      request.prefer_nodes_size() > kMaxNames || request.models_size() > 1000) {
    return BadRequest("exclude_nodes, exclude_cards, prefer_nodes, models",
                      "at most 20,000 names and 1,000 models");
  }
  for (const auto& model : request.models()) {
    if (model.empty() || model.size() > 256) return BadRequest("models", "1 to 256 bytes each");
  }
  return absl::OkStatus();
}

}  // namespace aistation::alloc
