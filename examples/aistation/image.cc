// SPDX-License-Identifier: Apache-2.0
// pull, serve: images, to one node or to all nodes of a job for one download.
#include <cstdio>

#include "aistation/cli.h"

namespace cli {
namespace {

std::string ResultText(const Json& result, const std::string& node) {
  const Json stats = result.value("stats", Json::object());
  const double seconds = static_cast<double>(Number(stats, "elapsed_ns")) / 1e9;
  std::string out = node + ": " + Field(result, "digest") + ", " +
                    Bytes(Number(stats, "bytes_total")) + " in " + Seconds(seconds) +
                    " (registry " + Bytes(Number(stats, "bytes_source")) + ", peers " +
                    Bytes(Number(stats, "bytes_peers")) + ", here already " +
                    Bytes(Number(stats, "bytes_local")) + ")\n";
  for (const Json& name : Array(stats, "quarantined")) {
    out += "  quarantined for bad bytes: " + name.get<std::string>() + "\n";
  }
  return out;
}

int PullByAgents(Session& s, Json request, const Json& members) {
  request["members"] = members;
  const std::string text = request.dump();
  const Json result = s.Wait(aist::Op::Start(aist_image_distribute, s.context(), s.tls(),
                                             AIST_FORMAT_JSON, text.data(), text.size()),
                             "pull to " + std::to_string(members.size()) + " nodes");
  std::string out;
  uint64_t source = 0;
  uint64_t size = 0;
  size_t i = 0;
  for (const Json& image : Array(result, "images")) {
    out += ResultText(image, i < members.size() ? Field(members[i], "node") : "node");
    const Json stats = image.value("stats", Json::object());
    source += Number(stats, "bytes_source");
    size = std::max(size, Number(stats, "bytes_total"));
    ++i;
  }
  char factor[64];
  std::snprintf(factor, sizeof(factor), "%.3f",
                size == 0 ? 0 : static_cast<double>(source) / static_cast<double>(size));
  out += std::string("read from the registry: ") + Bytes(source) + ", " + factor +
         " times the image\n";
  s.Print(result, out);
  return kOk;
}

int PullHere(Session& s, const Json& request) {
  const aist::Node node = examples::StartNode(s.context(), s.tls(), s.args());
  const std::string text = request.dump();
  const Json result = s.Wait(
      aist::Op::Start(aist_image_pull, node.get(), AIST_FORMAT_JSON, text.data(), text.size()),
      "pull");
  std::string out = ResultText(result, s.args().Get("name"));
  if (s.args().Has("export")) {
    const std::string reference = Field(result, "reference");
    const std::string directory = s.args().Get("export");
    aist::Call(aist_image_export, node.get(), reference.data(), reference.size(), directory.data(),
               directory.size());
    out += "OCI layout in " + directory + "\n";
  }
  s.Print(result, out);
  return kOk;
}

int Pull(Session& s) {
  const Json request = {{"reference", s.args().positional()[0]},
                        {"platform", s.args().Get("platform")},
                        {"pin", s.args().Has("pin")},
                        {"job", s.args().Get("job")}};
  const Json members = Members(s.args());
  if (!members.empty()) {
    if (s.args().Has("export")) throw UsageError("--export works with a node of its own only");
    return PullByAgents(s, request, members);
  }
  return PullHere(s, request);
}

int Serve(Session& s) {
  const aist::Node node = examples::StartNode(s.context(), s.tls(), s.args());
  const unsigned port = aist_node_port(node.get());
  const unsigned mirror = aist_node_mirror_port(node.get());
  s.Print({{"name", s.args().Get("name")}, {"port", port}, {"mirror_port", mirror}},
          s.args().Get("name") + " listens on port " + std::to_string(port) +
              (mirror ? ", mirror on port " + std::to_string(mirror) : "") + "; Ctrl-C stops it");
  while (s.signals().Next(-1) == 0) {
  }
  const std::string status = aist::Document(aist_node_describe, node.get(), AIST_FORMAT_JSON);
  const Json document = ParseJson(status, "status");
  if (!s.json()) {
    std::printf("stopped; sent %s to peers, read %s from registries and storage\n",
                Bytes(Number(document, "bytes_sent")).c_str(),
                Bytes(Number(document, "bytes_source")).c_str());
  }
  return kOk;
}

}  // namespace

std::vector<Command> ImageCommands() {
  std::vector<Option> pull = {{"platform", "OS/ARCH", "default linux/amd64"},
                              {"pin", "", "keep it from being evicted"},
                              {"job", "ID", "for authorisation and accounting"},
                              {"export", "DIRECTORY", "also write an OCI layout there"}};
  for (const Option& option : MemberOptions()) pull.push_back(option);
  std::vector<Option> serve = examples::NodeOptions();
  for (const Option& option : serve) {
    // For a pull the members come from the cluster inventory; a node of its own discovers.
    if (option.name != "inventory") pull.push_back(option);
  }
  return {
      {{"pull",
        "REFERENCE",
        "an image, to one node or by many agents for one download",
        1,
        1,
        pull,
        {"aistation pull registry.bank.example/base/train:3 --inventory cluster.json",
         "aistation pull 127.0.0.1:5000/train:1 --member n1=127.0.0.11:7400 --member "
         "n2=127.0.0.12:7400",
         "aistation pull 127.0.0.1:5000/train:1 --name n1 --data /tmp/n1 --export /tmp/layout"},
        "With --member or --inventory the agents pull together; otherwise this process is a node\n"
        "for as long as the pull takes (--name, --data)."},
       Pull},
      {{"serve",
        "",
        "a node in the foreground: peer server, and a mirror for a container runtime",
        0,
        0,
        serve,
        {"aistation serve --name n1 --data /var/lib/aistation --mirror 127.0.0.1:5000",
         "skopeo copy --src-tls-verify=false docker://127.0.0.1:5000/train:1 oci:out:1"},
        ""},
       Serve},
  };
}

}  // namespace cli
