// SPDX-License-Identifier: Apache-2.0
// discover, topology, classify, version: one machine and what is known of it.
#include <cstdio>

#include "aistation/cli.h"

namespace cli {
namespace {

std::string Machine(const Json& node) {
  std::string out = "node " + (Field(node, "name").empty() ? "(no name)" : Field(node, "name")) +
                    ", " + Field(node, "cpu_cores") + " cores, " +
                    Bytes(Number(node, "memory_bytes")) + ", from " + Field(node, "source") + "\n";
  std::vector<std::vector<std::string>> cards = {
      {"CARD", "MODEL", "PCI", "NUMA", "MEMORY", "DRIVER", "HEALTH", "ID"}};
  for (const Json& card : Array(node, "cards")) {
    cards.push_back(
        {Field(card, "index"), Field(card, "model").empty() ? "?" : Field(card, "model"),
         Field(card, "pci_address"), Field(card, "numa_node"), Bytes(Number(card, "memory_bytes")),
         Field(card, "driver"), Field(card, "health"), Field(card, "id")});
  }
  out += cards.size() > 1 ? "\n" + Columns(cards) : "\nno accelerator card\n";
  std::vector<std::vector<std::string>> nics = {
      {"NIC", "NETDEV", "PCI", "NUMA", "MBIT/S", "STATE", "GIDS", "ADDRESS"}};
  for (const Json& nic : Array(node, "nics")) {
    nics.push_back({Field(nic, "id"), Field(nic, "netdev"), Field(nic, "pci_address"),
                    Field(nic, "numa_node"), Field(nic, "speed_mbps"), Field(nic, "state"),
                    std::to_string(Array(nic, "gids").size()), Field(nic, "address")});
  }
  out += nics.size() > 1 ? "\n" + Columns(nics) : "\nno NIC on PCI\n";
  return out;
}

int Discover(Session& s) {
  const std::string root = s.args().Get("root");
  aist::Catalogue catalogue;
  if (s.args().Has("catalogue")) {
    const std::string path = s.args().Get("catalogue");
    catalogue =
        aist::Make<aist::Catalogue>(aist_catalogue_load, s.context(), path.data(), path.size());
  }
  aist_discover_opts opts = AIST_DISCOVER_OPTS_INIT;
  opts.root = aist::Str(root);
  opts.catalogue = catalogue.get();
  const Json node = ParseJson(
      aist::Document(aist_accel_discover, s.context(), &opts, AIST_FORMAT_JSON), "inventory");
  s.Print(node, Machine(node));
  return kOk;
}

const char* LinkName(uint32_t link) {
  static constexpr const char* kNames[] = {"?",   "SELF", "DIRECT", "PIX", "PXB",
                                           "PHB", "NODE", "SYS",    "?"};
  return kNames[link <= 8 ? link : 0];
}

aist_topology_distance_info Distance(const aist_topology* topology, const std::string& a,
                                     const std::string& b) {
  aist_topology_distance_info info = AIST_TOPOLOGY_DISTANCE_INFO_INIT;
  aist::Call(aist_topology_distance, topology, a.data(), a.size(), b.data(), b.size(), &info);
  return info;
}

uint32_t Source(const std::string& name) {
  static constexpr const char* kNames[] = {"auto", "live", "hwloc", "nccl", "json"};
  for (uint32_t i = 0; i < 5; ++i) {
    if (name == kNames[i]) return i;
  }
  throw UsageError("--source: expected auto, live, hwloc, nccl or json, got '" + name + "'");
}

int TopologyCommand(Session& s) {
  const std::string path = s.args().positional().empty() ? "" : s.args().positional()[0];
  aist_topology_opts opts = AIST_TOPOLOGY_OPTS_INIT;
  opts.source = Source(s.args().Get("source", "auto"));
  opts.path = aist::Str(path);
  const auto topology = aist::Make<aist::Topology>(aist_topology_load, s.context(), &opts);
  if (s.args().Has("from") || s.args().Has("to")) {
    const std::string a = s.args().Require("from");
    const std::string b = s.args().Require("to");
    const auto info = Distance(topology.get(), a, b);
    s.Print(
        {{"a", a},
         {"b", b},
         {"link", info.link},
         {"link_name", LinkName(info.link)},
         {"bandwidth_mbps", info.bandwidth_mbps}},
        a + " to " + b + ": " + LinkName(info.link) +
            (info.bandwidth_mbps ? ", " + std::to_string(info.bandwidth_mbps) + " Mbit/s" : ""));
    return kOk;
  }
  Json node = ParseJson(aist::Document(aist_topology_describe, topology.get(), AIST_FORMAT_JSON),
                        "topology");
  const Json choices =
      ParseJson(aist::Document(aist_roce_choose, topology.get(), AIST_FORMAT_JSON), "choices");
  std::string text = Machine(node);
  std::vector<std::vector<std::string>> rows = {{"CARD", "BEST NIC", "LINK", "WHY"}};
  for (const Json& choice : Array(choices, "choices")) {
    rows.push_back({Field(choice, "card_id"), Field(choice, "nic_id"),
                    Field(choice, "link").substr(sizeof("LINK_CLASS_") - 1), Field(choice, "why")});
  }
  if (rows.size() > 1) text += "\n" + Columns(rows);
  s.Print({{"node", node}, {"choices", Array(choices, "choices")}}, text);
  return kOk;
}

int Classify(Session& s) {
  const std::string node = s.args().Get("node", "localhost");
  const std::string rules = s.args().Get("rules");
  Json lines = Json::array();
  std::string line;
  for (const char c : examples::ReadFile(s.args().positional()[0]) + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) {
      lines.push_back({{"source", s.args().Get("source", "kernel_log")},
                       {"node", node},
                       {"rank", -1},
                       {"text", line}});
    }
    line.clear();
  }
  Json request = {{"lines", lines}};
  if (s.args().Has("exit-status")) {
    request["exit_status"] = {{"0", s.args().Number("exit-status", 0, 255)}};
    request["rank_node"] = {{"0", node}};
  }
  const std::string text = request.dump(-1, ' ', false, Json::error_handler_t::replace);
  const Json verdict =
      ParseJson(aist::Document(aist_job_classify, s.context(), rules.data(), rules.size(),
                               AIST_FORMAT_JSON, text.data(), text.size()),
                "verdict");
  std::string out = Field(verdict, "sentence") + "\nrule " + Field(verdict, "rule") + ", class " +
                    Field(verdict, "fault_class") + ", job: " + Field(verdict, "job_action") +
                    ", node: " + Field(verdict, "node_action") + "\n";
  for (const Json& evidence : Array(verdict, "evidence")) {
    out += "  " + Field(evidence, "source") + ": " + Field(evidence, "line") + "\n";
  }
  s.Print(verdict, out);
  return kOk;
}

int Version(Session& s) {
  const Json features = ParseJson(aist::Document(aist_features, s.context()), "features");
  std::string text = std::string("aistation ") + aist_version_string() + "\n";
  for (const auto& [name, feature] : features.items()) {
    const bool present = feature.is_object() && feature.value("present", false);
    text += "  " + name + ": " + (present ? "yes" : "no");
    const std::string detail = feature.is_object() ? Field(feature, "detail") : "";
    text += (detail.empty() ? "" : ", " + detail) + "\n";
  }
  s.Print({{"version", aist_version_string()}, {"features", features}}, text);
  return kOk;
}

}  // namespace

