// SPDX-License-Identifier: Apache-2.0
// Which cards there are in the world: data, not code.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.h"

namespace aistation::accel {

struct Model {
  std::string vendor;
  std::string model;
  std::vector<std::string> pci_ids;     // vvvv:dddd
  std::vector<std::string> pci_vf_ids;  // of virtual functions
  bool shared_pci_id = false;           // other models have the same id
  uint64_t memory_bytes = 0;
  std::vector<std::string> device_nodes;
  std::vector<std::string> drivers;
  std::string visible_devices_env;
  std::string interconnect;
  uint64_t link_gbytes_per_s = 0;
};

// Immutable, thread-safe.
class Catalogue {
 public:
  // The one inside the library (path ""), one file, or all *.jsonc of a directory. INVALID_ARGUMENT
  // `accel.catalogue` names file and field; ALREADY_EXISTS `accel.duplicate`.
  static absl::StatusOr<std::shared_ptr<const Catalogue>> Load(const std::string& path);

  static absl::StatusOr<std::shared_ptr<const Catalogue>> Parse(std::string_view text,
                                                                std::string_view source);

  const std::vector<Model>& models() const { return models_; }
  // By PCI id, also of a virtual function; null when unknown. Of several models that share an id
  // the first.
  const Model* FindByPciId(std::string_view pci_id) const;
  const Model* FindByName(std::string_view model) const;
  std::string ToJson() const;

 private:
  absl::Status Add(std::string_view text, std::string_view source);
  std::vector<Model> models_;
};

}  // namespace aistation::accel
