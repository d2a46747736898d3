// SPDX-License-Identifier: Apache-2.0
#include "roce/nics.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "topology/sysfs.h"
#include "util/strings.h"

namespace aistation::roce {
namespace {

const char* ClassText(v1::LinkClass link) {
  switch (link) {
    case v1::LINK_CLASS_DIRECT:
      return "a direct link";
    case v1::LINK_CLASS_PIX:
      return "one PCIe switch (PIX)";
    case v1::LINK_CLASS_PXB:
      return "several PCIe switches (PXB)";
    case v1::LINK_CLASS_PHB:
      return "the host bridge of its NUMA node (PHB)";
    case v1::LINK_CLASS_NODE:
      return "another NUMA node of its socket (NODE)";
    case v1::LINK_CLASS_SYS:
      return "the link between sockets (SYS)";
    default:
      return "an unknown path";
  }
}

struct Candidate {
  int link = 0;
  uint64_t bandwidth = 0;  // of the path, limited by the port; 0: unknown
  const v1::Nic* nic = nullptr;
};

struct CardView {
  const v1::Card* card = nullptr;
  v1::LinkClass link = v1::LINK_CLASS_UNKNOWN;
  std::vector<const v1::Nic*> best;  // equally good, by address
  uint64_t bandwidth = 0;
};

bool ByAddress(const v1::Nic* a, const v1::Nic* b) {
  return std::tie(a->pci_address(), a->id()) < std::tie(b->pci_address(), b->id());
}

CardView Look(const v1::NodeInventory& node, const v1::Card& card,
              const std::vector<const v1::Nic*>& usable) {
  std::map<std::string, std::pair<v1::LinkClass, uint64_t>> path;
  for (const auto& distance : node.distances()) {
    if (distance.a() == card.id()) {
      path[distance.b()] = {distance.link(), distance.bandwidth_mbps()};
    } else if (distance.b() == card.id()) {
      path[distance.a()] = {distance.link(), distance.bandwidth_mbps()};
    }
  }
  std::vector<Candidate> candidates;
  for (const auto* nic : usable) {
    Candidate candidate{v1::LINK_CLASS_UNKNOWN, nic->speed_mbps(), nic};
    if (const auto found = path.find(nic->id()); found != path.end()) {
      candidate.link = found->second.first;
      if (found->second.second != 0 && candidate.bandwidth != 0) {
        candidate.bandwidth = std::min(candidate.bandwidth, found->second.second);
      }
    } else if (card.numa_node() >= 0 && nic->numa_node() >= 0) {
      candidate.link = card.numa_node() == nic->numa_node() ? v1::LINK_CLASS_PHB
                       : card.socket() == nic->socket()     ? v1::LINK_CLASS_NODE
                                                            : v1::LINK_CLASS_SYS;
    }
    candidates.push_back(candidate);
  }
  CardView view;
  view.card = &card;
  if (candidates.empty()) return view;
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.link != b.link ? a.link < b.link : a.bandwidth > b.bandwidth;
  };
  const Candidate top = *std::min_element(candidates.begin(), candidates.end(), better);
  view.link = static_cast<v1::LinkClass>(top.link);
  view.bandwidth = top.bandwidth;
  for (const auto& candidate : candidates) {
    if (candidate.link == top.link && candidate.bandwidth == top.bandwidth) {
      view.best.push_back(candidate.nic);
    }
  }
  std::sort(view.best.begin(), view.best.end(), ByAddress);
  return view;
}

}  // namespace

absl::StatusOr<v1::NicList> ListNics(const std::string& root) {
  AIST_ASSIGN_OR_RETURN(auto nics, topology::ReadNics(root));
  v1::NicList list;
  for (auto& nic : nics) *list.add_nics() = std::move(nic);
  return list;
}

bool IsUsable(const v1::Nic& nic) {
  if (nic.health() == v1::HEALTH_BAD || nic.health() == v1::HEALTH_NO_DRIVER) return false;
  if (!nic.state().empty() && nic.state() != "ACTIVE") return false;
  // Plain Ethernet ports carry jobs only where somebody gave them an address for it.
  const bool rdma = !nic.gids().empty() || nic.port() != 0 || nic.id() != nic.netdev();
  return rdma || !nic.address().empty();
}

int32_t ChooseGid(const v1::Nic& nic) {
  int32_t best = -1;
  int best_rank = 0;
  for (const auto& gid : nic.gids()) {
    const bool v2 = gid.type() == "RoCE v2";
    const int rank = v2 && !gid.ipv4().empty() ? 4 : v2 ? 3 : gid.type() == "IB" ? 2 : 1;
    if (rank > best_rank) {
      best_rank = rank;
      best = static_cast<int32_t>(gid.index());
    }
  }
  return best;
}

v1::NicChoices ChooseNics(const v1::NodeInventory& node) {
  std::vector<const v1::Nic*> usable;
  for (const auto& nic : node.nics()) {
    if (IsUsable(nic)) usable.push_back(&nic);
  }
  std::vector<CardView> views;
  for (const auto& card : node.cards()) views.push_back(Look(node, card, usable));
  // Cards with fewer equals choose first, then by address: that is balanced for nested sets.
  std::vector<size_t> order(views.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&views](size_t a, size_t b) {
    return std::make_tuple(views[a].best.size(), views[a].card->pci_address(),
                           views[a].card->id()) <
           std::make_tuple(views[b].best.size(), views[b].card->pci_address(), views[b].card->id());
  });
  std::map<const v1::Nic*, uint32_t> load;
  std::vector<v1::NicChoice> chosen(views.size());
  for (const size_t i : order) {
    const CardView& view = views[i];
    if (view.best.empty()) continue;
    const auto* nic = *std::min_element(
        view.best.begin(), view.best.end(), [&load](const v1::Nic* a, const v1::Nic* b) {
          return load[a] != load[b] ? load[a] < load[b] : ByAddress(a, b);
        });
    ++load[nic];
    v1::NicChoice& choice = chosen[i];
    choice.set_card_id(view.card->id());
    choice.set_nic_id(nic->id());
    choice.set_link(view.link);
    for (const auto* equal : view.best) {
      if (equal != nic) choice.add_equal(equal->id());
    }
    std::string why = util::StrCat(nic->id(), " is reached over ", ClassText(view.link));
    if (view.best.size() > 1) {
      util::StrAppend(&why, "; ", view.best.size(), " NICs are as near, it carried fewest cards");
    } else if (usable.size() > 1) {
      util::StrAppend(&why, "; no other NIC is as near");
    }
    choice.set_why(why);
  }
  v1::NicChoices choices;
  for (auto& choice : chosen) {
    if (!choice.nic_id().empty()) *choices.add_choices() = std::move(choice);
  }
  return choices;
}

}  // namespace aistation::roce
