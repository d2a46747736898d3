// SPDX-License-Identifier: Apache-2.0
#include "transfer/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "unit/testing/matchers.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

std::vector<v1::Member> Members(size_t count, size_t racks) {
  std::vector<v1::Member> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i].set_node(util::StrCat("node", i));
    out[i].set_rack(util::StrCat("rack", i % racks));
  }
  return out;
}

// For many shapes: everybody gets every chunk from its reader over the relays, and the load is
// even.
TEST(Plan, EveryChunkReachesEverybody) {
  auto random = testing::Random();
  for (int round = 0; round < 60; ++round) {
    const size_t count = 1 + random() % 20;
    const size_t racks = 1 + random() % 4;
    const uint64_t chunks = random() % 200;
    auto members = Members(count, racks);
    const Plan plan(util::StrCat("object", round), chunks, members);
    std::shuffle(members.begin(), members.end(), random);
    const Plan other(util::StrCat("object", round), chunks, members);
    std::map<size_t, uint64_t> reads;
    for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
      const size_t reader = plan.Reader(chunk);
      ++reads[reader];
      EXPECT_EQ(plan.member(reader).node(), other.member(other.Reader(chunk)).node())
          << "the order of the members does not matter";
      std::map<size_t, int> children;
      int crossings = 0;
      std::set<size_t> turns;
      for (size_t m = 0; m < plan.members(); ++m) {
        size_t at = m;
        int hops = 0;
        while (plan.Parent(chunk, at) != at && hops <= 64) {
          at = plan.Parent(chunk, at);
          ++hops;
        }
        EXPECT_EQ(at, reader) << "all trees end at the reader";
        const size_t parent = plan.Parent(chunk, m);
        if (parent != m) {
          ++children[parent];
          if (plan.member(parent).rack() != plan.member(m).rack()) ++crossings;
        }
        EXPECT_TRUE(turns.insert(plan.Succession(chunk, m)).second);
      }
      for (const auto& [node, n] : children) EXPECT_LE(n, 4);
      EXPECT_LE(crossings, static_cast<int>(racks) - 1) << "a chunk crosses into each rack once";
      EXPECT_EQ(plan.Succession(chunk, reader), 0u);
    }
    if (chunks == 0) continue;
    uint64_t most = 0;
    uint64_t least = UINT64_MAX;
    for (size_t m = 0; m < count; ++m) {
      most = std::max(most, reads[m]);
      least = std::min(least, reads[m]);
    }
    EXPECT_LE(most - least, kRunChunks);
  }
}

TEST(Plan, FetchOrderHasAllOtherChunksOnce) {
  const Plan plan("object", 100, Members(5, 2));
  for (size_t m = 0; m < plan.members(); ++m) {
    std::set<uint64_t> seen;
    for (const uint64_t chunk : plan.FetchOrder(m)) {
      EXPECT_NE(plan.Reader(chunk), m);
      EXPECT_TRUE(seen.insert(chunk).second);
    }
    uint64_t own = 0;
    for (uint64_t c = 0; c < plan.chunks(); ++c) own += plan.Reader(c) == m ? 1 : 0;
    EXPECT_EQ(seen.size() + own, 100u);
  }
}

TEST(Journal, GoesBothWaysAndStopsAtDamage) {
  const std::string a = security::Sha256("a");
  const std::string b = security::Sha256("b");
  std::string bytes = JournalHeader(200'000, 65'536) + JournalRecord(0, a) + JournalRecord(3, b);
  auto journal = ReadJournal(bytes, "j");
  ASSERT_OK(journal);
  EXPECT_EQ(journal->size, 200'000u);
  EXPECT_THAT(journal->digests, ::testing::ElementsAre(a, "", "", b));
  journal = ReadJournal(bytes + JournalRecord(0, ""), "j");
  EXPECT_EQ(journal->digests[0], "") << "taken back";
  for (size_t cut = 1; cut < 40; ++cut) {
    journal = ReadJournal(bytes.substr(0, bytes.size() - cut), "j");
    ASSERT_OK(journal);
    EXPECT_THAT(journal->digests, ::testing::ElementsAre(a, "", "", ""))
        << "a torn record does not count";
  }
  bytes[bytes.size() - 60] ^= 1;
  EXPECT_EQ(ReadJournal(bytes, "j")->digests[0], "")
      << "nor one with a changed byte, nor what follows";
  bytes[10] ^= 1;
  EXPECT_REASON(ReadJournal(bytes, "file.chunks"), "transfer.journal", "file.chunks");
  EXPECT_FALSE(CheckGeometry("x", 1, 1).ok());
  EXPECT_FALSE(CheckGeometry("x", UINT64_MAX, 65'536).ok());
}

}  // namespace
}  // namespace aistation::transfer