std::vector<Command> DeviceCommands() {
  return {
      {{"discover",
        "",
        "cards, NICs and NUMA nodes of this machine",
        0,
        0,
        {{"root", "DIRECTORY", "directory that holds sys, proc and dev (default /)"},
         {"catalogue", "PATH", "file or directory of card models (default: the installed one)"}},
        {"aistation discover", "aistation discover --json > node11.json"},
        ""},
       Discover},
      {{"topology",
        "[FILE]",
        "a machine from hwloc, NCCL or JSON files, its best NICs, distances",
        0,
        1,
        {{"source", "KIND", "auto, live, hwloc, nccl, json (default auto)"},
         {"from", "DEVICE", "with --to: distance between two devices, by id or PCI address"},
         {"to", "DEVICE", "see --from"}},
        {"aistation topology", "lstopo --of xml > m.xml; aistation topology m.xml",
         "aistation topology examples/data/node11.json --from GPU-1101 --to mlx5_0"},
        ""},
       TopologyCommand},
      {{"classify",
        "FILE",
        "judges lines of a log: what broke, and what to do",
        1,
        1,
        {{"node", "NAME", "where the lines come from (default localhost)"},
         {"source", "KIND", "kernel_log or output (default kernel_log)"},
         {"exit-status", "N", "exit status of the process, 128 + signal when killed"},
         {"rules", "FILE", "rule file (default: the installed one)"}},
        {"dmesg > k.log; aistation classify k.log --node node11"},
        ""},
       Classify},
      {{"version", "", "version and features of the library", 0, 0, {}, {"aistation version"}, ""},
       Version},
  };
}

}  // namespace cli
