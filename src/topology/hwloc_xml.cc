// SPDX-License-Identifier: Apache-2.0
// XML of hwloc (`lstopo --of xml`): objects, PCI bridges and devices, operating system devices.
#include <set>

#include "topology/topology.h"
#include "topology/tree.h"
#include "topology/xml.h"
#include "util/strings.h"

namespace aistation::topology {
namespace {

struct Where {
  std::vector<std::string> bridges;
  int32_t numa = -1;
  uint32_t socket = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  absl::StatusOr<v1::NodeInventory> Run(const XmlElement& root) {
    if (root.name != "topology") {
      return util::InvalidArgument(
          "topology.hwloc", util::StrCat(source_, " line ", root.line,
                                         ": expected the element topology, as hwloc 2 writes"));
    }
    for (const auto& child : root.children) {
      if (child.name == "object") AIST_RETURN_IF_ERROR(Object(child, {}));
    }
    for (int i = 0; i < node_.cards_size(); ++i) {
      node_.mutable_cards(i)->set_index(static_cast<uint32_t>(i));
    }
    AIST_RETURN_IF_ERROR(AddDistances(cards_, nics_, SwitchForm::kTwoBridges, &node_));
    node_.set_source(std::string(source_));
    return std::move(node_);
  }

 private:
  absl::Status Bad(const XmlElement& element, std::string_view expected) const {
    return util::InvalidArgument(
        "topology.hwloc", util::StrCat(source_, " line ", element.line, ": expected ", expected));
  }

  // The NUMA node of what hangs below `object`: its memory child if there is just one.
  static void Locate(const XmlElement& object, Where* where) {
    int found = 0;
    int32_t numa = -1;
    for (const auto& child : object.children) {
      if (child.name != "object" || child.Get("type") != "NUMANode") continue;
      ++found;
      numa = util::ParseInt<int32_t>(child.Get("os_index")).value_or(-1);
    }
    if (found == 1) where->numa = numa;
    if (object.Get("type") == "NUMANode") {  // hwloc 1: devices below the NUMA node itself
      where->numa = util::ParseInt<int32_t>(object.Get("os_index")).value_or(-1);
    }
    if (object.Get("type") == "Package" || object.Get("type") == "Socket") {
      where->socket = util::ParseInt<uint32_t>(object.Get("os_index")).value_or(0);
    }
  }

  absl::Status Object(const XmlElement& object, Where where) {
    const std::string_view type = object.Get("type");
    if (type.empty()) return Bad(object, "the attribute type");
    Locate(object, &where);
    if (type == "NUMANode") {
      auto* numa = node_.add_numa_nodes();
      numa->set_id(util::ParseInt<uint32_t>(object.Get("os_index")).value_or(0));
      numa->set_socket(where.socket);
      numa->set_memory_bytes(util::ParseInt<uint64_t>(object.Get("local_memory")).value_or(0));
    } else if (type == "Core") {
      node_.set_cpu_cores(node_.cpu_cores() + 1);
    } else if (type == "Bridge") {
      const std::string_view pci = object.Get("pci_busid");
      where.bridges.push_back(pci.empty() ? util::StrCat("host ", object.Get("bridge_pci"))
                                          : std::string(pci));
    } else if (type == "PCIDev") {
      AIST_RETURN_IF_ERROR(PciDevice(object, where));
    }
    for (const auto& child : object.children) {
      if (child.name == "object") AIST_RETURN_IF_ERROR(Object(child, where));
    }
    return absl::OkStatus();
  }

  absl::Status PciDevice(const XmlElement& object, const Where& where) {
    // "0302 [10de:1db8] [10de:131d] a1 00"
    const std::string address = NormalizePciAddress(object.Get("pci_busid"));
    const std::string_view type = object.Get("pci_type");
    if (address.empty()) return Bad(object, "a PCI address in pci_busid");
    if (type.size() < 16 || type[4] != ' ' || type[5] != '[') {
      return Bad(object, "pci_type as \"class [vendor:device] …\"");
    }
    const std::string_view cls = type.substr(0, 4);
    Place place{"pci:" + address, where.bridges, where.numa, where.socket, 0};
    if (cls == "0302" || cls == "0380" || cls == "1200" ||
        (cls == "0300" && IsAccelerator(object))) {
      auto* card = node_.add_cards();
      card->set_id(place.id);
      card->set_pci_address(address);
      card->set_pci_id(std::string(type.substr(6, 9)));
      if (type.size() >= 27) card->set_pci_subsystem_id(std::string(type.substr(18, 9)));
      card->set_numa_node(where.numa);
      card->set_socket(where.socket);
      cards_.push_back(std::move(place));
    } else if (cls.substr(0, 2) == "02") {
      NetworkDevice(object, address, std::move(place));
    }
    return absl::OkStatus();
  }

  // A display adapter that computes has an operating system device of CUDA, OpenCL, NVML, RSMI, …
  static bool IsAccelerator(const XmlElement& object) {
    for (const auto& child : object.children) {
      const std::string_view name = child.Get("name");
      for (const char* prefix : {"cuda", "nvml", "opencl", "rsmi", "ze", "ve"}) {
        if (name.starts_with(prefix)) return true;
      }
    }
    return false;
  }

  void NetworkDevice(const XmlElement& object, const std::string& address, Place place) {
    std::string rdma, netdev, port_state;
    for (const auto& child : object.children) {
      if (child.name != "object" || child.Get("type") != "OSDev") continue;
      const std::string name(child.Get("name"));
      for (const auto& info : child.children) {
        if (info.Get("name") == "Port1State") port_state = std::string(info.Get("value"));
      }
      // 2 network, 3 OpenFabrics; hwloc 3 writes bit sets: 4 and 8.
      const std::string_view kind = child.Get("osdev_type");
      if (kind == "3" || kind == "8") {
        rdma = name;
      } else if (kind == "2" || kind == "4") {
        netdev = name;
      }
    }
    auto* nic = node_.add_nics();
    nic->set_id(!rdma.empty() ? rdma : !netdev.empty() ? netdev : place.id);
    nic->set_netdev(netdev);
    nic->set_pci_address(address);
    nic->set_numa_node(place.numa);
    nic->set_socket(place.socket);
    if (!rdma.empty()) nic->set_state(port_state == "4" || port_state.empty() ? "ACTIVE" : "DOWN");
    if (!names_.insert(nic->id()).second) nic->set_id(place.id);
    place.id = nic->id();
    nics_.push_back(std::move(place));
  }

  const std::string_view source_;
  v1::NodeInventory node_;
  std::vector<Place> cards_;
  std::vector<Place> nics_;
  std::set<std::string> names_;
};

}  // namespace

absl::StatusOr<v1::NodeInventory> ParseHwlocXml(std::string_view text, std::string_view source) {
  AIST_ASSIGN_OR_RETURN(const XmlElement root, ParseXml(text, source));
  return Reader(source).Run(root);
}

}  // namespace aistation::topology
