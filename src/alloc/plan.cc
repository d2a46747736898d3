// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "alloc/allocator.h"
#include "alloc/view.h"
#include "util/strings.h"

namespace aistation::alloc {
namespace {

constexpr int kMaxRefusedNodes = 64;

struct Share {
  const NodeView* view = nullptr;
  size_t cards = 0;
};

bool Preferred(const v1::PlacementRequest& request, const NodeView& view) {
  return std::find(request.prefer_nodes().begin(), request.prefer_nodes().end(),
                   view.node->name()) != request.prefer_nodes().end();
}

// Fewest nodes; of those, preferred ones first, then what fits closest. Empty: does not fit.
//
// With k nodes, each gives at least `least` cards, so a node may take at most what leaves `least`
// for each of the others. The largest node that is not larger than the rest of the need goes first,
// the last one is the smallest that covers what is left.
std::vector<Share> ChooseNodes(std::vector<const NodeView*> nodes,
                               const v1::PlacementRequest& request) {
  const size_t need = request.cards();
  const size_t least = std::max<size_t>(1, request.min_cards_per_node());
  std::sort(nodes.begin(), nodes.end(), [](const NodeView* a, const NodeView* b) {
    if (a->capacity() != b->capacity()) return a->capacity() > b->capacity();
    return a->node->name() < b->node->name();
  });
  size_t count = 0;
  for (size_t sum = 0; count < nodes.size() && sum < need; ++count) sum += nodes[count]->capacity();
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += nodes[i]->capacity();
  if (sum < need || count * least > need) return {};
  if (request.max_nodes() != 0 && count > request.max_nodes()) return {};
  std::vector<Share> out;
  size_t left = need;
  std::vector<const NodeView*> rest = nodes;
  for (size_t slot = 0; slot < count; ++slot) {
    const size_t others = count - slot - 1;
    // What the largest of the others can give at most bounds from below what this one must give.
    const auto others_can = [&](const NodeView* without) {
      size_t total = 0;
      size_t taken = 0;
      for (const auto* node : rest) {
        if (node == without || taken == others) continue;
        total += node->capacity();
        ++taken;
      }
      return total;
    };
    const NodeView* best = nullptr;
    size_t best_cards = 0;
    for (const auto* node : rest) {
      const size_t most = std::min(node->capacity(), left - others * least);
      if (most < least || most + others_can(node) < left) continue;
      const auto better = [&] {
        if (best == nullptr) return true;
        const bool a = Preferred(request, *node);
        const bool b = Preferred(request, *best);
        if (a != b) return a;
        const size_t waste_a = node->capacity() - most;
        const size_t waste_b = best->capacity() - best_cards;
        if (waste_a != waste_b) return waste_a < waste_b;
        if (most != best_cards) return most > best_cards;
        return node->node->name() < best->node->name();
      };
      if (better()) {
        best = node;
        best_cards = most;
      }
    }
    if (best == nullptr) return {};
    out.push_back({best, best_cards});
    left -= best_cards;
    rest.erase(std::find(rest.begin(), rest.end(), best));
  }
  if (left != 0) return {};
  std::sort(out.begin(), out.end(), [](const Share& a, const Share& b) {
    return std::tie(a.view->node->rack(), a.view->node->name()) <
           std::tie(b.view->node->rack(), b.view->node->name());
  });
  return out;
}

struct Choice {
  std::vector<Share> shares;
  size_t racks = 0;
};

size_t RackCount(const std::vector<Share>& shares) {
  std::set<std::string> racks;
  for (const auto& share : shares) racks.insert(share.view->node->rack());
  return racks.size();
}

size_t PreferredCount(const std::vector<Share>& shares, const v1::PlacementRequest& request) {
  return static_cast<size_t>(std::count_if(
      shares.begin(), shares.end(), [&](const Share& s) { return Preferred(request, *s.view); }));
}

size_t Waste(const std::vector<Share>& shares) {
  size_t waste = 0;
  for (const auto& share : shares) waste += share.view->capacity() - share.cards;
  return waste;
}

// One rack if it holds as few nodes as the whole centre would; nodes that hold the data before
// that.
std::optional<Choice> Choose(const std::vector<NodeView>& views,
                             const v1::PlacementRequest& request) {
  std::vector<const NodeView*> all;
  std::map<std::string, std::vector<const NodeView*>> racks;
  for (const auto& view : views) {
    if (view.cards.empty()) continue;
    all.push_back(&view);
    racks[view.node->rack()].push_back(&view);
  }
  std::vector<std::vector<Share>> candidates;
  for (const auto& [rack, nodes] : racks) candidates.push_back(ChooseNodes(nodes, request));
  if (!request.same_rack()) candidates.push_back(ChooseNodes(all, request));
  std::vector<Share> best;
  for (auto& candidate : candidates) {
    if (candidate.empty()) continue;
    const auto rank = [&](const std::vector<Share>& shares) {
      return std::make_tuple(shares.size(), shares.size() - PreferredCount(shares, request),
                             RackCount(shares), Waste(shares));
    };
    if (best.empty() || rank(candidate) < rank(best)) best = std::move(candidate);
  }
  if (best.empty()) return std::nullopt;
  Choice choice;
  choice.racks = RackCount(best);
  choice.shares = std::move(best);
  return choice;
}

std::optional<uint32_t> QuotaOf(const v1::AllocationState& state, const std::string& department) {
  for (const auto& quota : state.inventory().quotas()) {
    if (quota.department() == department) return quota.cards();
  }
  return std::nullopt;
}

uint32_t UsedBy(const v1::AllocationState& state, const std::string& department) {
  const auto it = state.used_by_department().find(department);
  return it == state.used_by_department().end() ? 0 : it->second;
}

std::vector<NodeView> LookAtAll(const v1::AllocationState& state, const Taken& taken,
                                const v1::PlacementRequest& request) {
  std::vector<NodeView> views;
  views.reserve(static_cast<size_t>(state.inventory().nodes_size()));
  for (const auto& node : state.inventory().nodes()) views.push_back(Look(node, taken, request));
  return views;
}

bool Fits(const v1::AllocationState& state, const Taken& taken,
          const v1::PlacementRequest& request) {
  return Choose(LookAtAll(state, taken, request), request).has_value();
}

// The smallest change that would make it fit, found by trying.
std::string Nearest(const v1::AllocationState& state, const Taken& taken,
                    const v1::PlacementRequest& request) {
  struct Change {
    const char* sentence;
    void (*apply)(v1::PlacementRequest*);
  };
  static constexpr Change kChanges[] = {
      {"it fits across racks", [](v1::PlacementRequest* r) { r->set_same_rack(false); }},
      {"it fits on more nodes", [](v1::PlacementRequest* r) { r->set_max_nodes(0); }},
      {"it fits with fewer cards on a node",
       [](v1::PlacementRequest* r) { r->set_min_cards_per_node(0); }},
      {"it fits without a NIC for each card",
       [](v1::PlacementRequest* r) { r->set_need_nics(false); }},
      {"it fits with any model", [](v1::PlacementRequest* r) { r->clear_models(); }},
  };
  for (const Change& change : kChanges) {
    v1::PlacementRequest changed = request;
    change.apply(&changed);
    if (Fits(state, taken, changed)) return change.sentence;
  }
  // Fewer cards: bisect, since what fits for n cards fits for fewer.
  uint32_t low = 0;
  uint32_t high = request.cards();
  while (high - low > 1) {
    v1::PlacementRequest changed = request;
    changed.set_cards(low + (high - low) / 2);
    changed.set_min_cards_per_node(std::min(changed.min_cards_per_node(), changed.cards()));
    (Fits(state, taken, changed) ? low : high) = changed.cards();
  }
  if (low > 0) return util::StrCat(low, " cards would fit now");
  return "";
}

void Refuse(const v1::AllocationState& state, const Taken& taken,
            const std::vector<NodeView>& views, v1::Placement* out) {
  const v1::PlacementRequest& request = out->request();
  v1::Refusal& refusal = *out->mutable_refusal();
  size_t capacity = 0;
  for (const auto& view : views) {
    capacity += view.capacity();
    if (view.refusal.test().empty()) continue;
    (*refusal.mutable_nodes_by_test())[view.refusal.test()] += 1;
    if (refusal.nodes_size() < kMaxRefusedNodes) *refusal.add_nodes() = view.refusal;
  }
  // The test that keeps back the most nodes binds; a shape that does not fit binds when none does.
  std::string worst;
  uint32_t most = 0;
  for (const auto& [test, nodes] : refusal.nodes_by_test()) {
    if (nodes > most || (nodes == most && test < worst)) {
      most = nodes;
      worst = test;
    }
  }
  const bool enough = capacity >= request.cards();
  if (enough) {
    worst = request.same_rack() ? "rack" : "cards";
  } else if (worst.empty()) {
    worst = "cards";
  } else if (worst == "cordoned") {
    worst = "health";
  }
  refusal.set_constraint(worst);
  refusal.set_sentence(
      enough ? util::StrCat(request.cards(), " cards do not fit: ", capacity,
                            " would do, but not on the nodes and racks as asked for")
             : util::StrCat(request.cards(), " cards do not fit: ", capacity,
                            " could be given now; most nodes fail the test '", worst, "'"));
  refusal.set_nearest(Nearest(state, taken, request));
}

}  // namespace

v1::Placement Plan(const v1::AllocationState& state, const v1::PlacementRequest& request) {
  v1::Placement out;
  *out.mutable_request() = request;
  out.set_dry_run(true);
  const auto quota = QuotaOf(state, request.department());
  const uint32_t used = UsedBy(state, request.department());
  if (quota.has_value() && uint64_t{used} + request.cards() > *quota) {
    v1::Refusal& refusal = *out.mutable_refusal();
    refusal.set_constraint("quota");
    refusal.set_sentence(util::StrCat("department ", request.department(), " may hold ", *quota,
                                      " cards and holds ", used, ": ", request.cards(),
                                      " more do not fit"));
    if (used < *quota)
      refusal.set_nearest(util::StrCat(*quota - used, " cards are within the quota"));
    return out;
  }
  const Taken taken(state);
  const std::vector<NodeView> views = LookAtAll(state, taken, request);
  const auto choice = Choose(views, request);
  if (!choice.has_value()) {
    Refuse(state, taken, views, &out);
    return out;
  }
  for (const auto& share : choice->shares) {
    *out.add_nodes() = Assign(*share.view, share.cards, taken, request);
  }
  size_t fitting = 0;
  for (const auto& view : views) fitting += view.cards.empty() ? 0 : 1;
  out.add_explanation(util::StrCat(request.cards(), " cards on ", choice->shares.size(),
                                   choice->shares.size() == 1 ? " node" : " nodes",
                                   ", the fewest that hold them, in ", choice->racks,
                                   choice->racks == 1 ? " rack" : " racks"));
  if (quota.has_value()) {
    out.add_explanation(util::StrCat("department ", request.department(), " holds ", used, " of ",
                                     *quota, " cards before this"));
  }
  out.add_explanation(util::StrCat(fitting, " of ", views.size(), " nodes could take part; ",
                                   Waste(choice->shares), " cards stay free on the chosen ones"));
  if (const size_t n = PreferredCount(choice->shares, request); n > 0) {
    out.add_explanation(util::StrCat(n, " of the chosen nodes were asked for by preference"));
  }
  return out;
}

}  // namespace aistation::alloc
