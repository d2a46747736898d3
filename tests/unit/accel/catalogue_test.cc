// SPDX-License-Identifier: Apache-2.0
#include "accel/catalogue.h"

#include <unistd.h>

#include <set>

#include "accel/discover.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"

namespace aistation::accel {
namespace {

TEST(Catalogue, TheBuiltInOne) {
  const auto catalogue = Catalogue::Load("");
  ASSERT_OK(catalogue);
  EXPECT_GE((*catalogue)->models().size(), 20u);
  std::set<std::string> vendors;
  for (const auto& model : (*catalogue)->models()) vendors.insert(model.vendor);
  EXPECT_GE(vendors.size(), 5u);
  const Model* h100 = (*catalogue)->FindByPciId("10de:2330");
  ASSERT_NE(h100, nullptr);
  EXPECT_THAT(h100->model, ::testing::HasSubstr("H100"));
  EXPECT_EQ(h100->memory_bytes, uint64_t{80} << 30);
  EXPECT_EQ(h100->visible_devices_env, "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ((*catalogue)->FindByPciId("ffff:ffff"), nullptr);
  EXPECT_EQ((*catalogue)->FindByName(h100->model), h100);
}

TEST(Catalogue, ItsJsonCanBeReadAgain) {
  const auto catalogue = Catalogue::Load("");
  const auto again = Catalogue::Parse((*catalogue)->ToJson(), "again");
  ASSERT_OK(again);
  EXPECT_EQ((*again)->ToJson(), (*catalogue)->ToJson());
}

TEST(Catalogue, RefusalsNameFileAndField) {
  const auto refuse = [](std::string_view text, const char* part) {
    const auto result = Catalogue::Parse(text, "cards.jsonc");
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("cards.jsonc"));
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr(part));
  };
  refuse(R"({"models": [{"vendor": 1}]})", "models[0].vendor");
  refuse(R"({"models": [{"vendor": "v", "model": "m", "pci_ids": ["10DE:2330"]}]})", "pci_ids[0]");
  refuse(R"({"models": [{"vendor": "v", "model": "m"}]})", "pci_ids");
  refuse(R"({"models": [{"wat": 1}]})", "wat");
  refuse(R"({"cards": []})", "cards");
  refuse("{", "line 1");
  const auto twice =
      Catalogue::Parse(R"({"models": [{"vendor": "v", "model": "a", "pci_ids": ["10de:0001"]},
                                                     {"vendor": "v", "model": "b", "pci_ids": ["10de:0001"]}]})",
                       "x");
  EXPECT_TRUE(absl::IsAlreadyExists(twice.status()));
}

TEST(Catalogue, ADirectoryAddsUp) {
  const testing::TempDir dir;
  dir.Write("a.jsonc", R"({"models": [{"vendor": "v", "model": "a", "pci_ids": ["10de:0001"]}]})");
  dir.Write("b.jsonc", R"({"models": [{"vendor": "v", "model": "b", "pci_ids": ["10de:0002"]}]})");
  dir.Write("c.txt", "not read");
  EXPECT_EQ((*Catalogue::Load(dir.path()))->models().size(), 2u);
  EXPECT_TRUE(absl::IsNotFound(Catalogue::Load(dir / "none").status()));
}

// A new card by configuration only.
TEST(Discover, ACardThatOnlyAFileKnows) {
  const testing::TempDir dir;
  const std::string base = "sys/devices/pci0000:00/0000:05:00.0/";
  dir.Write(base + "class", "0x120000\n");
  dir.Write(base + "vendor", "0x1234\n");
  dir.Write(base + "device", "0xabcd\n");
  dir.Write(base + "numa_node", "-1\n");
  ASSERT_OK(util::MakeDirectories(dir / "sys/bus/pci/devices"));
  ASSERT_EQ(symlink("../../../devices/pci0000:00/0000:05:00.0",
                    (dir / "sys/bus/pci/devices/0000:05:00.0").c_str()),
            0);
  auto node = Discover(dir.path(), **Catalogue::Load(""));
  ASSERT_OK(node);
  ASSERT_EQ(node->cards_size(), 1);
  EXPECT_EQ(node->cards(0).model(), "");
  const auto own = Catalogue::Parse(
      R"({"models": [{"vendor": "New", "model": "N1", "pci_ids": ["1234:abcd"], "memory_gib": 64}]})",
      "x");
  node = Discover(dir.path(), **own);
  ASSERT_OK(node);
  EXPECT_EQ(node->cards(0).model(), "N1");
  EXPECT_EQ(node->cards(0).memory_bytes(), uint64_t{64} << 30);
  EXPECT_EQ(node->cards(0).health(), v1::HEALTH_NO_DRIVER) << "seen by the bus only";
}

}  // namespace
}  // namespace aistation::accel
