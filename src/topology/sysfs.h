// SPDX-License-Identifier: Apache-2.0
// One machine as its kernel shows it below a root directory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aistation/v1/inventory.pb.h"
#include "util/status.h"

namespace aistation::topology {

// A PCI device as sysfs has it.
struct PciDevice {
  std::string address;
  std::string id;         // vvvv:dddd
  std::string subsystem;  // vvvv:dddd
  std::string cls;        // six hexadecimal digits
  std::string driver;     // "" none
  std::vector<std::string> bridges;
  int32_t numa = -1;
  bool virtual_function = false;
  uint64_t bandwidth_mbps = 0;
};

// NOT_FOUND `topology.no_sysfs`; DATA_LOSS `topology.sysfs` when a file has a form that cannot be
// true. At most 65,536 devices.
absl::StatusOr<std::vector<PciDevice>> ReadPciDevices(const std::string& root);

// Which PCI devices are accelerator cards.
using IsCard = std::function<bool(const PciDevice&)>;
// Classes 0302 and 0380 (display without a screen) and 12 (processing accelerator).
bool IsCardByClass(const PciDevice& device);

// Cards, NICs, NUMA nodes, distances. Cards carry addresses and ids; what they are called is the
// catalogue's matter.
absl::StatusOr<v1::NodeInventory> ReadMachine(const std::string& root, const IsCard& is_card);

// NICs alone: RDMA devices with their GIDs, and network devices on PCI without RDMA.
absl::StatusOr<std::vector<v1::Nic>> ReadNics(const std::string& root);

}  // namespace aistation::topology
