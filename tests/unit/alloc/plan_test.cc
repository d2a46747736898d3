// SPDX-License-Identifier: Apache-2.0
// The planner against brute force, and what it says when it refuses.
#include <algorithm>
#include <set>

#include "alloc/allocator.h"
#include "unit/testing/matchers.h"
#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::alloc {
namespace {

v1::NodeInventory Node(const std::string& name, const std::string& rack, int cards, int nics = 0) {
  v1::NodeInventory node;
  node.set_name(name);
  node.set_rack(rack);
  node.set_address("10.0.0.1");
  node.set_health(v1::HEALTH_OK);
  for (int i = 0; i < cards; ++i) {
    auto* card = node.add_cards();
    card->set_id(util::StrCat(name, "-c", i));
    card->set_index(static_cast<uint32_t>(i));
    card->set_model("H100");
    card->set_numa_node(i / 4);
    card->set_health(v1::HEALTH_OK);
  }
  for (int i = 0; i < nics; ++i) {
    auto* nic = node.add_nics();
    nic->set_id(util::StrCat("mlx5_", i));
    nic->set_state("ACTIVE");
    nic->set_port(1);
    nic->set_address(util::StrCat("10.0.1.", i));
    nic->set_numa_node(i / 4);
    nic->set_speed_mbps(200'000);
    auto* distance = node.add_distances();
    distance->set_a(util::StrCat(name, "-c", i));
    distance->set_b(nic->id());
    distance->set_link(v1::LINK_CLASS_PIX);
  }
  return node;
}

v1::PlacementRequest Request(uint32_t cards) {
  v1::PlacementRequest request;
  request.set_cards(cards);
  request.set_department("risk");
  return request;
}

void Hold(v1::AllocationState* state, const std::string& node,
          const std::vector<std::string>& cards) {
  auto* assignment = state->add_grants()->mutable_placement()->add_nodes();
  assignment->set_node(node);
  for (const auto& card : cards) assignment->add_cards()->set_card_id(card);
}

std::vector<std::string> Names(const v1::Placement& placement) {
  std::vector<std::string> out;
  for (const auto& node : placement.nodes()) out.push_back(node.node());
  return out;
}

TEST(Plan, FewestNodesInOneRack) {
  v1::AllocationState state;
  for (int i = 0; i < 4; ++i)
    *state.mutable_inventory()->add_nodes() = Node(util::StrCat("n", i), i < 2 ? "r1" : "r2", 8);
  Hold(&state, "n0", {"n0-c0"});
  const auto placement = Plan(state, Request(16));
  EXPECT_THAT(Names(placement), ::testing::ElementsAre("n2", "n3")) << "the rack that has room";
  EXPECT_FALSE(placement.explanation().empty());
  EXPECT_EQ(placement.nodes(0).cards_size(), 8);
}

TEST(Plan, FillsWhatIsOpenAlready) {
  v1::AllocationState state;
  *state.mutable_inventory()->add_nodes() = Node("a", "r", 8);
  *state.mutable_inventory()->add_nodes() = Node("b", "r", 8);
  Hold(&state, "b", {"b-c0", "b-c1", "b-c2", "b-c3"});
  const auto placement = Plan(state, Request(4));
  EXPECT_THAT(Names(placement), ::testing::ElementsAre("b")) << "no new fragment on the empty node";
  for (const auto& card : placement.nodes(0).cards()) EXPECT_EQ(card.numa_node(), 1);
}

TEST(Plan, OneNumaNodeWhereItFits) {
  v1::AllocationState state;
  *state.mutable_inventory()->add_nodes() = Node("a", "r", 8);
  Hold(&state, "a", {"a-c0"});
  std::set<int> numa;
  const auto four = Plan(state, Request(4));
  for (const auto& card : four.nodes(0).cards()) numa.insert(card.numa_node());
  EXPECT_EQ(numa, std::set<int>{1});
  const auto three = Plan(state, Request(3));
  for (const auto& card : three.nodes(0).cards())
    EXPECT_EQ(card.numa_node(), 0) << "the smaller rest is used up";
}

TEST(Plan, NearNics) {
  v1::AllocationState state;
  *state.mutable_inventory()->add_nodes() = Node("a", "r", 8, 8);
  auto request = Request(8);
  request.set_need_nics(true);
  const auto placement = Plan(state, request);
  ASSERT_EQ(placement.nodes_size(), 1);
  for (const auto& card : placement.nodes(0).cards()) {
    EXPECT_EQ(card.link(), v1::LINK_CLASS_PIX);
    EXPECT_EQ(card.card_id().back(), card.nic_id().back());
  }
  state.mutable_inventory()->mutable_nodes(0)->clear_nics();
  EXPECT_EQ(Plan(state, request).refusal().constraint(), "nics");
  EXPECT_THAT(Plan(state, request).refusal().nearest(), ::testing::HasSubstr("without a NIC"));
}

TEST(Plan, Preferences) {
  v1::AllocationState state;
  for (int i = 0; i < 4; ++i)
    *state.mutable_inventory()->add_nodes() = Node(util::StrCat("n", i), "r", 8);
  auto request = Request(16);
  request.add_prefer_nodes("n3");
  EXPECT_THAT(Names(Plan(state, request)), ::testing::Contains("n3"));
  request.add_exclude_nodes("n0");
  request.add_exclude_nodes("n1");
  request.add_exclude_cards("n2-c0");
  EXPECT_TRUE(Plan(state, request).has_refusal());
}

TEST(Plan, RefusalsSayWhy) {
  v1::AllocationState state;
  for (int i = 0; i < 2; ++i)
    *state.mutable_inventory()->add_nodes() = Node(util::StrCat("n", i), util::StrCat("r", i), 8);
  auto* quota = state.mutable_inventory()->add_quotas();
  quota->set_department("risk");
  quota->set_cards(20);
  (*state.mutable_used_by_department())["risk"] = 10;
  auto refusal = Plan(state, Request(11)).refusal();
  EXPECT_EQ(refusal.constraint(), "quota");
  EXPECT_THAT(refusal.sentence(), ::testing::HasSubstr("risk may hold 20 cards and holds 10"));
  auto request = Request(40);
  request.set_department("other");
  refusal = Plan(state, request).refusal();
  EXPECT_EQ(refusal.nearest(), "16 cards would fit now");
  request = Request(16);
  request.set_department("other");
  request.set_same_rack(true);
  refusal = Plan(state, request).refusal();
  EXPECT_EQ(refusal.constraint(), "rack");
  EXPECT_EQ(refusal.nearest(), "it fits across racks");
  request.set_same_rack(false);
  request.add_models("A100*");
  refusal = Plan(state, request).refusal();
  EXPECT_EQ(refusal.constraint(), "model");
  EXPECT_EQ(refusal.nodes_by_test().at("model"), 2u);
  EXPECT_EQ(refusal.nearest(), "it fits with any model");
  request.clear_models();
  state.mutable_inventory()->mutable_nodes(0)->set_health(v1::HEALTH_BAD);
  state.add_cordoned_cards("n1-c3");
  EXPECT_TRUE(Plan(state, request).has_refusal());
  state.add_cordoned_nodes("n1");
  refusal = Plan(state, Request(1)).refusal();
  EXPECT_EQ(refusal.nodes_size(), 2);
}

// For small centres: a placement is found exactly if one exists, it keeps all rules, and no smaller
// number of nodes would do.
TEST(Plan, IsAsBruteForce) {
  auto random = testing::Random();
  int placed = 0;
  for (int round = 0; round < 1500; ++round) {
    v1::AllocationState state;
    const int nodes = 1 + static_cast<int>(random() % 5);
    std::vector<int> free;
    for (int n = 0; n < nodes; ++n) {
      const int cards = static_cast<int>(random() % 5);
      *state.mutable_inventory()->add_nodes() =
          Node(util::StrCat("n", n), util::StrCat("r", random() % 2), cards);
      int open = cards;
      for (int c = 0; c < cards; ++c) {
        if (random() % 4 == 0) {
          Hold(&state, util::StrCat("n", n), {util::StrCat("n", n, "-c", c)});
          --open;
        }
      }
      free.push_back(open);
    }
    auto request = Request(1 + static_cast<uint32_t>(random() % 8));
    const auto least = std::min<uint32_t>(static_cast<uint32_t>(random() % 3), request.cards());
    request.set_min_cards_per_node(least);
    request.set_max_nodes(static_cast<uint32_t>(random() % 4));
    request.set_same_rack(random() % 3 == 0);
    int fewest = 0;
    for (int set = 1; set < 1 << nodes; ++set) {
      int sum = 0;
      int count = 0;
      bool fits = true;
      std::set<std::string> racks;
      for (int n = 0; n < nodes; ++n) {
        if ((set >> n & 1) == 0) continue;
        ++count;
        sum += free[static_cast<size_t>(n)];
        fits = fits && free[static_cast<size_t>(n)] >= static_cast<int>(std::max(1u, least));
        racks.insert(state.inventory().nodes(n).rack());
      }
      fits = fits && sum >= static_cast<int>(request.cards()) &&
             count * static_cast<int>(std::max(1u, least)) <= static_cast<int>(request.cards()) &&
             (request.max_nodes() == 0 || count <= static_cast<int>(request.max_nodes())) &&
             (!request.same_rack() || racks.size() == 1);
      if (fits && (fewest == 0 || count < fewest)) fewest = count;
    }
    const auto placement = Plan(state, request);
    ASSERT_EQ(placement.has_refusal(), fewest == 0) << wire::ToJson(state) << wire::ToJson(request);
    if (fewest == 0) continue;
    ++placed;
    ASSERT_EQ(placement.nodes_size(), fewest) << wire::ToJson(state) << wire::ToJson(request);
    std::set<std::string> cards;
    for (const auto& node : placement.nodes()) {
      EXPECT_GE(static_cast<uint32_t>(node.cards_size()), least);
      for (const auto& card : node.cards()) EXPECT_TRUE(cards.insert(card.card_id()).second);
    }
    EXPECT_EQ(cards.size(), request.cards());
    for (const auto& grant : state.grants()) {
      EXPECT_EQ(cards.count(grant.placement().nodes(0).cards(0).card_id()), 0u)
          << "held by somebody else";
    }
    EXPECT_EQ(wire::Serialize(placement), wire::Serialize(Plan(state, request)))
        << "the same again";
  }
  EXPECT_GT(placed, 200);
}

TEST(Check, InventoriesAndRequests) {
  v1::Inventory inventory;
  *inventory.add_nodes() = Node("a", "r", 2);
  EXPECT_OK(CheckInventory(inventory));
  *inventory.add_nodes() = Node("a", "r", 0);
  EXPECT_REASON(CheckInventory(inventory), "alloc.duplicate", "nodes[1].name");
  inventory.mutable_nodes(1)->set_name("b c");
  EXPECT_REASON(CheckInventory(inventory), "alloc.inventory", "nodes[1].name");
  inventory.mutable_nodes(1)->set_name("b");
  inventory.mutable_nodes(1)->add_cards()->set_id("a-c0");
  EXPECT_REASON(CheckInventory(inventory), "alloc.duplicate", "nodes[1].cards[0].id");
  EXPECT_REASON(CheckRequest(Request(0)), "alloc.request", "cards");
  auto request = Request(2);
  request.set_min_cards_per_node(3);
  EXPECT_REASON(CheckRequest(request), "alloc.request", "min_cards_per_node");
}

}  // namespace
}  // namespace aistation::alloc
