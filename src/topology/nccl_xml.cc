// SPDX-License-Identifier: Apache-2.0
// XML of NCCL (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) and of what follows it (RCCL).
#include <map>
#include <set>

#include "topology/topology.h"
#include "topology/tree.h"
#include "topology/xml.h"
#include "util/strings.h"

namespace aistation::topology {
namespace {

class NcclReader {
 public:
  explicit NcclReader(std::string_view source) : source_(source) {}

  absl::StatusOr<v1::NodeInventory> Run(const XmlElement& root) {
    if (root.name != "system") {
      return util::InvalidArgument("topology.nccl",
                                   util::StrCat(source_, " line ", root.line,
                                                ": expected the element system, as NCCL writes"));
    }
    for (const auto& child : root.children) {
      if (child.name == "cpu") {
        AIST_RETURN_IF_ERROR(Cpu(child));
      } else if (child.name == "pci") {  // a file for one virtual machine may have no cpu
        AIST_RETURN_IF_ERROR(Pci(child, Place{}));
      }
    }
    for (int i = 0; i < node_.cards_size(); ++i) {
      node_.mutable_cards(i)->set_index(static_cast<uint32_t>(i));
    }
    AIST_RETURN_IF_ERROR(AddDistances(cards_, nics_, SwitchForm::kOneBridge, &node_));
    DirectLinks();
    node_.set_source(std::string(source_));
    return std::move(node_);
  }

 private:
  absl::Status Cpu(const XmlElement& cpu) {
    Place place;
    AIST_ASSIGN_OR_RETURN(place.numa, cpu.Number("numaid", -1, source_));
    if (place.numa >= 0) {
      // The file does not tell sockets: each NUMA node counts as one of its own.
      place.socket = static_cast<uint32_t>(place.numa);
      auto* numa = node_.add_numa_nodes();
      numa->set_id(static_cast<uint32_t>(place.numa));
      numa->set_socket(place.socket);
    }
    // One host bridge for each root port: NCCL does not tell which of them are the same.
    place.bridges.push_back(util::StrCat("cpu ", place.numa));
    for (const auto& child : cpu.children) {
      if (child.name == "pci") AIST_RETURN_IF_ERROR(Pci(child, place));
      if (child.name == "nic") Nets(child, place, "");
    }
    return absl::OkStatus();
  }

  absl::Status Pci(const XmlElement& pci, Place place) {
    const std::string address(pci.Get("busid"));
    if (address.empty()) {
      return util::InvalidArgument("topology.nccl", util::StrCat(source_, " line ", pci.line,
                                                                 ": expected the attribute busid"));
    }
    const uint64_t hop = PcieBandwidthMbps(
        pci.Get("link_speed"), util::ParseInt<uint64_t>(pci.Get("link_width")).value_or(0));
    if (hop != 0 && (place.bandwidth_mbps == 0 || hop < place.bandwidth_mbps)) {
      place.bandwidth_mbps = hop;
    }
    const std::string_view cls = pci.Get("class");
    bool bridge = cls.starts_with("0x0604");
    for (const auto& child : pci.children) bridge = bridge || child.name == "pci";
    if (bridge) {
      place.bridges.push_back(address);
      for (const auto& child : pci.children) {
        if (child.name == "pci") AIST_RETURN_IF_ERROR(Pci(child, place));
      }
      return absl::OkStatus();
    }
    const std::string normal = NormalizePciAddress(address);
    place.id = "pci:" + (normal.empty() ? address : normal);
    const bool network = cls.starts_with("0x02");
    if (network) {
      Network(pci, place, normal);
    } else if (cls.starts_with("0x03") || cls.starts_with("0x12")) {
      Gpu(pci, place, normal);
    }
    return absl::OkStatus();
  }

  void Gpu(const XmlElement& pci, const Place& place, const std::string& address) {
    auto* card = node_.add_cards();
    card->set_id(place.id);
    card->set_pci_address(address);
    card->set_numa_node(place.numa);
    card->set_socket(place.socket);
    const std::string_view vendor = pci.Get("vendor");
    const std::string_view device = pci.Get("device");
    if (vendor.starts_with("0x") && device.starts_with("0x")) {
      card->set_pci_id(util::StrCat(vendor.substr(2), ":", device.substr(2)));
    }
    for (const auto& gpu : pci.children) {
      if (gpu.name != "gpu") continue;
      for (const auto& link : gpu.children) {
        if (link.name != "nvlink" && link.name != "xgmi") continue;
        const std::string target = NormalizePciAddress(link.Get("target"));
        // Class 0680: a switch that all its cards share.
        const bool to_switch = link.Get("tclass").starts_with("0x0680");
        links_[place.id].insert(to_switch ? "switch" : "pci:" + target);
      }
    }
    cards_.push_back(place);
  }

  void Network(const XmlElement& pci, const Place& place, const std::string& address) {
    bool named = false;
    for (const auto& nic : pci.children) {
      if (nic.name == "nic") named = Nets(nic, place, address) || named;
    }
    if (!named) AddNic(place.id, place, address);
  }

  bool Nets(const XmlElement& nic, const Place& place, const std::string& address) {
    bool any = false;
    for (const auto& net : nic.children) {
      const std::string name(net.Get("name"));
      if (net.name != "net" || name.empty()) continue;
      auto* added = AddNic(name, place, address);
      added->set_speed_mbps(util::ParseInt<uint64_t>(net.Get("speed")).value_or(0));
      added->set_port(util::ParseInt<uint32_t>(net.Get("port")).value_or(0));
      added->set_state("ACTIVE");
      any = true;
    }
    return any;
  }

  v1::Nic* AddNic(const std::string& id, Place place, const std::string& address) {
    auto* nic = node_.add_nics();
    place.id = names_.insert(id).second ? id : util::StrCat(id, "@", address);
    nic->set_id(place.id);
    nic->set_pci_address(address);
    nic->set_numa_node(place.numa);
    nic->set_socket(place.socket);
    nics_.push_back(std::move(place));
    return nic;
  }

  void DirectLinks() {
    for (auto& distance : *node_.mutable_distances()) {
      const auto a = links_.find(distance.a());
      const auto b = links_.find(distance.b());
      if (a == links_.end() || b == links_.end()) continue;
      const bool by_switch = a->second.contains("switch") && b->second.contains("switch");
      if (by_switch || a->second.contains(distance.b()) || b->second.contains(distance.a())) {
        distance.set_link(v1::LINK_CLASS_DIRECT);
        distance.set_bandwidth_mbps(0);
      }
    }
  }

  const std::string_view source_;
  v1::NodeInventory node_;
  std::vector<Place> cards_;
  std::vector<Place> nics_;
  std::set<std::string> names_;
  std::map<std::string, std::set<std::string>> links_;  // card to what its direct links reach
};

}  // namespace

absl::StatusOr<v1::NodeInventory> ParseNcclXml(std::string_view text, std::string_view source) {
  AIST_ASSIGN_OR_RETURN(const XmlElement root, ParseXml(text, source));
  return NcclReader(source).Run(root);
}

}  // namespace aistation::topology
