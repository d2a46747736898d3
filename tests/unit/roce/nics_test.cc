// SPDX-License-Identifier: Apache-2.0
#include "roce/nics.h"

#include <algorithm>
#include <map>

#include "roce/echo.h"
#include "roce/environment.h"
#include "unit/testing/matchers.h"
#include "util/strings.h"

namespace aistation::roce {
namespace {

v1::Nic Nic(const std::string& id, uint64_t speed = 200'000) {
  v1::Nic nic;
  nic.set_id(id);
  nic.set_state("ACTIVE");
  nic.set_link_layer("Ethernet");
  nic.set_pci_address(id);
  nic.set_speed_mbps(speed);
  nic.set_port(1);
  nic.set_address("10.0.0.1");
  return nic;
}

void Link(v1::NodeInventory* node, const std::string& a, const std::string& b, v1::LinkClass link) {
  auto* distance = node->add_distances();
  distance->set_a(a);
  distance->set_b(b);
  distance->set_link(link);
}

TEST(ChooseNics, NearestThenFastest) {
  v1::NodeInventory node;
  node.add_cards()->set_id("c");
  *node.add_nics() = Nic("far", 400'000);
  *node.add_nics() = Nic("near", 100'000);
  *node.add_nics() = Nic("near-fast", 200'000);
  Link(&node, "c", "far", v1::LINK_CLASS_SYS);
  Link(&node, "c", "near", v1::LINK_CLASS_PIX);
  Link(&node, "near-fast", "c", v1::LINK_CLASS_PIX);
  auto choices = ChooseNics(node);
  ASSERT_EQ(choices.choices_size(), 1);
  EXPECT_EQ(choices.choices(0).nic_id(), "near-fast");
  EXPECT_EQ(choices.choices(0).link(), v1::LINK_CLASS_PIX);
  EXPECT_FALSE(choices.choices(0).why().empty());
  node.mutable_nics(2)->set_state("DOWN");
  EXPECT_EQ(ChooseNics(node).choices(0).nic_id(), "near");
  node.mutable_nics(1)->set_health(v1::HEALTH_BAD);
  EXPECT_EQ(ChooseNics(node).choices(0).nic_id(), "far");
  node.mutable_nics(0)->set_state("DOWN");
  EXPECT_EQ(ChooseNics(node).choices_size(), 0) << "a card without a usable NIC is left out";
}

// Random machines: no other choice is nearer, and with nested sets none is more even.
TEST(ChooseNics, IsAsTheOracle) {
  auto random = testing::Random();
  for (int round = 0; round < 300; ++round) {
    v1::NodeInventory node;
    const int cards = 1 + static_cast<int>(random() % 4);
    const int nics = 1 + static_cast<int>(random() % 3);
    for (int n = 0; n < nics; ++n) *node.add_nics() = Nic(util::StrCat("n", n));
    std::vector<std::vector<int>> link(static_cast<size_t>(cards));
    for (int c = 0; c < cards; ++c) {
      node.add_cards()->set_id(util::StrCat("c", c));
      for (int n = 0; n < nics; ++n) {
        // Either one near set for all, or all alike: the sets are nested.
        const auto cls =
            n <= static_cast<int>(random() % 2) * nics ? v1::LINK_CLASS_PIX : v1::LINK_CLASS_SYS;
        link[static_cast<size_t>(c)].push_back(cls);
        Link(&node, util::StrCat("c", c), util::StrCat("n", n), cls);
      }
    }
    const auto choices = ChooseNics(node);
    ASSERT_EQ(choices.choices_size(), cards);
    for (const auto& choice : choices.choices()) {
      const auto& row = link[static_cast<size_t>(choice.card_id()[1] - '0')];
      EXPECT_EQ(static_cast<int>(choice.link()), *std::min_element(row.begin(), row.end()));
    }
  }
  // Eight cards that see four NICs alike: two each.
  v1::NodeInventory node;
  for (int c = 0; c < 8; ++c) node.add_cards()->set_id(util::StrCat("c", c));
  for (int n = 0; n < 4; ++n) *node.add_nics() = Nic(util::StrCat("n", n));
  std::map<std::string, int> load;
  const auto choices = ChooseNics(node);
  for (const auto& choice : choices.choices()) ++load[choice.nic_id()];
  for (const auto& [nic, n] : load) EXPECT_EQ(n, 2) << nic;
  EXPECT_EQ(load.size(), 4u);
}

TEST(ChooseGid, RoceV2OnIpv4First) {
  v1::Nic nic;
  EXPECT_EQ(ChooseGid(nic), -1);
  const auto add = [&nic](uint32_t index, const char* type, const char* ipv4) {
    auto* gid = nic.add_gids();
    gid->set_index(index);
    gid->set_type(type);
    gid->set_ipv4(ipv4);
  };
  add(0, "IB/RoCE v1", "");
  EXPECT_EQ(ChooseGid(nic), 0);
  add(1, "RoCE v2", "");
  EXPECT_EQ(ChooseGid(nic), 1);
  add(2, "IB/RoCE v1", "10.0.0.1");
  add(3, "RoCE v2", "10.0.0.1");
  EXPECT_EQ(ChooseGid(nic), 3);
}

TEST(Environment, NamesExactlyTheNics) {
  v1::Placement placement;
  auto* node = placement.add_nodes();
  node->set_node("a");
  for (int i = 0; i < 2; ++i) {
    auto* card = node->add_cards();
    card->set_card_id(util::StrCat("c", i));
    card->set_nic_id(util::StrCat("mlx5_", i));
    card->set_nic_netdev(util::StrCat("eth", i));
    card->set_nic_port(1);
    card->set_nic_address(util::StrCat("10.0.0.", i));
    card->set_gid_index(3);
  }
  const auto environment = MakeEnvironment(placement);
  ASSERT_OK(environment);
  ASSERT_EQ(environment->ranks_size(), 2);
  const auto& variables = environment->ranks(0).variables();
  ASSERT_TRUE(variables.count("NCCL_IB_HCA"));
  EXPECT_EQ(variables.at("NCCL_IB_HCA")[0], '=') << "exact names, not prefixes";
  EXPECT_THAT(variables.at("NCCL_IB_HCA"), ::testing::HasSubstr("mlx5_0"));
  EXPECT_EQ(variables.at("NCCL_IB_GID_INDEX"), "3");
  for (const auto& [name, value] : variables) {
    EXPECT_TRUE(environment->ranks(0).why().count(name)) << name << " has no reason";
  }
}

TEST(Echo, TcpAndUdpWithTheSecretOnly) {
  const std::string secret(kSecretBytes, 's');
  const EchoListeners listeners({"127.0.0.1", "127.0.0.2", "203.0.113.7"}, secret, 20'000'000'000);
  ASSERT_EQ(listeners.ports().size(), 3u);
  EXPECT_FALSE(listeners.ports()[2].error.empty()) << "an address that this machine does not have";
  for (const bool udp : {false, true}) {
    EchoTarget target{"127.0.0.2", "127.0.0.1",
                      udp ? listeners.ports()[0].udp : listeners.ports()[0].tcp, udp};
    const auto rtt = EchoOnce(target, secret, 3'000'000'000);
    ASSERT_OK(rtt);
    EXPECT_GT(*rtt, 0u);
    EXPECT_FALSE(EchoOnce(target, std::string(kSecretBytes, 'x'), 200'000'000).ok());
    target.port = 1;
    EXPECT_REASON(EchoOnce(target, secret, 200'000'000), "roce.unreachable", "127.0.0.1");
  }
}

}  // namespace
}  // namespace aistation::roce
