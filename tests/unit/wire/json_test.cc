// SPDX-License-Identifier: Apache-2.0
#include "aistation/v1/inventory.pb.h"
#include "aistation/v1/job.pb.h"
#include "aistation/v1/store.pb.h"
#include "unit/testing/matchers.h"
#include "wire/json_reader.h"
#include "wire/wire.h"

namespace aistation::wire {
namespace {

v1::Inventory Sample() {
  v1::Inventory out;
  auto* node = out.add_nodes();
  node->set_name("n\"1\n");
  node->set_memory_bytes(18446744073709551615u);
  (*node->mutable_labels())["b"] = "2";
  (*node->mutable_labels())["a"] = "1";
  auto* card = node->add_cards();
  card->set_id("c");
  card->set_numa_node(-1);
  card->set_health(v1::HEALTH_OK);
  return out;
}

TEST(Json, GoesBothWays) {
  const v1::Inventory before = Sample();
  const auto after = FromJson<v1::Inventory>(ToJson(before), "doc");
  ASSERT_OK(after);
  EXPECT_EQ(Serialize(*after), Serialize(before));
  const auto pretty = FromJson<v1::Inventory>(ToJson(before, 2), "doc");
  ASSERT_OK(pretty);
  EXPECT_EQ(Serialize(*pretty), Serialize(before));
}

TEST(Json, SameMessageSameBytes) {
  v1::NodeInventory a;
  v1::NodeInventory b;
  for (int i = 0; i < 50; ++i) (*a.mutable_labels())[util::StrCat("k", i)] = "v";
  for (int i = 49; i >= 0; --i) (*b.mutable_labels())[util::StrCat("k", i)] = "v";
  EXPECT_EQ(Serialize(a), Serialize(b));
  EXPECT_EQ(ToJson(a), ToJson(b));
}

TEST(Json, TakesNumbersAsTextAndEnumsAsNumbers) {
  const auto node = FromJson<v1::NodeInventory>(
      R"({"memory_bytes": "123", "port": 7, "health": 2, "cards": [{"health": "HEALTH_BAD"}]})",
      "doc");
  ASSERT_OK(node);
  EXPECT_EQ(node->memory_bytes(), 123u);
  EXPECT_EQ(node->health(), v1::HEALTH_SUSPECT);
  EXPECT_EQ(node->cards(0).health(), v1::HEALTH_BAD);
}

TEST(Json, BytesAreBase64) {
  v1::StoreEntry entry;
  entry.set_value(std::string("\0\xff", 2));
  EXPECT_THAT(ToJson(entry), ::testing::HasSubstr("\"AP8=\""));
  EXPECT_EQ(FromJson<v1::StoreEntry>(ToJson(entry), "doc")->value(), entry.value());
}

TEST(Json, RefusalsNameTheField) {
  const auto refuse = [](std::string_view text, std::string_view part) {
    const auto result = FromJson<v1::Inventory>(text, "file.json");
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("file.json"));
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr(std::string(part)));
  };
  refuse(R"({"nodes": [{"name": 5}]})", "nodes[0].name");
  refuse(R"({"nodes": [{}, {"cards": [{"idd": "x"}]}]})", "idd");
  refuse(R"({"nodes": [{"port": -1}]})", "nodes[0].port");
  refuse(R"({"nodes": [{"port": 4294967296}]})", "nodes[0].port");
  refuse(R"({"nodes": [{"port": 1.5}]})", "nodes[0].port");
  refuse(R"({"nodes": [{"health": "HEALTH_GREAT"}]})", "nodes[0].health");
  refuse(R"({"nodes": {}})", "nodes");
  refuse("[]", "object");
  refuse(R"({"nodes": [)", "line 1");
  refuse(R"({"nodes": [], "nodes": []})", "nodes");
  refuse("", "not valid JSON");
  refuse("\xff\xfe", "not valid JSON");
}

TEST(Json, DepthIsBounded) {
  std::string deep = "{\"nodes\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_FALSE(ParseJson(deep, "deep").ok());
  std::string allowed;
  for (int i = 0; i < 60; ++i) allowed += "[";
  for (int i = 0; i < 60; ++i) allowed += "]";
  EXPECT_OK(ParseJson(allowed, "allowed"));
}

TEST(Json, CommentsAreAllowed) {
  EXPECT_OK(FromJson<v1::Inventory>("// one\n{ /* two */ \"nodes\": [] }", "doc"));
}

TEST(Protobuf, GarbageIsRefused) {
  EXPECT_FALSE(Parse<v1::Inventory>(Format::kProtobuf, "\x0a\xff\xff\xff\xff\x0f", "doc").ok());
  EXPECT_OK(Parse<v1::Inventory>(Format::kProtobuf, "", "doc"));
  const v1::Inventory sample = Sample();
  EXPECT_EQ(Serialize(*Parse<v1::Inventory>(Format::kProtobuf, Serialize(sample), "doc")),
            Serialize(sample));
}

}  // namespace
}  // namespace aistation::wire
