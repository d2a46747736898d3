// SPDX-License-Identifier: Apache-2.0
// dataset: manifests of sources, caches of nodes, reading.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "aistation/cli.h"

namespace cli {
namespace {

std::string ResultText(const Json& result, const std::string& node) {
  const Json stats = result.value("stats", Json::object());
  return node + ": " + Field(result, "name") + ", " + Bytes(Number(stats, "bytes_total")) + " in " +
         Seconds(static_cast<double>(Number(stats, "elapsed_ns")) / 1e9) + " (storage " +
         Bytes(Number(stats, "bytes_source")) + ", peers " + Bytes(Number(stats, "bytes_peers")) +
         ", here already " + Bytes(Number(stats, "bytes_local")) + "), in " +
         Field(result, "path") + "\n";
}

int Index(Session& s, const std::string& source) {
  const std::string name = s.args().Require("dataset-name");
  const std::string ca = s.args().Get("source-ca");
  aist_dataset_index_opts opts = AIST_DATASET_INDEX_OPTS_INIT;
  opts.name = aist::Str(name);
  opts.source = aist::Str(source);
  opts.ca_file = aist::Str(ca);
  opts.chunk_bytes = s.args().Size("chunk", 0);
  opts.max_files = s.args().Number("max-files", 0);
  const Json manifest =
      s.Wait(aist::Op::Start(aist_dataset_index, s.context(), &opts), "index", "files");
  if (s.args().Has("output")) examples::WriteFile(s.args().Get("output"), manifest.dump() + "\n");
  s.Print(manifest, Field(manifest, "name") + ": " +
                        std::to_string(Array(manifest, "files").size()) + " files, " +
                        Bytes(Number(manifest, "size_bytes")) + ", version " +
                        Field(manifest, "version"));
  return kOk;
}

int Cache(Session& s, const std::string& manifest_file) {
  const Json members = Members(s.args());
  const Json request = {{"manifest", ReadJson(manifest_file)},
                        {"members", members},
                        {"pin", s.args().Has("pin")},
                        {"job", s.args().Get("job")}};
  const std::string text = request.dump();
  if (members.empty()) {
    const aist::Node node = examples::StartNode(s.context(), s.tls(), s.args());
    const Json result = s.Wait(
        aist::Op::Start(aist_dataset_cache, node.get(), AIST_FORMAT_JSON, text.data(), text.size()),
        "cache");
    s.Print(result, ResultText(result, s.args().Get("name")));
    return kOk;
  }
  const Json result = s.Wait(aist::Op::Start(aist_dataset_distribute, s.context(), s.tls(),
                                             AIST_FORMAT_JSON, text.data(), text.size()),
                             "cache on " + std::to_string(members.size()) + " nodes");
  std::string out;
  size_t i = 0;
  for (const Json& one : Array(result, "datasets")) {
    out += ResultText(one, i < members.size() ? Field(members[i], "node") : "node");
    ++i;
  }
  s.Print(result, out);
  return kOk;
}

int List(Session& s) {
  const aist::Node node = examples::StartNode(s.context(), s.tls(), s.args());
  const Json list =
      ParseJson(aist::Document(aist_dataset_list, node.get(), AIST_FORMAT_JSON), "datasets");
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "SIZE", "CACHED", "PINNED", "LAST USED", "PATH"}};
  for (const Json& one : Array(list, "datasets")) {
    rows.push_back({Field(one, "name"), Bytes(Number(one, "size_bytes")),
                    Bytes(Number(one, "cached_bytes")), Field(one, "pinned"),
                    Time(static_cast<int64_t>(Number(one, "last_used_unix_ns"))),
                    Field(one, "path")});
  }
  s.Print(list, Columns(rows));
  return kOk;
}

int PinOrEvict(Session& s, const std::string& verb, const std::string& object) {
  const aist::Node node = examples::StartNode(s.context(), s.tls(), s.args());
  if (verb == "evict") {
    uint64_t freed = 0;
    aist::Call(aist_dataset_evict, node.get(), s.args().Size("target", 0), &freed);
    s.Print({{"freed_bytes", freed}}, "freed " + Bytes(freed));
    return kOk;
  }
  if (object.empty()) throw UsageError("dataset " + verb + ": expected NAME");
  aist::Call(aist_dataset_pin, node.get(), object.data(), object.size(),
             static_cast<uint8_t>(verb == "pin" ? 1 : 0));
  s.Print({{"name", object}, {"pinned", verb == "pin"}}, verb + "ned " + object);
  return kOk;
}

struct Entry {
  std::string path;
  uint64_t size = 0;
};
Entry Stat(const aist_dataset* dataset, uint64_t index) {
  aist_str path{};
  Entry entry;
  aist::Call(aist_dataset_stat, dataset, index, &path, &entry.size);
  entry.path.assign(path.data, path.size);
  return entry;
}

// Reads a whole file in pieces; `sink` may be empty, then it is a check of the digests only.
uint64_t ReadAll(const aist_dataset* dataset, uint64_t index, uint64_t size, FILE* sink) {
  static thread_local std::string buffer(1 << 20, '\0');
  uint64_t offset = 0;
  while (offset < size) {
    size_t n = 0;
    aist::Call(aist_dataset_read, dataset, index, offset, static_cast<void*>(buffer.data()),
               buffer.size(), &n);
    if (n == 0) break;
    if (sink != nullptr) std::fwrite(buffer.data(), 1, n, sink);
    offset += n;
  }
  return offset;
}

