// SPDX-License-Identifier: Apache-2.0
#include "roce/environment.h"

#include <set>

#include "util/strings.h"

namespace aistation::roce {
namespace {

void Set(v1::RankEnvironment* rank, const char* name, std::string value, std::string why) {
  (*rank->mutable_variables())[name] = std::move(value);
  (*rank->mutable_why())[name] = std::move(why);
}

}  // namespace

absl::StatusOr<v1::JobEnvironment> MakeEnvironment(const v1::Placement& placement) {
  if (placement.has_refusal()) {
    return util::FailedPrecondition("roce.refused",
                                    "the placement is a refusal; there are no ranks");
  }
  v1::JobEnvironment environment;
  uint32_t number = 0;
  for (const auto& node : placement.nodes()) {
    std::set<std::string> devices, netdevs;
    std::set<int32_t> gids;
    for (const auto& card : node.cards()) {
      if (card.nic_id().empty()) continue;
      // ":port" only where the device has several: NCCL takes port 1 otherwise.
      const bool has_port = card.nic_id().find(':') != std::string::npos;
      if (card.gid_index() >= 0) {
        devices.insert(has_port || card.nic_port() == 0
                           ? card.nic_id()
                           : util::StrCat(card.nic_id(), ":", card.nic_port()));
        gids.insert(card.gid_index());
      }
      if (!card.nic_netdev().empty()) netdevs.insert(card.nic_netdev());
    }
    const std::vector<std::string> device_list(devices.begin(), devices.end());
    const std::vector<std::string> netdev_list(netdevs.begin(), netdevs.end());
    for (const auto& card : node.cards()) {
      auto* rank = environment.add_ranks();
      rank->set_rank(number++);
      rank->set_node(node.node());
      if (!devices.empty()) {
        // All NICs of the job on this node: the library picks per card by the same distances, and
        // the ranks of a node must agree.
        Set(rank, "NCCL_IB_HCA", "=" + util::Join(device_list, ","),
            "exactly these devices; without '=' mlx5_1 would also match mlx5_10");
        if (gids.size() == 1) {
          Set(rank, "NCCL_IB_GID_INDEX", util::StrCat(*gids.begin()),
              "index of the RoCE v2 GID, the same on all NICs of this node");
        }
      }
      if (!netdevs.empty()) {
        Set(rank, "NCCL_SOCKET_IFNAME", "=" + util::Join(netdev_list, ","),
            "connections are set up over the NICs whose reachability was proven");
      }
      if (!card.nic_id().empty()) {
        Set(rank, "AISTATION_NIC", card.nic_id(), "the NIC nearest to this rank's card");
      }
    }
  }
  return environment;
}

}  // namespace aistation::roce
