// SPDX-License-Identifier: Apache-2.0
#include "alloc/allocator.h"

#include <atomic>
#include <set>
#include <thread>

#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/strings.h"

namespace aistation::alloc {
namespace {

v1::Inventory Cluster(int nodes, int cards) {
  v1::Inventory out;
  for (int n = 0; n < nodes; ++n) {
    auto* node = out.add_nodes();
    node->set_name(util::StrCat("n", n));
    for (int c = 0; c < cards; ++c) node->add_cards()->set_id(util::StrCat("n", n, "-c", c));
  }
  auto* quota = out.add_quotas();
  quota->set_department("risk");
  quota->set_cards(6);
  return out;
}

v1::PlacementRequest Request(const std::string& id, uint32_t cards,
                             const std::string& department = "x") {
  v1::PlacementRequest request;
  request.set_request_id(id);
  request.set_cards(cards);
  request.set_department(department);
  return request;
}

TEST(Allocator, GrantsOnceAndReleasesOnce) {
  const auto store = store::MakeMemoryStore();
  const v1::Inventory inventory = Cluster(2, 4);
  const auto allocator = Allocator::Open(store, &inventory);
  ASSERT_OK(allocator);
  const auto first = (*allocator)->Allocate(Request("a", 4));
  ASSERT_OK(first);
  EXPECT_EQ(first->grant_id(), "a");
  const auto again = (*allocator)->Allocate(Request("a", 4));
  ASSERT_OK(again);
  EXPECT_EQ(again->SerializeAsString(), first->SerializeAsString());
  EXPECT_REASON((*allocator)->Allocate(Request("a", 3)), "alloc.request_id", "a");
  EXPECT_EQ((*allocator)->State()->grants_size(), 1);
  EXPECT_REASON((*allocator)->Allocate(Request("b", 5)), "alloc.cards", "4 cards would fit now");
  EXPECT_OK((*allocator)->Release("a"));
  EXPECT_OK((*allocator)->Release("a"));
  EXPECT_REASON((*allocator)->Release("zzz"), "alloc.no_grant", "zzz");
  EXPECT_REASON((*allocator)->Allocate(Request("a", 4)), "alloc.released", "a");
  EXPECT_OK((*allocator)->Allocate(Request("b", 8)));
  const auto unnamed = (*allocator)->DryRun(Request("", 1));
  EXPECT_TRUE(unnamed->has_refusal());
  EXPECT_TRUE(unnamed->dry_run());
}

TEST(Allocator, QuotaCountsWhatIsHeld) {
  const auto store = store::MakeMemoryStore();
  const v1::Inventory inventory = Cluster(4, 4);
  const auto allocator = *Allocator::Open(store, &inventory);
  ASSERT_OK(allocator->Allocate(Request("a", 4, "risk")));
  EXPECT_REASON(allocator->Allocate(Request("b", 3, "risk")), "alloc.quota", "risk");
  ASSERT_OK(allocator->Allocate(Request("c", 2, "risk")));
  ASSERT_OK(allocator->Release("a"));
  EXPECT_OK(allocator->Allocate(Request("d", 4, "risk")));
  EXPECT_EQ(allocator->State()->used_by_department().at("risk"), 6u);
}

TEST(Allocator, TheLedgerOutlivesTheHandle) {
  const testing::TempDir dir;
  const v1::Inventory inventory = Cluster(1, 2);
  {
    const auto allocator = Allocator::Open(*store::OpenSqliteStore(dir / "s"), &inventory);
    ASSERT_OK((*allocator)->Allocate(Request("a", 1)));
    ASSERT_OK((*allocator)->Cordon("n0", "n0-c1", true, "test"));
  }
  const auto store = *store::OpenSqliteStore(dir / "s");
  const auto allocator = Allocator::Open(store, nullptr);
  ASSERT_OK(allocator);
  EXPECT_EQ((*allocator)->State()->grants_size(), 1);
  EXPECT_REASON((*allocator)->Allocate(Request("b", 1)), "alloc.cards", "");
  ASSERT_OK((*allocator)->Cordon("n0", "n0-c1", false, ""));
  EXPECT_OK((*allocator)->Allocate(Request("b", 1)));
  EXPECT_REASON(Allocator::Open(store::MakeMemoryStore(), nullptr), "alloc.no_inventory", "");
}

// Several processes' worth of allocators on one store: no card twice, no more than there are.
TEST(Allocator, ManyAtOnce) {
  const testing::TempDir dir;
  const v1::Inventory inventory = Cluster(4, 4);
  ASSERT_OK(Allocator::Open(*store::OpenSqliteStore(dir / "s"), &inventory));
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto allocator = Allocator::Open(*store::OpenSqliteStore(dir / "s"), nullptr);
      ASSERT_OK(allocator);
      for (int i = 0; i < 12; ++i) {
        const std::string id = util::StrCat(t, "-", i);
        const auto placement =
            (*allocator)->Allocate(Request(id, 1 + static_cast<uint32_t>(i % 3)));
        if (placement.ok()) {
          granted += 1 + i % 3;
          if (i % 2 == 0) {
            ASSERT_OK((*allocator)->Release(id));
            granted -= 1 + i % 3;
          }
        } else {
          ASSERT_EQ(placement.status().code(), absl::StatusCode::kResourceExhausted)
              << placement.status();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto state = (*Allocator::Open(*store::OpenSqliteStore(dir / "s"), nullptr))->State();
  std::set<std::string> cards;
  for (const auto& grant : state->grants()) {
    for (const auto& node : grant.placement().nodes()) {
      for (const auto& card : node.cards())
        EXPECT_TRUE(cards.insert(card.card_id()).second) << card.card_id();
    }
  }
  EXPECT_EQ(static_cast<int>(cards.size()), granted.load());
}

}  // namespace
}  // namespace aistation::alloc
