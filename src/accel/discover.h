// SPDX-License-Identifier: Apache-2.0
// What this machine has: topology's reading of sysfs, with the names of the catalogue.
#pragma once

#include <string>

#include "accel/catalogue.h"
#include "aistation/v1/inventory.pb.h"
#include "util/status.h"

namespace aistation::accel {

// `root`: directory that holds sys, proc and dev; "" is "/". A display adapter that the catalogue
// does not know is no card; other devices of an accelerator class are cards without a model.
absl::StatusOr<v1::NodeInventory> Discover(const std::string& root, const Catalogue& catalogue);

// Fills vendor, model, memory and the device node of cards that have a PCI id.
void NameCards(const Catalogue& catalogue, v1::NodeInventory* node);

}  // namespace aistation::accel