int ExportTree(Session& s, const aist_dataset* dataset, const std::string& target) {
  namespace fs = std::filesystem;
  const uint64_t count = aist_dataset_count(dataset);
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Entry entry = Stat(dataset, i);
    const fs::path path = fs::path(target) / entry.path;
    fs::create_directories(path.parent_path());
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
    if (file == nullptr) {
      throw aist::Error(AIST_ALREADY_EXISTS, "cli.file", path.string() + ": cannot be created");
    }
    bytes += ReadAll(dataset, i, entry.size, file.get());
    if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0) {
      throw aist::Error(AIST_RESOURCE_EXHAUSTED, "cli.file", path.string() + ": cannot be written");
    }
  }
  s.Print({{"path", target}, {"files", count}, {"bytes", bytes}},
          std::to_string(count) + " files, " + Bytes(bytes) + ", in " + target);
  return kOk;
}

int Read(Session& s, const std::string& verb, const std::string& directory) {
  const auto dataset =
      aist::Make<aist::Dataset>(aist_dataset_open, directory.data(), directory.size());
  const auto& words = s.args().positional();
  if (verb == "cat") {
    if (words.size() < 3) throw UsageError("dataset cat: expected DIRECTORY PATH");
    uint64_t index = 0;
    aist::Call(aist_dataset_find, dataset.get(), words[2].data(), words[2].size(), &index);
    ReadAll(dataset.get(), index, Stat(dataset.get(), index).size, stdout);
    return kOk;
  }
  if (verb == "export") {
    if (words.size() < 3) throw UsageError("dataset export: expected DIRECTORY TARGET");
    return ExportTree(s, dataset.get(), words[2]);
  }
  const uint64_t count = aist_dataset_count(dataset.get());
  Json files = Json::array();
  std::string text;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Entry entry = Stat(dataset.get(), i);
    if (verb == "check") {
      bytes += ReadAll(dataset.get(), i, entry.size, nullptr);
      continue;
    }
    files.push_back({{"path", entry.path}, {"size_bytes", entry.size}});
    text += std::to_string(entry.size) + "\t" + entry.path + "\n";
  }
  if (verb == "check") {
    s.Print({{"ok", true}, {"files", count}, {"bytes", bytes}},
            std::to_string(count) + " files, " + Bytes(bytes) + ", all as their digests say");
  } else {
    s.Print({{"files", files}}, text);
  }
  return kOk;
}

int DatasetCommand(Session& s) {
  const auto& words = s.args().positional();
  const std::string& verb = words[0];
  const std::string object = words.size() > 1 ? words[1] : "";
  if (verb == "list") return List(s);
  if (verb == "pin" || verb == "unpin" || verb == "evict") return PinOrEvict(s, verb, object);
  const bool reads = verb == "files" || verb == "cat" || verb == "check" || verb == "export";
  if (verb != "index" && verb != "cache" && !reads) {
    throw UsageError(
        "expected index, cache, list, pin, unpin, evict, files, cat, check or export, got '" +
        verb + "'");
  }
  if (object.empty()) {
    throw UsageError("dataset " + verb + ": expected " +
                     (verb == "index"   ? "SOURCE"
                      : verb == "cache" ? "MANIFEST"
                                        : "DIRECTORY"));
  }
  if (verb == "index") return Index(s, object);
  if (verb == "cache") return Cache(s, object);
  return Read(s, verb, object);
}

}  // namespace

std::vector<Command> DatasetCommands() {
  std::vector<Option> options = {
      {"dataset-name", "NAME", "index: name of the dataset"},
      {"source-ca", "FILE", "index: CA of an https source"},
      {"max-files", "N", "index: more is an error"},
      {"output", "FILE", "index: write the manifest there (-o)"},
      {"pin", "", "cache: keep it from being evicted"},
      {"job", "ID", "cache: for accounting"},
      {"target", "SIZE", "evict: until at most this much is cached (default 0)"}};
  for (const Option& option : MemberOptions()) options.push_back(option);
  for (const Option& option : examples::NodeOptions()) {
    if (option.name != "inventory") options.push_back(option);
  }
  return {
      {{"dataset",
        "VERB [ARGUMENT]",
        "index, cache, list, pin, unpin, evict, files, cat, check",
        1,
        3,
        options,
        {"aistation dataset index http://storage/faces/ --dataset-name faces -o faces.json",
         "aistation dataset cache faces.json --inventory cluster.json --nodes node11,node12",
         "aistation dataset list --name n1 --data /var/lib/aistation",
         "aistation dataset files DIRECTORY",
         "aistation dataset cat DIRECTORY a/0001.jpg > 0001.jpg",
         "aistation dataset check DIRECTORY", "aistation dataset export DIRECTORY /tmp/faces"},
        "list, pin, unpin and evict work on a data directory that no agent uses at the time\n"
        "(--name, --data); files, cat, check and export on the directory that cache has told."},
       DatasetCommand},
  };
}

}  // namespace cli
