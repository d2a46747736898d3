// SPDX-License-Identifier: Apache-2.0
#include "topology/tree.h"

#include <algorithm>

#include "util/strings.h"

namespace aistation::topology {

v1::LinkClass Classify(const Place& a, const Place& b, SwitchForm form) {
  if (a.id == b.id) return v1::LINK_CLASS_SELF;
  size_t common = 0;
  while (common < a.bridges.size() && common < b.bridges.size() &&
         a.bridges[common] == b.bridges[common]) {
    ++common;
  }
  // bridges[0] is the host bridge: sharing only that means going through it.
  if (common >= 2) {
    const size_t below = std::max(a.bridges.size(), b.bridges.size()) - common;
    const size_t within_one_switch = form == SwitchForm::kOneBridge ? 0 : 1;
    return below <= within_one_switch ? v1::LINK_CLASS_PIX : v1::LINK_CLASS_PXB;
  }
  if (common == 1) return v1::LINK_CLASS_PHB;
  if (a.numa < 0 || b.numa < 0) return v1::LINK_CLASS_UNKNOWN;
  if (a.numa == b.numa) return v1::LINK_CLASS_PHB;
  return a.socket == b.socket ? v1::LINK_CLASS_NODE : v1::LINK_CLASS_SYS;
}

absl::Status AddDistances(const std::vector<Place>& cards, const std::vector<Place>& nics,
                          SwitchForm form, v1::NodeInventory* node) {
  if (cards.size() + nics.size() > 1024) {
    return util::InvalidArgument("topology.devices",
                                 "more than 1,024 cards and NICs in one machine");
  }
  const auto add = [&](const Place& a, const Place& b) {
    auto* distance = node->add_distances();
    distance->set_a(a.id);
    distance->set_b(b.id);
    distance->set_link(Classify(a, b, form));
    if (a.bandwidth_mbps != 0 && b.bandwidth_mbps != 0) {
      distance->set_bandwidth_mbps(std::min(a.bandwidth_mbps, b.bandwidth_mbps));
    }
  };
  for (size_t i = 0; i < cards.size(); ++i) {
    for (size_t j = i + 1; j < cards.size(); ++j) add(cards[i], cards[j]);
    for (const auto& nic : nics) add(cards[i], nic);
  }
  return absl::OkStatus();
}

std::string NormalizePciAddress(std::string_view text) {
  const std::string lower = util::AsciiLower(util::Trim(text));
  const auto parts = util::Split(lower, ':');
  if (parts.size() < 2 || parts.size() > 3) return "";
  const std::string_view last = parts.back();
  const size_t dot = last.find('.');
  if (dot == std::string_view::npos) return "";
  const auto domain =
      parts.size() == 3 ? util::ParseInt<uint32_t>(parts[0], 16) : std::optional<uint32_t>(0);
  const auto bus = util::ParseInt<uint32_t>(parts[parts.size() - 2], 16);
  const auto device = util::ParseInt<uint32_t>(last.substr(0, dot), 16);
  const auto function = util::ParseInt<uint32_t>(last.substr(dot + 1), 16);
  if (!domain || !bus || !device || !function || last.size() != dot + 2 || *bus > 255 ||
      *device > 31 || *function > 7) {
    return "";
  }
  const auto hex = [](uint32_t value, size_t digits) {
    std::string out;
    for (size_t i = digits; i-- > 0;) out += "0123456789abcdef"[value >> (4 * i) & 15];
    return out;
  };
  return util::StrCat(hex(*domain, *domain > 0xffff ? 8 : 4), ":", hex(*bus, 2), ":",
                      hex(*device, 2), ".", *function);
}

uint64_t PcieBandwidthMbps(std::string_view speed, uint64_t lanes) {
  const size_t blank = speed.find(' ');
  const auto rate = util::ParseDouble(speed.substr(0, blank));
  if (!rate.has_value() || *rate <= 0 || *rate > 1000 || lanes == 0 || lanes > 32) return 0;
  // 8b/10b up to 5 GT/s, 128b/130b above (PCI Express base specification).
  const double efficiency = *rate <= 5.0 ? 0.8 : 128.0 / 130.0;
  return static_cast<uint64_t>(*rate * 1000 * efficiency * static_cast<double>(lanes));
}

}  // namespace aistation::topology
