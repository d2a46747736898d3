// SPDX-License-Identifier: Apache-2.0
#include "topology/sysfs.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "topology/tree.h"
#include "util/file.h"
#include "util/strings.h"

namespace aistation::topology {
namespace {

std::string Base(const std::string& root) { return root.empty() || root == "/" ? "" : root; }

std::string Resolve(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) == nullptr ? "" : std::string(buffer);
}

std::string LastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// "0x10de" to "10de".
absl::StatusOr<std::string> ReadHex(const std::string& path, size_t digits) {
  const std::string line = util::ReadLineOr(path, "");
  if (line.size() == digits + 2 && line.starts_with("0x") &&
      util::ParseInt<uint32_t>(std::string_view(line).substr(2), 16).has_value()) {
    return util::AsciiLower(std::string_view(line).substr(2));
  }
  return util::DataLoss("topology.sysfs",
                        util::StrCat(path, ": \"", util::Excerpt(line, 40), "\", expected 0x and ",
                                     digits, " hexadecimal digits"));
}

// Host bridge and bridges out of ".../pci0000:00/0000:00:01.0/0000:01:00.0".
std::vector<std::string> BridgesOf(std::string_view resolved) {
  std::vector<std::string> bridges;
  for (const auto part : util::Split(resolved, '/')) {
    if (part.starts_with("pci") && part.find(':') != std::string_view::npos) {
      bridges.assign(1, std::string(part));
    } else if (!bridges.empty() && !NormalizePciAddress(part).empty()) {
      bridges.emplace_back(part);
    }
  }
  if (!bridges.empty()) bridges.pop_back();  // the device itself
  return bridges;
}

absl::StatusOr<PciDevice> ReadPciDevice(const std::string& directory, const std::string& name) {
  PciDevice device;
  device.address = NormalizePciAddress(name);
  if (device.address.empty()) {
    return util::DataLoss("topology.sysfs", util::StrCat(directory, ": not a PCI address"));
  }
  AIST_ASSIGN_OR_RETURN(const std::string vendor, ReadHex(directory + "/vendor", 4));
  AIST_ASSIGN_OR_RETURN(const std::string id, ReadHex(directory + "/device", 4));
  AIST_ASSIGN_OR_RETURN(device.cls, ReadHex(directory + "/class", 6));
  device.id = vendor + ":" + id;
  const auto sub_vendor = ReadHex(directory + "/subsystem_vendor", 4);
  const auto sub_device = ReadHex(directory + "/subsystem_device", 4);
  if (sub_vendor.ok() && sub_device.ok()) device.subsystem = *sub_vendor + ":" + *sub_device;
  device.numa =
      util::ParseInt<int32_t>(util::ReadLineOr(directory + "/numa_node", "-1")).value_or(-1);
  const std::string driver = Resolve(directory + "/driver");
  if (!driver.empty()) device.driver = LastPart(driver);
  device.virtual_function = util::Exists(directory + "/physfn");
  device.bridges = BridgesOf(Resolve(directory));
  device.bandwidth_mbps = PcieBandwidthMbps(
      util::ReadLineOr(directory + "/current_link_speed", ""),
      util::ParseInt<uint64_t>(util::ReadLineOr(directory + "/current_link_width", "0"))
          .value_or(0));
  return device;
}

// "0-3,8" counts 5.
uint32_t CountCpus(std::string_view list) {
  uint32_t count = 0;
  for (const auto part : util::Split(list, ',')) {
    const size_t dash = part.find('-');
    const auto first = util::ParseInt<uint32_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : util::ParseInt<uint32_t>(part.substr(dash + 1));
    if (first && last && *last >= *first && *last < 65'536) count += *last - *first + 1;
  }
  return count;
}

uint64_t MemTotalBytes(const std::string& path) {
  const auto text = util::ReadFile(path, 1u << 20);
  if (!text.ok()) return 0;
  for (const auto line : util::Split(*text, '\n')) {
    const size_t at = line.find("MemTotal:");
    if (at == std::string_view::npos) continue;
    const std::string_view rest = util::Trim(line.substr(at + 9));
    return util::ParseInt<uint64_t>(rest.substr(0, rest.find(' '))).value_or(0) * 1024;
  }
  return 0;
}

void ReadNumaNodes(const std::string& base, v1::NodeInventory* node) {
  const std::string directory = base + "/sys/devices/system/node";
  const auto names = util::ListDirectory(directory, 10'000);
  if (names.ok()) {
    for (const auto& name : *names) {
      const auto id = name.starts_with("node")
                          ? util::ParseInt<uint32_t>(std::string_view(name).substr(4))
                          : std::nullopt;
      if (!id.has_value()) continue;
      const std::string path = util::JoinPath(directory, name);
      const std::string cpus = util::ReadLineOr(path + "/cpulist", "");
      auto* numa = node->add_numa_nodes();
      numa->set_id(*id);
      numa->set_cores(CountCpus(cpus));
      numa->set_memory_bytes(MemTotalBytes(path + "/meminfo"));
      const std::string first = cpus.substr(0, cpus.find_first_of("-,"));
      numa->set_socket(util::ParseInt<uint32_t>(
                           util::ReadLineOr(util::StrCat(base, "/sys/devices/system/cpu/cpu", first,
                                                         "/topology/physical_package_id"),
                                            "0"))
                           .value_or(0));
    }
  }
  std::sort(node->mutable_numa_nodes()->pointer_begin(), node->mutable_numa_nodes()->pointer_end(),
            [](const auto* a, const auto* b) { return a->id() < b->id(); });
  node->set_cpu_cores(CountCpus(util::ReadLineOr(base + "/sys/devices/system/cpu/online", "")));
  node->set_memory_bytes(MemTotalBytes(base + "/proc/meminfo"));
}

std::string Ipv4Of(std::string_view gid) {
  constexpr std::string_view kMapped = "0000:0000:0000:0000:0000:ffff:";
  if (!gid.starts_with(kMapped) || gid.size() != 39) return "";
  const auto high = util::ParseInt<uint32_t>(gid.substr(30, 4), 16);
  const auto low = util::ParseInt<uint32_t>(gid.substr(35, 4), 16);
  if (!high || !low) return "";
  return util::StrCat(*high >> 8, ".", *high & 255, ".", *low >> 8, ".", *low & 255);
}

void ReadGids(const std::string& port_directory, v1::Nic* nic) {
  const auto names = util::ListDirectory(port_directory + "/gids", 4096);
  if (!names.ok()) return;
  std::map<uint32_t, v1::Gid> sorted;
  for (const auto& name : *names) {
    const auto index = util::ParseInt<uint32_t>(name);
    const std::string gid = util::ReadLineOr(util::StrCat(port_directory, "/gids/", name), "");
    // The kernel fills unused entries with zeros.
    if (!index || gid.empty() || gid.find_first_not_of("0:") == std::string::npos) continue;
    v1::Gid entry;
    entry.set_index(*index);
    entry.set_gid(gid);
    std::string type =
        util::ReadLineOr(util::StrCat(port_directory, "/gid_attrs/types/", name), "");
    if (type == "IB/RoCE v1") type = nic->link_layer() == "InfiniBand" ? "IB" : "RoCE v1";
    entry.set_type(type);
    entry.set_netdev(util::ReadLineOr(util::StrCat(port_directory, "/gid_attrs/ndevs/", name), ""));
    entry.set_ipv4(Ipv4Of(gid));
    sorted[*index] = std::move(entry);
  }
  for (auto& [index, entry] : sorted) {
    if (nic->netdev().empty()) nic->set_netdev(entry.netdev());
    if (nic->address().empty() && entry.type() == "RoCE v2") nic->set_address(entry.ipv4());
    *nic->add_gids() = std::move(entry);
  }
}

// "4: ACTIVE" to "ACTIVE"; "100 Gb/sec (4X EDR)" to 100000.
std::string StateOf(std::string_view line) {
  const size_t colon = line.find(": ");
  return std::string(colon == std::string_view::npos ? line : line.substr(colon + 2));
}
uint64_t RateMbps(std::string_view line) {
  const auto rate = util::ParseDouble(line.substr(0, line.find(' ')));
  return rate.has_value() && *rate > 0 && *rate < 100'000 ? static_cast<uint64_t>(*rate * 1000) : 0;
}

absl::Status ReadRdmaDevices(const std::string& base, std::vector<v1::Nic>* out) {
  const std::string directory = base + "/sys/class/infiniband";
  const auto names = util::ListDirectory(directory, 4096);
  if (!names.ok()) return absl::OkStatus();  // no RDMA in this kernel
  for (const auto& name : *names) {
    const std::string device = util::JoinPath(directory, name);
    const auto ports = util::ListDirectory(device + "/ports", 256);
    if (!ports.ok()) continue;
    for (const auto& port_name : *ports) {
      const auto port = util::ParseInt<uint32_t>(port_name);
      if (!port.has_value()) {
        return util::DataLoss("topology.sysfs",
                              util::StrCat(device, "/ports/", port_name, ": not a port number"));
      }
      const std::string path = util::StrCat(device, "/ports/", port_name);
      v1::Nic nic;
      nic.set_id(*port == 1 ? name : util::StrCat(name, ":", *port));
      nic.set_port(*port);
      nic.set_state(StateOf(util::ReadLineOr(path + "/state", "")));
      nic.set_link_layer(util::ReadLineOr(path + "/link_layer", ""));
      nic.set_speed_mbps(RateMbps(util::ReadLineOr(path + "/rate", "")));
      nic.set_pci_address(NormalizePciAddress(LastPart(Resolve(device + "/device"))));
      nic.set_numa_node(
          util::ParseInt<int32_t>(util::ReadLineOr(device + "/device/numa_node", "-1"))
              .value_or(-1));
      nic.set_virtual_function(util::Exists(device + "/device/physfn"));
      ReadGids(path, &nic);
      if (!nic.netdev().empty()) {
        nic.set_mtu_bytes(
            util::ParseInt<uint32_t>(
                util::ReadLineOr(util::StrCat(base, "/sys/class/net/", nic.netdev(), "/mtu"), "0"))
                .value_or(0));
      }
      nic.set_health(nic.state() == "ACTIVE" ? v1::HEALTH_OK : v1::HEALTH_BAD);
      out->push_back(std::move(nic));
    }
  }
  return absl::OkStatus();
}

void ReadNetDevices(const std::string& base, std::vector<v1::Nic>* out) {
  const std::string directory = base + "/sys/class/net";
  const auto names = util::ListDirectory(directory, 65'536);
  if (!names.ok()) return;
  for (const auto& name : *names) {
    const std::string path = util::JoinPath(directory, name);
    const std::string pci = NormalizePciAddress(LastPart(Resolve(path + "/device")));
    if (pci.empty()) continue;  // virtual: bridges, veth, lo
    const bool known = std::any_of(out->begin(), out->end(), [&](const v1::Nic& nic) {
      return nic.netdev() == name || nic.pci_address() == pci;
    });
    if (known) continue;
    v1::Nic nic;
    nic.set_id(name);
    nic.set_netdev(name);
    nic.set_pci_address(pci);
    nic.set_link_layer("Ethernet");
    nic.set_state(util::ReadLineOr(path + "/operstate", "") == "up" ? "ACTIVE" : "DOWN");
    nic.set_health(nic.state() == "ACTIVE" ? v1::HEALTH_OK : v1::HEALTH_BAD);
    nic.set_speed_mbps(
        util::ParseInt<uint64_t>(util::ReadLineOr(path + "/speed", "0")).value_or(0));
    nic.set_mtu_bytes(util::ParseInt<uint32_t>(util::ReadLineOr(path + "/mtu", "0")).value_or(0));
    nic.set_numa_node(
        util::ParseInt<int32_t>(util::ReadLineOr(path + "/device/numa_node", "-1")).value_or(-1));
    nic.set_virtual_function(util::Exists(path + "/device/physfn"));
    out->push_back(std::move(nic));
  }
}

}  // namespace

bool IsCardByClass(const PciDevice& device) {
  return device.cls.starts_with("0302") || device.cls.starts_with("0380") ||
         device.cls.starts_with("12");
}

absl::StatusOr<std::vector<PciDevice>> ReadPciDevices(const std::string& root) {
  const std::string directory = Base(root) + "/sys/bus/pci/devices";
  const auto names = util::ListDirectory(directory, 65'536);
  if (names.status().code() == absl::StatusCode::kNotFound) {
    return util::NotFound("topology.no_sysfs", util::StrCat(directory,
                                                            ": not there; give a root "
                                                            "that holds sys"));
  }
  if (!names.ok()) return names.status();
  std::vector<PciDevice> devices;
  for (const auto& name : *names) {
    AIST_ASSIGN_OR_RETURN(devices.emplace_back(),
                          ReadPciDevice(util::JoinPath(directory, name), name));
  }
  return devices;
}

absl::StatusOr<std::vector<v1::Nic>> ReadNics(const std::string& root) {
  std::vector<v1::Nic> nics;
  AIST_RETURN_IF_ERROR(ReadRdmaDevices(Base(root), &nics));
  ReadNetDevices(Base(root), &nics);
  return nics;
}

absl::StatusOr<v1::NodeInventory> ReadMachine(const std::string& root, const IsCard& is_card) {
  AIST_ASSIGN_OR_RETURN(const auto devices, ReadPciDevices(root));
  v1::NodeInventory node;
  node.set_source(root.empty() || root == "/" ? "live" : root);
  node.set_name(util::ReadLineOr(Base(root) + "/proc/sys/kernel/hostname", ""));
  ReadNumaNodes(Base(root), &node);
  std::map<int32_t, uint32_t> sockets;
  for (const auto& numa : node.numa_nodes()) {
    sockets[static_cast<int32_t>(numa.id())] = numa.socket();
  }
  const auto socket_of = [&sockets](int32_t numa) {
    const auto found = sockets.find(numa);
    return found == sockets.end() ? 0 : found->second;
  };
  std::map<std::string, Place> places;
  std::vector<Place> cards, nics;
  for (const auto& device : devices) {
    places[device.address] = Place{"pci:" + device.address, device.bridges, device.numa,
                                   socket_of(device.numa), device.bandwidth_mbps};
    if (!is_card(device)) continue;
    auto* card = node.add_cards();
    card->set_id("pci:" + device.address);
    card->set_pci_address(device.address);
    card->set_pci_id(device.id);
    card->set_pci_subsystem_id(device.subsystem);
    card->set_driver(device.driver);
    card->set_numa_node(device.numa);
    card->set_socket(socket_of(device.numa));
    card->set_index(static_cast<uint32_t>(node.cards_size() - 1));
    card->set_health(device.driver.empty() ? v1::HEALTH_NO_DRIVER : v1::HEALTH_OK);
    if (device.driver.empty()) card->set_health_detail("no driver is bound");
    cards.push_back(places[device.address]);
  }
  AIST_ASSIGN_OR_RETURN(auto found, ReadNics(root));
  for (auto& nic : found) {
    Place place = places[nic.pci_address()];
    place.id = nic.id();
    nic.set_socket(place.socket);
    nics.push_back(std::move(place));
    *node.add_nics() = std::move(nic);
  }
  AIST_RETURN_IF_ERROR(AddDistances(cards, nics, SwitchForm::kTwoBridges, &node));
  return node;
}

}  // namespace aistation::topology
