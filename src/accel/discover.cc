// SPDX-License-Identifier: Apache-2.0
#include "accel/discover.h"

#include <map>

#include "topology/sysfs.h"
#include "util/file.h"
#include "util/strings.h"

namespace aistation::accel {

void NameCards(const Catalogue& catalogue, v1::NodeInventory* node) {
  std::map<std::string, int> seen;  // cards of a vendor so far: the driver counts in bus order
  for (auto& card : *node->mutable_cards()) {
    const Model* model = catalogue.FindByPciId(card.pci_id());
    if (model == nullptr) {
      if (card.health_detail().empty()) {
        card.set_health_detail(util::StrCat("PCI id ", card.pci_id(), " is not in the catalogue"));
      }
      continue;
    }
    card.set_vendor(model->vendor);
    card.set_model(model->model);
    card.set_memory_bytes(model->memory_bytes);
    if (model->shared_pci_id && card.health_detail().empty()) {
      card.set_health_detail("other models have this PCI id too");
    }
    const int number = seen[model->vendor]++;
    if (!model->device_nodes.empty() && card.health() != v1::HEALTH_NO_DRIVER) {
      std::string path = model->device_nodes[0];
      path = util::ReplaceAll(path, "{minor}", util::StrCat(number));
      card.set_device_node(util::ReplaceAll(path, "{n}", util::StrCat(number)));
    }
  }
}

absl::StatusOr<v1::NodeInventory> Discover(const std::string& root, const Catalogue& catalogue) {
  const auto is_card = [&catalogue](const topology::PciDevice& device) {
    return topology::IsCardByClass(device) || catalogue.FindByPciId(device.id) != nullptr;
  };
  AIST_ASSIGN_OR_RETURN(auto node, topology::ReadMachine(root, is_card));
  NameCards(catalogue, &node);
  const std::string base = root == "/" ? "" : root;
  for (auto& card : *node.mutable_cards()) {
    // The number is the driver's; a node that is not there is not claimed.
    if (!card.device_node().empty() && !util::Exists(base + card.device_node())) {
      card.clear_device_node();
    }
  }
  return node;
}

}  // namespace aistation::accel
