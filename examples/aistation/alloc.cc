// SPDX-License-Identifier: Apache-2.0
// plan, alloc, probe: who gets which cards, and whether they reach one another.
#include <unistd.h>

#include <cstdio>

#include "aistation/cli.h"

namespace cli {
namespace {

std::vector<Option> RequestOptions() {
  return {{"cards", "N", "cards in all"},
          {"department", "NAME", "whose quota counts"},
          {"job", "NAME", "name of the job"},
          {"model", "PATTERN", "accepted model, * matches any run of characters", true},
          {"need-nics", "", "one NIC with a usable address per card"},
          {"same-rack", "", "all in one rack"},
          {"max-nodes", "N", "at most so many nodes"},
          {"min-cards-per-node", "N", "at least so many cards on each node"},
          {"exclude-node", "NAME", "not this node", true},
          {"exclude-card", "ID", "not this card", true},
          {"prefer-node", "NAME", "rather this node, for example where data is cached", true},
          {"request", "FILE", "PlacementRequest document instead of the options"}};
}

Json Request(const Args& args) {
  if (args.Has("request")) return ReadJson(args.Get("request"));
  const uint64_t cards = args.Number("cards", 0, 1'000'000);
  if (cards == 0) throw UsageError("--cards N (or --request FILE) is required");
  Json request = {{"request_id", args.Get("request-id")},
                  {"job", args.Get("job")},
                  {"department", args.Get("department")},
                  {"cards", cards},
                  {"min_cards_per_node", args.Number("min-cards-per-node", 0, 1024)},
                  {"max_nodes", args.Number("max-nodes", 0, 1'000'000)},
                  {"models", args.All("model")},
                  {"need_nics", args.Has("need-nics")},
                  {"same_rack", args.Has("same-rack")},
                  {"exclude_nodes", args.All("exclude-node")},
                  {"exclude_cards", args.All("exclude-card")},
                  {"prefer_nodes", args.All("prefer-node")}};
  return request;
}

std::string PlacementText(const Json& placement) {
  std::string out;
  if (placement.contains("refusal")) {
    const Json& refusal = placement["refusal"];
    out = "refused: " + Field(refusal, "sentence") +
          "\nbinding constraint: " + Field(refusal, "constraint") + "\n";
    if (!Field(refusal, "nearest").empty()) {
      out += "nearest change: " + Field(refusal, "nearest") + "\n";
    }
    std::vector<std::vector<std::string>> rows = {{"NODE", "FAILED TEST", "DETAIL"}};
    for (const Json& node : Array(refusal, "nodes")) {
      rows.push_back({Field(node, "node"), Field(node, "test"), Field(node, "detail")});
    }
    return rows.size() > 1 ? out + Columns(rows) : out;
  }
  if (!Field(placement, "grant_id").empty()) {
    out = "grant " + Field(placement, "grant_id") + "\n";
  }
  for (const Json& line : Array(placement, "explanation")) out += line.get<std::string>() + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "RACK", "CARD", "PCI", "NIC", "ADDRESS", "LINK", "NUMA"}};
  for (const Json& node : Array(placement, "nodes")) {
    for (const Json& card : Array(node, "cards")) {
      rows.push_back(
          {Field(node, "node"), Field(node, "rack"), Field(card, "card_id"),
           Field(card, "card_pci_address"), Field(card, "nic_id"), Field(card, "nic_address"),
           Field(card, "link").substr(sizeof("LINK_CLASS_") - 1), Field(card, "numa_node")});
    }
  }
  return out + Columns(rows);
}

Json PlanWith(aist_allocator_state* alloc, const Json& request) {
  const std::string text = request.dump();
  return ParseJson(
      aist::Document(aist_alloc_plan, alloc, AIST_FORMAT_JSON, text.data(), text.size()),
      "placement");
}

