// SPDX-License-Identifier: Apache-2.0
// What every back-end must do, and a comparison with a map.
#include <map>
#include <thread>

#include "store/store.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/strings.h"

namespace aistation::store {
namespace {

class Conformance : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { store_ = Open(); }
  std::shared_ptr<Store> Open() {
    if (std::string(GetParam()) == "memory") return MakeMemoryStore(clock_);
    auto store = OpenSqliteStore(dir_ / "s.db", clock_);
    EXPECT_OK(store);
    return *store;
  }
  testing::TempDir dir_;
  util::Clock& clock_ = util::RealClock();
  std::shared_ptr<Store> store_;
};

TEST_P(Conformance, PutGetDelete) {
  EXPECT_REASON(store_->Get("k"), "store.no_key", "k");
  const auto first = store_->Put("k", std::string("\0v", 2));
  ASSERT_OK(first);
  auto entry = store_->Get("k");
  ASSERT_OK(entry);
  EXPECT_EQ(entry->value, std::string("\0v", 2));
  EXPECT_EQ(entry->revision, *first);
  EXPECT_EQ(entry->create_revision, *first);
  EXPECT_EQ(entry->version, 1);
  const auto second = store_->Put("k", "");
  EXPECT_EQ(*second, *first + 1);
  entry = store_->Get("k");
  EXPECT_EQ(entry->create_revision, *first);
  EXPECT_EQ(entry->version, 2);
  EXPECT_OK(store_->Delete("k", *second));
  EXPECT_REASON(store_->Delete("k"), "store.no_key", "k");
}

TEST_P(Conformance, CasAndTransactionsAreAllOrNothing) {
  const auto made = store_->Cas("k", 0, "1");
  ASSERT_OK(made);
  EXPECT_REASON(store_->Cas("k", 0, "2"), "store.revision_mismatch", "k");
  EXPECT_REASON(store_->Cas("k", *made + 5, "2"), "store.revision_mismatch", "k");
  EXPECT_OK(store_->Cas("k", *made, "2"));
  EXPECT_REASON(store_->Txn({{"k", *made}}, {{"k", "3", 0}, {"other", "x", 0}}),
                "store.revision_mismatch", "k");
  EXPECT_FALSE(store_->Get("other").ok());
  const auto both =
      store_->Txn({{"none", 0}}, {{"a", "1", 0}, {"b", "2", 0}, {"k", std::nullopt, 0}});
  ASSERT_OK(both);
  EXPECT_EQ(store_->Get("a")->revision, *both);
  EXPECT_EQ(store_->Get("b")->revision, *both);
  EXPECT_FALSE(store_->Get("k").ok());
}

TEST_P(Conformance, RangeIsSortedByBytesAndBounded) {
  for (const char* key : {"b", "a/\xff", "a/1", "a", "a/", "a0"}) ASSERT_OK(store_->Put(key, key));
  auto range = store_->Range("a/");
  ASSERT_OK(range);
  std::vector<std::string> keys;
  for (const auto& e : range->entries) keys.push_back(e.key);
  EXPECT_THAT(keys, ::testing::ElementsAre("a/", "a/1", "a/\xff"));
  EXPECT_FALSE(range->more);
  range = store_->Range("", 2);
  EXPECT_EQ(range->entries.size(), 2u);
  EXPECT_TRUE(range->more);
}

TEST_P(Conformance, LimitsOfKeysAndValues) {
  EXPECT_REASON(store_->Put("", "v"), "store.key", "");
  EXPECT_REASON(store_->Put(std::string(kMaxKeyBytes + 1, 'k'), "v"), "store.key", "");
  EXPECT_OK(store_->Put(std::string(kMaxKeyBytes, 'k'), "v"));
  EXPECT_REASON(store_->Put("k", std::string(kMaxValueBytes + 1, 'v')), "store.value", "");
  EXPECT_OK(store_->Put("k", std::string(kMaxValueBytes, 'v')));
}

TEST_P(Conformance, WatchDeliversFromARevision) {
  ASSERT_OK(store_->Put("w/1", "a"));
  const auto since = store_->Put("other", "x");
  ASSERT_OK(store_->Put("w/2", "b"));
  auto watch = store_->WatchPrefix("w/", *since);
  ASSERT_OK(watch);
  ASSERT_OK(store_->Delete("w/1"));
  auto change = (*watch)->Next(5'000'000'000);
  ASSERT_OK(change);
  EXPECT_EQ(change->entry.key, "w/2");
  EXPECT_FALSE(change->deleted);
  change = (*watch)->Next(5'000'000'000);
  ASSERT_OK(change);
  EXPECT_TRUE(change->deleted);
  EXPECT_EQ(change->entry.value, "a");
  EXPECT_REASON((*watch)->Next(10'000'000), "store.no_event", "");
}

TEST_P(Conformance, WatchWakesAndIsCancelled) {
  auto watch = store_->WatchPrefix("k", 0);
  ASSERT_OK(watch);
  std::thread writer([&] {
    util::RealClock().SleepNanos(30'000'000);
    EXPECT_OK(store_->Put("k", "v"));
  });
  EXPECT_OK((*watch)->Next(10'000'000'000));
  writer.join();
  std::thread canceller([&] {
    util::RealClock().SleepNanos(30'000'000);
    (*watch)->Cancel();
  });
  EXPECT_TRUE(absl::IsCancelled((*watch)->Next(-1).status()));
  canceller.join();
}

TEST_P(Conformance, LeasesTakeTheirKeysWithThem) {
  EXPECT_FALSE(store_->GrantLease(1).ok());
  EXPECT_REASON(store_->Put("k", "v", 12345), "store.no_lease", "");
  const auto lease = store_->GrantLease(100'000'000);
  ASSERT_OK(lease);
  ASSERT_OK(store_->Put("k", "v", *lease));
  ASSERT_OK(store_->Put("kept", "v"));
  EXPECT_EQ(store_->Get("k")->lease, *lease);
  for (int i = 0; i < 4; ++i) {
    util::RealClock().SleepNanos(50'000'000);
    ASSERT_OK(store_->KeepAlive(*lease));
  }
  EXPECT_OK(store_->Get("k"));
  util::RealClock().SleepNanos(300'000'000);
  EXPECT_FALSE(store_->Get("k").ok());
  EXPECT_OK(store_->Get("kept"));
  EXPECT_REASON(store_->KeepAlive(*lease), "store.no_lease", "");
  const auto other = store_->GrantLease(60'000'000'000);
  ASSERT_OK(store_->Put("k2", "v", *other));
  EXPECT_OK(store_->RevokeLease(*other));
  EXPECT_FALSE(store_->Get("k2").ok());
  EXPECT_FALSE(store_->RevokeLease(*other).ok());
}

TEST_P(Conformance, ConcurrentIncrementsLoseNothing) {
  ASSERT_OK(store_->Put("n", "0"));
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach;) {
        const auto entry = store_->Get("n");
        const auto written =
            store_->Cas("n", entry->revision, util::StrCat(*util::ParseInt<int>(entry->value) + 1));
        if (written.ok())
          ++i;
        else
          ASSERT_TRUE(absl::IsAborted(written.status())) << written.status();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(store_->Get("n")->value, util::StrCat(kThreads * kEach));
}

TEST_P(Conformance, IsAsAMap) {
  auto random = testing::Random();
  std::map<std::string, std::pair<std::string, int64_t>> model;
  for (int step = 0; step < 600; ++step) {
    const std::string key = util::StrCat("k", random() % 12);
    const auto it = model.find(key);
    const std::string value = util::StrCat(step);
    switch (random() % 4) {
      case 0: {
        const auto revision = store_->Put(key, value);
        ASSERT_OK(revision);
        model[key] = {value, *revision};
        break;
      }
      case 1: {
        const int64_t expected =
            random() % 2 == 0 ? 0 : (it == model.end() ? 1 : it->second.second);
        const auto revision = store_->Cas(key, expected, value);
        const bool fits = expected == (it == model.end() ? 0 : it->second.second);
        ASSERT_EQ(revision.ok(), fits) << revision.status();
        if (fits) model[key] = {value, *revision};
        break;
      }
      case 2:
        ASSERT_EQ(store_->Delete(key).ok(), it != model.end());
        if (it != model.end()) model.erase(it);
        break;
      default: {
        const auto range = store_->Range("k");
        ASSERT_EQ(range->entries.size(), model.size());
        size_t i = 0;
        for (const auto& [k, v] : model) {
          EXPECT_EQ(range->entries[i].key, k);
          EXPECT_EQ(range->entries[i].value, v.first);
          EXPECT_EQ(range->entries[i].revision, v.second);
          ++i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Conformance, ::testing::Values("memory", "sqlite"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace aistation::store
