// SPDX-License-Identifier: Apache-2.0
#include "aistation/cli.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "aistation/progress.h"

namespace cli {

int ExitCode(const aist::Error& error) {
  if (error.reason().rfind("alloc.", 0) == 0 && error.code() == AIST_RESOURCE_EXHAUSTED) {
    return kRefused;
  }
  switch (error.code()) {
    case AIST_CANCELLED:
      return kInterrupted;
    case AIST_INVALID_ARGUMENT:
    case AIST_OUT_OF_RANGE:
      return kUsage;
    case AIST_PERMISSION_DENIED:
    case AIST_UNAUTHENTICATED:
      return kRefused;
    case AIST_NOT_FOUND:
      return kNotFound;
    case AIST_DATA_LOSS:
      return kCheckFailed;
    case AIST_UNAVAILABLE:
    case AIST_DEADLINE_EXCEEDED:
    case AIST_ABORTED:
      return kUnavailable;
    default:
      return kFailed;
  }
}

const std::vector<Option>& CommonOptions() {
  static const std::vector<Option>* options = [] {
    auto* list = new std::vector<Option>{
        {"json", "", "one JSON document on stdout, also for errors"},
        {"quiet", "", "no progress"},
        {"store", "FILE", "state (or AISTATION_STORE; default aistation.db)"},
        {"log-level", "LEVEL", "log of the library on stderr: debug … error (default none)"},
        {"help", "", "this text"}};
    for (const Option& option : examples::TlsOptions()) list->push_back(option);
    return list;
  }();
  return *options;
}

Session::Session(const Args& args)
    : args_(args), context_(examples::MakeContext("aistation", args.Get("log-level", "none"))) {}

aist_store* Session::store() {
  if (store_ == nullptr) {
    std::string path = args_.GetOrEnv("store", "AISTATION_STORE");
    if (path.empty()) path = "aistation.db";
    aist_store_opts opts = AIST_STORE_OPTS_INIT;
    opts.kind = AIST_STORE_SQLITE;
    opts.path = aist::Str(path);
    store_ = aist::Make<aist::Store>(aist_store_open, context(), &opts);
  }
  return store_.get();
}

aist_tls* Session::tls(bool required) {
  if (tls_ == nullptr) tls_ = examples::LoadTls(context(), args_);
  if (tls_ == nullptr && required) {
    throw UsageError("agents are asked over mutual TLS: --tls-ca, --tls-cert and --tls-key");
  }
  return tls_.get();
}

aist::Allocator Session::OpenAllocator(aist_store* store) {
  std::string inventory;
  if (args_.Has("inventory")) inventory = examples::ReadFile(args_.Get("inventory"));
  return aist::Make<aist::Allocator>(aist_alloc_open, context(), store, AIST_FORMAT_JSON,
                                     inventory.data(), inventory.size());
}

Json Session::Wait(aist::Op op, const std::string& what, const std::string& unit,
                   const std::function<void()>& tick) {
  Progress progress(what, unit, args_.Has("quiet"));
  while (!op.Done()) {
    pollfd wait[2] = {{op.fd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
    poll(wait, 2, 100);
    if (signals_.Next(0) != 0) {
      if (interrupted_) _exit(kInterrupted);  // the second one does not wait
      interrupted_ = true;
      progress.Note("stopping; once more to leave at once");
      op.Cancel();
    }
    if (tick) tick();
    progress.Show(op.Progress());
  }
  if (tick) tick();
  progress.Finish(op.Progress());
  return ParseJson(op.Result(), what);
}

void Session::Print(const Json& document, const std::string& text) {
  const std::string out = json() ? document.dump(2) + "\n" : text;
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (!out.empty() && out.back() != '\n') std::fputc('\n', stdout);
  std::fflush(stdout);
}

Json ParseJson(std::string_view text, const std::string& source) {
  try {
    return Json::parse(text, nullptr, true, true);
  } catch (const nlohmann::json::exception& error) {
    throw aist::Error(AIST_INVALID_ARGUMENT, "cli.json", source + ": " + error.what());
  }
}

Json ReadJson(const std::string& path) { return ParseJson(examples::ReadFile(path), path); }

std::string Field(const Json& object, const char* name) {
  const auto it = object.find(name);
  if (it == object.end() || it->is_null()) return "";
  return it->is_string() ? it->get<std::string>() : it->dump();
}

uint64_t Number(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_number() ? it->get<uint64_t>() : 0;
}

const Json& Array(const Json& object, const char* name) {
  static const Json* empty = new Json(Json::array());
  const auto it = object.find(name);
  return it != object.end() && it->is_array() ? *it : *empty;
}

std::string Bytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string Seconds(double seconds) {
  char text[32];
  if (seconds < 1) {
    std::snprintf(text, sizeof(text), "%.0f ms", seconds * 1e3);
  } else if (seconds < 120) {
    std::snprintf(text, sizeof(text), "%.1f s", seconds);
  } else {
    std::snprintf(text, sizeof(text), "%.0f min %.0f s", seconds / 60 - 0.5,
                  seconds - 60 * static_cast<double>(static_cast<int64_t>(seconds) / 60));
  }
  return text;
}

std::string Time(int64_t unix_ns) {
  if (unix_ns == 0) return "-";
  const time_t seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string Columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  // Code points, not bytes; good enough for the names that occur here.
  const auto width = [](const std::string& s) {
    return static_cast<size_t>(
        std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  for (const auto& row : rows) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - width(row[i]) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(separator, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<Option> MemberOptions() {
  return {{"member", "NAME=ADDR:PORT[,RACK]", "an agent that takes part", true},
          {"inventory", "FILE", "Inventory document; its nodes are the members"},
          {"nodes", "NAMES", "only these nodes of the inventory, with commas"}};
}

Json Members(const Args& args) {
  Json members = Json::array();
  for (const std::string& text : args.All("member")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError("--member '" + text + "': expected NAME=ADDRESS:PORT[,RACK]");
    }
    const auto parts = Split(text.substr(equals + 1), ',');
    if (parts.empty() || parts.size() > 2) {
      throw UsageError("--member '" + text + "': expected NAME=ADDRESS:PORT[,RACK]");
    }
    const auto [address, port] = examples::HostPort(parts[0]);
    members.push_back({{"node", text.substr(0, equals)},
                       {"address", address},
                       {"port", port},
                       {"rack", parts.size() > 1 ? parts[1] : ""}});
  }
  if (!args.Has("inventory")) return members;
  const Json inventory = ReadJson(args.Get("inventory"));
  const auto wanted = Split(args.Get("nodes"), ',');
  size_t found = 0;
  for (const Json& node : Array(inventory, "nodes")) {
    const std::string name = Field(node, "name");
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    ++found;
    members.push_back({{"node", name},
                       {"address", Field(node, "address")},
                       {"port", Number(node, "port")},
                       {"rack", Field(node, "rack")}});
  }
  if (found < wanted.size()) {
    throw aist::Error(AIST_NOT_FOUND, "cli.node",
                      args.Get("inventory") + ": not all nodes of --nodes are in it");
  }
  return members;
}

}  // namespace cli