int Plan(Session& s) {
  // Nothing is to be kept: without a store named, the plan is made in memory.
  aist::Store memory;
  aist_store* store = nullptr;
  if (s.args().GetOrEnv("store", "AISTATION_STORE").empty()) {
    if (!s.args().Has("inventory"))
      throw UsageError("--inventory FILE or --store FILE is required");
    aist_store_opts opts = AIST_STORE_OPTS_INIT;
    opts.kind = AIST_STORE_MEMORY;
    memory = aist::Make<aist::Store>(aist_store_open, s.context(), &opts);
    store = memory.get();
  } else {
    store = s.store();
  }
  const aist::Allocator alloc = s.OpenAllocator(store);
  const Json placement = PlanWith(alloc.get(), Request(s.args()));
  s.Print(placement, PlacementText(placement));
  return placement.contains("refusal") ? kRefused : kOk;
}

int Allocate(Session& s, aist_allocator_state* alloc) {
  Json request = Request(s.args());
  if (Field(request, "request_id").empty()) {
    request["request_id"] = "cli-" + std::to_string(getpid()) + "-" + std::to_string(time(nullptr));
  }
  const std::string text = request.dump();
  const Json placement = ParseJson(
      aist::Document(aist_alloc_allocate, alloc, AIST_FORMAT_JSON, text.data(), text.size()),
      "placement");
  s.Print(placement, PlacementText(placement));
  return kOk;
}

int ShowLedger(Session& s, aist_allocator_state* alloc) {
  const Json state =
      ParseJson(aist::Document(aist_alloc_describe, alloc, AIST_FORMAT_JSON), "allocation");
  std::vector<std::vector<std::string>> nodes = {{"NODE", "RACK", "CARDS", "HEALTH"}};
  if (state.contains("inventory")) {
    for (const Json& node : Array(state["inventory"], "nodes")) {
      nodes.push_back({Field(node, "name"), Field(node, "rack"),
                       std::to_string(Array(node, "cards").size()), Field(node, "health")});
    }
  }
  std::vector<std::vector<std::string>> grants = {{"GRANT", "JOB", "DEPARTMENT", "CARDS", "SINCE"}};
  for (const Json& grant : Array(state, "grants")) {
    if (!grant.contains("placement") || Number(grant, "released_unix_ns") != 0) continue;
    const Json& placement = grant["placement"];
    const Json request = placement.value("request", Json::object());
    grants.push_back({Field(placement, "grant_id"), Field(request, "job"),
                      Field(request, "department"), Field(request, "cards"),
                      Time(static_cast<int64_t>(Number(grant, "granted_unix_ns")))});
  }
  std::string text = Columns(nodes) + "\n" + (grants.size() > 1 ? Columns(grants) : "no grant\n");
  for (const char* kind : {"cordoned_nodes", "cordoned_cards"}) {
    for (const Json& name : Array(state, kind)) {
      text += std::string("cordoned: ") + name.get<std::string>() + "\n";
    }
  }
  s.Print(state, text);
  return kOk;
}

int Alloc(Session& s) {
  const auto& words = s.args().positional();
  const aist::Allocator alloc = s.OpenAllocator(s.store());
  const std::string& verb = words[0];
  const std::string object = words.size() > 1 ? words[1] : "";
  if (verb == "show") return ShowLedger(s, alloc.get());
  if (verb == "allocate") return Allocate(s, alloc.get());
  if (verb != "release" && verb != "cordon" && verb != "uncordon") {
    throw UsageError("expected show, allocate, release, cordon or uncordon, got '" + verb + "'");
  }
  if (object.empty()) {
    throw UsageError("alloc " + verb + ": expected " + (verb == "release" ? "GRANT" : "NODE"));
  }
  if (verb == "release") {
    aist::Call(aist_alloc_release, alloc.get(), object.data(), object.size());
    s.Print({{"released", object}}, "released " + object);
    return kOk;
  }
  const std::string card = s.args().Get("card");
  const std::string why = s.args().Get("why");
  aist::Call(aist_alloc_cordon, alloc.get(), object.data(), object.size(), card.data(), card.size(),
             static_cast<uint8_t>(verb == "cordon" ? 1 : 0), why.data(), why.size());
  s.Print({{"node", object}, {"card", card}, {"cordoned", verb == "cordon"}},
          verb + "ed " + object + (card.empty() ? "" : " card " + card));
  return kOk;
}

