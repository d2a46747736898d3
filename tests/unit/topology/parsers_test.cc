// SPDX-License-Identifier: Apache-2.0
// Machines from files, and from a sysfs tree that the test makes. Distances are checked by hand.
#include <sys/stat.h>
#include <unistd.h>

#include "topology/sysfs.h"
#include "topology/topology.h"
#include "topology/tree.h"
#include "topology/xml.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/strings.h"

namespace aistation::topology {
namespace {

TEST(Xml, ReadsWhatItShould) {
  const auto root = ParseXml(
      "<?xml version=\"1.0\"?>\n<!-- c --><a x=\"1 &amp; 2\">\n <b/><c y='z'></c></a>", "f.xml");
  ASSERT_OK(root);
  EXPECT_EQ(root->Get("x"), "1 & 2");
  ASSERT_EQ(root->children.size(), 2u);
  EXPECT_EQ(root->children[1].Get("y"), "z");
  EXPECT_EQ(root->children[1].line, 3);
}

TEST(Xml, RefusesAndNamesTheLine) {
  EXPECT_REASON(ParseXml("<a>\n<b>\n</a>", "f.xml"), "topology.xml", "f.xml");
  for (const char* bad :
       {"", "<a", "<a></b>", "<a x=1/>", "<a/><b/>", "<a>&lol;</a>", "<a x=\"1\" x=\"2\"/>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a \xff/>"}) {
    EXPECT_FALSE(ParseXml(bad, "f.xml").ok()) << bad;
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_FALSE(ParseXml(deep, "deep.xml").ok());
}

TEST(Pci, AddressesAndBandwidth) {
  EXPECT_EQ(NormalizePciAddress("3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(NormalizePciAddress("00000000:3b:00.0"), "0000:3b:00.0");
  for (const char* bad : {"", "3b", "zz:00.0", "0000:3b:00.9", "0000:3b:00.00"})
    EXPECT_EQ(NormalizePciAddress(bad), "") << bad;
  // 16 GT/s times 16 lanes, 128b/130b.
  EXPECT_NEAR(static_cast<double>(PcieBandwidthMbps("16.0 GT/s PCIe", 16)),
              16000.0 * 16 * 128 / 130, 2);
  EXPECT_NEAR(static_cast<double>(PcieBandwidthMbps("5.0 GT/s PCIe", 8)), 5000.0 * 8 * 8 / 10, 2);
  EXPECT_EQ(PcieBandwidthMbps("Unknown", 16), 0u);
}

constexpr const char* kNccl = R"(<system version="1">
  <cpu numaid="0" arch="x86_64">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90"/></pci>
      <pci busid="0000:12:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16"><nic><net name="mlx5_0" dev="0" speed="400000" port="1"/></nic></pci>
    </pci>
    <pci busid="0000:20:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:21:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="90"/></pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64">
    <pci busid="0000:31:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="2" sm="90"/></pci>
  </cpu>
</system>)";

TEST(Nccl, CardsNicsAndDistances) {
  const auto node = ParseNcclXml(kNccl, "t.xml");
  ASSERT_OK(node);
  ASSERT_EQ(node->cards_size(), 3);
  ASSERT_EQ(node->nics_size(), 1);
  EXPECT_EQ(node->cards(0).pci_address(), "0000:11:00.0");
  EXPECT_EQ(node->cards(0).pci_id(), "10de:2330");
  EXPECT_EQ(node->cards(2).numa_node(), 1);
  EXPECT_EQ(node->nics(0).speed_mbps(), 400'000u);
  const Topology topology(*node);
  const auto link = [&](const std::string& a, const std::string& b) {
    return topology.Distance(a, b)->link;
  };
  EXPECT_EQ(link("0000:11:00.0", "mlx5_0"), v1::LINK_CLASS_PIX) << "behind one switch";
  EXPECT_EQ(link("mlx5_0", "0000:11:00.0"), v1::LINK_CLASS_PIX) << "both ways";
  EXPECT_EQ(link("0000:21:00.0", "mlx5_0"), v1::LINK_CLASS_PHB) << "the same CPU";
  EXPECT_EQ(link("0000:31:00.0", "mlx5_0"), v1::LINK_CLASS_SYS) << "the other one";
  EXPECT_EQ(link("0000:11:00.0", "0000:11:00.0"), v1::LINK_CLASS_SELF);
  EXPECT_REASON(topology.Distance("0000:11:00.0", "x"), "topology.no_device", "x");
}

TEST(Nccl, RefusalsNameTheLine) {
  EXPECT_FALSE(ParseNcclXml("<topology/>", "t.xml").ok());
  const auto bad = ParseNcclXml("<system>\n<cpu numaid=\"x\"/></system>", "t.xml");
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(util::Message(bad.status()), ::testing::HasSubstr("t.xml"));
}

constexpr const char* kHwloc = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0">
  <object type="Package" os_index="0">
   <object type="NUMANode" os_index="0" local_memory="64000"/>
   <object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[00-1f]">
    <object type="Bridge" bridge_type="1-1" depth="1" bridge_pci="0000:[02-05]" pci_busid="0000:01:00.0" pci_type="0604 [8086:0001] [0000:0000] 01" pci_link_speed="15.75">
     <object type="Bridge" bridge_type="1-1" depth="2" bridge_pci="0000:[03-03]" pci_busid="0000:02:00.0" pci_type="0604 [10b5:8747] [0000:0000] ca" pci_link_speed="15.75">
      <object type="PCIDev" pci_busid="0000:03:00.0" pci_type="0302 [10de:2330] [10de:1626] a1" pci_link_speed="15.75"/>
     </object>
     <object type="Bridge" bridge_type="1-1" depth="2" bridge_pci="0000:[04-04]" pci_busid="0000:02:01.0" pci_type="0604 [10b5:8747] [0000:0000] ca" pci_link_speed="15.75">
      <object type="PCIDev" pci_busid="0000:04:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" pci_link_speed="15.75">
       <object type="OSDev" name="mlx5_0" osdev_type="3"/>
      </object>
     </object>
    </object>
   </object>
  </object>
  <object type="Package" os_index="1">
   <object type="NUMANode" os_index="1" local_memory="64000"/>
   <object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[80-8f]">
    <object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0302 [10de:2330] [10de:1626] a1" pci_link_speed="15.75"/>
   </object>
  </object>
 </object>
</topology>)";

TEST(Hwloc, CardsNicsAndDistances) {
  const auto node = ParseHwlocXml(kHwloc, "h.xml");
  ASSERT_OK(node);
  ASSERT_EQ(node->cards_size(), 2);
  ASSERT_EQ(node->nics_size(), 1);
  EXPECT_EQ(node->numa_nodes_size(), 2);
  EXPECT_EQ(node->cards(1).numa_node(), 1);
  EXPECT_EQ(node->nics(0).id(), "mlx5_0");
  const Topology topology(*node);
  EXPECT_EQ(topology.Distance("0000:03:00.0", "mlx5_0")->link, v1::LINK_CLASS_PIX);
  EXPECT_EQ(topology.Distance("0000:81:00.0", "mlx5_0")->link, v1::LINK_CLASS_SYS);
  EXPECT_FALSE(ParseHwlocXml("<system/>", "h.xml").ok());
}

// A machine in sysfs: a root port, a switch with a card and a NIC behind it.
class Sysfs : public ::testing::Test {
 protected:
  void Device(const std::string& path, const std::string& cls, const std::string& id, int numa) {
    const std::string base = "sys/devices/" + path + "/";
    const std::string address = path.substr(path.rfind('/') + 1);
    dir_.Write(base + "class", "0x" + cls + "\n");
    dir_.Write(base + "vendor", "0x" + id.substr(0, 4) + "\n");
    dir_.Write(base + "device", "0x" + id.substr(5) + "\n");
    dir_.Write(base + "numa_node", util::StrCat(numa, "\n"));
    dir_.Write(base + "current_link_speed", "16.0 GT/s PCIe\n");
    dir_.Write(base + "current_link_width", "16\n");
    ASSERT_OK(util::MakeDirectories(dir_ / "sys/bus/pci/devices"));
    ASSERT_EQ(symlink(("../../../devices/" + path).c_str(),
                      (dir_ / ("sys/bus/pci/devices/" + address)).c_str()),
              0);
  }
  testing::TempDir dir_;
};

TEST_F(Sysfs, ReadsAMachine) {
  Device("pci0000:00/0000:00:01.0", "060400", "8086:0001", 0);
  Device("pci0000:00/0000:00:01.0/0000:01:00.0", "060400", "10b5:8747", 0);
  Device("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0", "060400", "10b5:8747", 0);
  Device("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0", "030200", "10de:2330",
         0);
  Device("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0", "060400", "10b5:8747", 0);
  const std::string nic = "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0";
  Device(nic, "020000", "15b3:1021", 0);
  Device("pci0000:80/0000:81:00.0", "030200", "10de:2330", 1);
  for (const int socket : {0, 1}) {
    dir_.Write(util::StrCat("sys/devices/system/node/node", socket, "/cpulist"),
               util::StrCat(socket, "\n"));
    dir_.Write(util::StrCat("sys/devices/system/cpu/cpu", socket, "/topology/physical_package_id"),
               util::StrCat(socket, "\n"));
  }
  const std::string ib = "sys/devices/" + nic + "/infiniband/mlx5_0/";
  dir_.Write(ib + "ports/1/state", "4: ACTIVE\n");
  dir_.Write(ib + "ports/1/link_layer", "Ethernet\n");
  dir_.Write(ib + "ports/1/rate", "200 Gb/sec (4X HDR)\n");
  dir_.Write(ib + "ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  dir_.Write(ib + "ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  dir_.Write(ib + "ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
  dir_.Write(ib + "ports/1/gid_attrs/types/3", "RoCE v2\n");
  dir_.Write(ib + "ports/1/gid_attrs/ndevs/3", "eth0\n");
  ASSERT_OK(util::MakeDirectories(dir_ / "sys/class/infiniband"));
  ASSERT_EQ(symlink(("../../devices/" + nic + "/infiniband/mlx5_0").c_str(),
                    (dir_ / "sys/class/infiniband/mlx5_0").c_str()),
            0);
  ASSERT_EQ(symlink("../../../0000:04:00.0", (dir_ / (ib + "device")).c_str()), 0);
  const auto node = ReadMachine(dir_.path(), IsCardByClass);
  ASSERT_OK(node);
  ASSERT_EQ(node->cards_size(), 2);
  EXPECT_EQ(node->cards(1).numa_node(), 1);
  ASSERT_EQ(node->nics_size(), 1);
  EXPECT_EQ(node->nics(0).id(), "mlx5_0");
  EXPECT_EQ(node->nics(0).state(), "ACTIVE");
  EXPECT_EQ(node->nics(0).speed_mbps(), 200'000u);
  ASSERT_EQ(node->nics(0).gids_size(), 2);
  EXPECT_EQ(node->nics(0).gids(1).index(), 3u);
  EXPECT_EQ(node->nics(0).gids(1).ipv4(), "10.0.0.1");
  const Topology topology(*node);
  EXPECT_EQ(topology.Distance("0000:03:00.0", "mlx5_0")->link, v1::LINK_CLASS_PIX);
  EXPECT_EQ(topology.Distance("0000:81:00.0", "mlx5_0")->link, v1::LINK_CLASS_SYS);
}

TEST_F(Sysfs, RefusesWhatCannotBeTrue) {
  EXPECT_REASON(ReadMachine(dir_.path(), IsCardByClass), "topology.no_sysfs", dir_.path());
  Device("pci0000:00/0000:03:00.0", "030200", "10de:2330", 0);
  dir_.Write("sys/devices/pci0000:00/0000:03:00.0/class", "garbage\n");
  EXPECT_REASON(ReadMachine(dir_.path(), IsCardByClass), "topology.sysfs", "0000:03:00.0");
}

TEST(Load, GuessesTheKind) {
  const testing::TempDir dir;
  EXPECT_OK(Load(SourceKind::kGuess, dir.Write("n", kNccl)));
  EXPECT_OK(Load(SourceKind::kGuess, dir.Write("h", kHwloc)));
  EXPECT_OK(Load(SourceKind::kGuess, dir.Write("j", "{\"name\": \"x\"}")));
  EXPECT_FALSE(Load(SourceKind::kGuess, dir.Write("g", "garbage")).ok());
  EXPECT_TRUE(absl::IsNotFound(Load(SourceKind::kNcclXml, dir / "none").status()));
}

}  // namespace
}  // namespace aistation::topology
