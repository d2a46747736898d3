// SPDX-License-Identifier: Apache-2.0
// NICs and GIDs, and the best NIC of each card. Pure, but for ListNics.
#pragma once

#include <string>

#include "aistation/v1/inventory.pb.h"
#include "aistation/v1/roce.pb.h"
#include "util/status.h"

namespace aistation::roce {

absl::StatusOr<v1::NicList> ListNics(const std::string& root);

// Whether traffic of jobs can go over it: RDMA or an address for the probe, port active, Ethernet
// or InfiniBand, not known to be bad.
bool IsUsable(const v1::Nic& nic);

// Index of the GID for RoCE: v2 on IPv4, else v2, else v1; -1 when there is none.
int32_t ChooseGid(const v1::Nic& nic);

// Nearest by link class, then the widest path, then evenly: of the cards that see the same NICs as
// best, each NIC gets as many as any other, or one more; lowest addresses together. A card without
// a usable NIC is left out.
v1::NicChoices ChooseNics(const v1::NodeInventory& node);

}  // namespace aistation::roce
