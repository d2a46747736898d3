// SPDX-License-Identifier: Apache-2.0
#include "alloc/view.h"

#include <algorithm>
#include <map>

#include "roce/nics.h"
#include "util/strings.h"

namespace aistation::alloc {
namespace {

template <class List>
bool Contains(const List& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool ModelFits(const v1::PlacementRequest& request, const v1::Card& card) {
  if (request.models().empty()) return true;
  return std::any_of(request.models().begin(), request.models().end(),
                     [&](const std::string& m) { return util::GlobMatch(m, card.model()); });
}

bool Healthy(v1::Health health) {
  return health != v1::HEALTH_BAD && health != v1::HEALTH_NO_DRIVER;
}

v1::NodeRefusal Refuse(const v1::NodeInventory& node, std::string_view test, std::string detail) {
  v1::NodeRefusal out;
  out.set_node(node.name());
  out.set_test(std::string(test));
  out.set_detail(std::move(detail));
  return out;
}

// The choice of NICs for these cards alone; NICs of other grants only if there is no other way.
v1::NicChoices NicsFor(const v1::NodeInventory& node, const std::vector<const v1::Card*>& cards,
                       const Taken& taken) {
  v1::NodeInventory part;
  for (const auto* card : cards) *part.add_cards() = *card;
  *part.mutable_distances() = node.distances();
  for (const auto& nic : node.nics()) {
    if (nic.address().empty()) continue;  // nothing that a job could listen on
    if (taken.nics.count({node.name(), nic.id()}) == 0) *part.add_nics() = nic;
  }
  v1::NicChoices choices = roce::ChooseNics(part);
  if (static_cast<size_t>(choices.choices_size()) == cards.size()) return choices;
  part.clear_nics();
  for (const auto& nic : node.nics()) {
    if (!nic.address().empty()) *part.add_nics() = nic;
  }
  return roce::ChooseNics(part);
}

// Whole NUMA nodes that fit closest first; then the ones with the most free cards.
std::vector<const v1::Card*> ChooseCards(const NodeView& view, size_t count) {
  std::map<int, std::vector<const v1::Card*>> groups;
  for (const auto* card : view.cards) groups[card->numa_node()].push_back(card);
  std::vector<const v1::Card*> out;
  while (out.size() < count) {
    const size_t left = count - out.size();
    auto best = groups.end();
    for (auto it = groups.begin(); it != groups.end(); ++it) {
      if (best == groups.end()) {
        best = it;
        continue;
      }
      const size_t a = it->second.size();
      const size_t b = best->second.size();
      const bool a_fits = a >= left;
      const bool b_fits = b >= left;
      if (a_fits != b_fits ? a_fits : (a_fits ? a < b : a > b)) best = it;
    }
    const size_t take = std::min(left, best->second.size());
    out.insert(out.end(), best->second.begin(),
               best->second.begin() + static_cast<std::ptrdiff_t>(take));
    groups.erase(best);
  }
  std::sort(out.begin(), out.end(), [](const v1::Card* a, const v1::Card* b) {
    return std::pair(a->index(), a->id()) < std::pair(b->index(), b->id());
  });
  return out;
}

void FillNic(const v1::NodeInventory& node, const v1::NicChoice& choice, v1::CardAssignment* out) {
  for (const auto& nic : node.nics()) {
    if (nic.id() != choice.nic_id()) continue;
    out->set_nic_id(nic.id());
    out->set_nic_netdev(nic.netdev());
    out->set_nic_address(nic.address());
    out->set_nic_port(nic.port());
    out->set_gid_index(roce::ChooseGid(nic));
    out->set_link(choice.link());
    return;
  }
}

}  // namespace

Taken::Taken(const v1::AllocationState& state) {
  for (const auto& grant : state.grants()) {
    if (grant.released_unix_ns() != 0) continue;
    for (const auto& node : grant.placement().nodes()) {
      for (const auto& card : node.cards()) {
        cards.insert(card.card_id());
        held.insert(card.card_id());
        if (!card.nic_id().empty()) nics.insert({node.node(), card.nic_id()});
      }
    }
  }
  cards.insert(state.cordoned_cards().begin(), state.cordoned_cards().end());
  nodes.insert(state.cordoned_nodes().begin(), state.cordoned_nodes().end());
}

NodeView Look(const v1::NodeInventory& node, const Taken& taken,
              const v1::PlacementRequest& request) {
  NodeView view;
  view.node = &node;
  if (Contains(request.exclude_nodes(), node.name())) {
    view.refusal = Refuse(node, "excluded", "left out by the request");
    return view;
  }
  if (taken.nodes.count(node.name()) != 0) {
    view.refusal = Refuse(node, "cordoned", "kept back by an operator or after a fault");
    return view;
  }
  if (!Healthy(node.health())) {
    view.refusal = Refuse(node, "health", node.health_detail());
    return view;
  }
  size_t fitting = 0;
  size_t healthy = 0;
  size_t free = 0;
  for (const auto& card : node.cards()) {
    if (!ModelFits(request, card)) continue;
    ++fitting;
    if (!Healthy(card.health())) continue;
    ++healthy;
    if (taken.cards.count(card.id()) != 0) continue;
    ++free;
    if (!Contains(request.exclude_cards(), card.id())) view.cards.push_back(&card);
  }
  const size_t least = std::max<size_t>(1, request.min_cards_per_node());
  const auto too_few = [&](size_t n) { return n < least; };
  if (too_few(fitting)) {
    view.refusal = Refuse(node, "model",
                          util::StrCat(fitting, " of ", node.cards_size(),
                                       " cards are of an accepted model, ", least, " needed"));
  } else if (too_few(healthy)) {
    view.refusal =
        Refuse(node, "health",
               util::StrCat(healthy, " of ", fitting, " cards are healthy, ", least, " needed"));
  } else if (too_few(free)) {
    view.refusal = Refuse(
        node, "cards", util::StrCat(free, " of ", healthy, " cards are free, ", least, " needed"));
  } else if (too_few(view.cards.size())) {
    view.refusal = Refuse(node, "excluded",
                          util::StrCat("the request leaves out ", free - view.cards.size(), " of ",
                                       free, " free cards"));
  }
  if (!view.refusal.test().empty()) {
    view.cards.clear();
    return view;
  }
  if (request.need_nics()) {
    const v1::NicChoices choices = NicsFor(node, view.cards, taken);
    std::set<std::string> with;
    for (const auto& choice : choices.choices()) with.insert(choice.card_id());
    const size_t before = view.cards.size();
    view.cards.erase(std::remove_if(view.cards.begin(), view.cards.end(),
                                    [&](const v1::Card* c) { return with.count(c->id()) == 0; }),
                     view.cards.end());
    if (too_few(view.cards.size())) {
      view.refusal = Refuse(node, "nics",
                            util::StrCat(view.cards.size(), " of ", before,
                                         " cards have a NIC with an address, ", least, " needed"));
      view.cards.clear();
    }
  }
  return view;
}

v1::NodeAssignment Assign(const NodeView& view, size_t count, const Taken& taken,
                          const v1::PlacementRequest& request) {
  const v1::NodeInventory& node = *view.node;
  v1::NodeAssignment out;
  out.set_node(node.name());
  out.set_address(node.address());
  out.set_port(node.port());
  out.set_rack(node.rack());
  const std::vector<const v1::Card*> cards = ChooseCards(view, count);
  std::map<std::string, v1::NicChoice> nics;
  if (request.need_nics()) {
    const v1::NicChoices choices = NicsFor(node, cards, taken);
    for (const auto& choice : choices.choices()) nics[choice.card_id()] = choice;
  }
  std::set<int> numa;
  for (const auto* card : cards) {
    auto* assignment = out.add_cards();
    assignment->set_card_id(card->id());
    assignment->set_card_index(card->index());
    assignment->set_card_pci_address(card->pci_address());
    assignment->set_numa_node(card->numa_node());
    assignment->set_gid_index(-1);
    numa.insert(card->numa_node());
    if (const auto it = nics.find(card->id()); it != nics.end()) {
      FillNic(node, it->second, assignment);
    }
  }
  out.set_why(util::StrCat(count, " of ", view.capacity(), " cards that fit, in ", numa.size(),
                           numa.size() == 1 ? " NUMA node" : " NUMA nodes"));
  return out;
}

}  // namespace aistation::alloc
