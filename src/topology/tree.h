// SPDX-License-Identifier: Apache-2.0
// Where devices hang in the PCI tree, and how far apart that makes them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aistation/v1/inventory.pb.h"
#include "util/status.h"

namespace aistation::topology {

struct Place {
  std::string id;                    // of the card or NIC
  std::vector<std::string> bridges;  // host bridge first, then down to the device
  int32_t numa = -1;
  uint32_t socket = 0;
  uint64_t bandwidth_mbps = 0;  // of the narrowest hop from the host bridge; 0: unknown
};

// Whether a switch is one bridge in the path (files of NCCL) or two, its upstream and its
// downstream port (sysfs, hwloc).
enum class SwitchForm { kOneBridge, kTwoBridges };

v1::LinkClass Classify(const Place& a, const Place& b, SwitchForm form);

// Distances between each card and each other card and NIC. At most 1,024 devices.
absl::Status AddDistances(const std::vector<Place>& cards, const std::vector<Place>& nics,
                          SwitchForm form, v1::NodeInventory* node);

// "0000:3b:00.0" from "3b:00.0", "0000:3B:00.0" or "00000000:3b:00.0"; "" when it is none.
std::string NormalizePciAddress(std::string_view text);

// Mbit/s of a PCIe link: transfer rate as the kernel writes it ("16.0 GT/s PCIe") times lanes,
// after line encoding; 0: unknown.
uint64_t PcieBandwidthMbps(std::string_view speed, uint64_t lanes);

}  // namespace aistation::topology