Json Endpoints(const Json& inventory, const std::vector<std::string>& wanted) {
  Json endpoints = Json::array();
  for (const Json& node : Array(inventory, "nodes")) {
    const std::string name = Field(node, "name");
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    for (const Json& nic : Array(node, "nics")) {
      if (Field(nic, "address").empty()) continue;
      endpoints.push_back({{"node", name},
                           {"nic_id", Field(nic, "id")},
                           {"address", Field(nic, "address")},
                           {"agent_address", Field(node, "address")},
                           {"agent_port", Number(node, "port")}});
    }
  }
  return endpoints;
}

int Probe(Session& s) {
  const Json inventory = ReadJson(s.args().Require("inventory"));
  Json request = {{"endpoints", Endpoints(inventory, Split(s.args().Get("nodes"), ','))},
                  {"methods", Split(s.args().Get("method"), ',')},
                  {"attempts", s.args().Number("attempts", 0, 1000)},
                  {"timeout_ns", s.args().Number("timeout-ms", 0, 3'600'000) * 1'000'000}};
  if (request["endpoints"].size() < 2) {
    throw aist::Error(AIST_INVALID_ARGUMENT, "cli.endpoints",
                      "fewer than two NICs with an address in " + s.args().Get("inventory"));
  }
  const std::string text = request.dump();
  const Json matrix = s.Wait(aist::Op::Start(aist_roce_probe, s.context(), s.tls(),
                                             AIST_FORMAT_JSON, text.data(), text.size()),
                             "probe", "pairs");
  size_t good = 0;
  uint64_t slowest = 0;
  for (const Json& result : Array(matrix, "results")) {
    good += result.value("ok", false) ? 1 : 0;
    slowest = std::max(slowest, Number(result, "rtt_ns"));
  }
  std::string out = std::to_string(good) + " of " +
                    std::to_string(Array(matrix, "results").size()) + " tests reach, by " +
                    Field(matrix, "method") + "; slowest round trip " +
                    Seconds(static_cast<double>(slowest) / 1e9) + "\n";
  for (const Json& finding : Array(matrix, "findings")) out += finding.get<std::string>() + "\n";
  s.Print(matrix, out);
  return matrix.value("all_ok", false) ? kOk : kCheckFailed;
}

std::vector<Option> With(std::vector<Option> options, const std::vector<Option>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

std::vector<Command> AllocCommands() {
  const Option inventory = {"inventory", "FILE", "Inventory document (default: of the store)"};
  return {
      {{"plan",
        "",
        "what a request would get, and why; takes nothing",
        0,
        0,
        With(RequestOptions(), {inventory}),
        {"aistation plan --inventory examples/data/cluster.json --cards 16 --need-nics",
         "aistation plan --store centre.db --cards 64 --department risk --same-rack --json"},
        "Exit code 3 when it does not fit; the output says what binds and what would help."},
       Plan},
      {{"alloc",
        "VERB [GRANT|NODE]",
        "show, allocate, release, cordon, uncordon",
        1,
        2,
        With(RequestOptions(), {inventory,
                                {"request-id", "ID", "the same id again gives the same grant"},
                                {"card", "ID", "cordon: only this card of the node"},
                                {"why", "TEXT", "cordon: shown in refusals"}}),
        {"aistation alloc show --store centre.db",
         "aistation alloc allocate --store centre.db --cards 8 --department risk",
         "aistation alloc release GRANT --store centre.db",
         "aistation alloc cordon node12 --store centre.db --why 'fan replaced on Friday'"},
        ""},
       Alloc},
      {{"probe",
        "",
        "proves that every NIC of the nodes reaches every other",
        0,
        0,
        {{"inventory", "FILE", "Inventory document with the agents' addresses"},
         {"nodes", "NAMES", "only these nodes, with commas"},
         {"method", "LIST", "tcp, udp (default both)"},
         {"attempts", "N", "per pair (default 3)"},
         {"timeout-ms", "MS", "per attempt (default 1000)"}},
        {"aistation probe --inventory cluster.json --nodes node11,node12"},
        "Exit code 6 when a pair does not reach."},
       Probe},
  };
}

}  // namespace cli
