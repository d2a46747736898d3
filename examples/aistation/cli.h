// SPDX-License-Identifier: Apache-2.0
// What all subcommands share: documents, output, waiting with progress, exit codes.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/aist.hpp"
#include "common/args.h"
#include "common/node.h"

namespace cli {

using examples::Args;
using examples::Option;
using examples::Spec;
using examples::UsageError;
using Json = nlohmann::ordered_json;

// docs/reference/exit-codes.md and `aistation help exit-codes` say the same.
enum Exit {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kRefused = 3,
  kNotFound = 4,
  kJobFailed = 5,
  kCheckFailed = 6,
  kUnavailable = 7,
  kInterrupted = 130,
};
int ExitCode(const aist::Error& error);

// One run of the program.
class Session {
 public:
  explicit Session(const Args& args);
  const Args& args() const { return args_; }
  bool json() const { return args_.Has("json"); }
  aist_context* context() { return context_.get(); }
  // Opened when first asked for: --store, AISTATION_STORE, else ./aistation.db.
  aist_store* store();
  // Throws UsageError when no identity is given and `required`.
  aist_tls* tls(bool required = true);
  // The ledger: of --inventory when given, else of what the store knows.
  aist::Allocator OpenAllocator(aist_store* store);

  // Waits with a progress line; Ctrl-C cancels, the operation's own error is thrown. `unit`: "B" or
  // a word ("pairs"). `tick` runs several times a second.
  Json Wait(aist::Op op, const std::string& what, const std::string& unit = "B",
            const std::function<void()>& tick = {});
  const examples::Signals& signals() const { return signals_; }
  bool interrupted() const { return interrupted_; }
  void set_interrupted() { interrupted_ = true; }

  // With --json the document on stdout and nothing else; otherwise `text`.
  void Print(const Json& document, const std::string& text);

 private:
  const Args& args_;
  const examples::Signals signals_;
  aist::Context context_;
  aist::Store store_;
  aist::Tls tls_;
  bool interrupted_ = false;
};

struct Command {
  Spec spec;
  int (*run)(Session&);
};
std::vector<Command> DeviceCommands();   // discover, topology, classify, version
std::vector<Command> AllocCommands();    // plan, alloc, probe
std::vector<Command> ImageCommands();    // pull, serve
std::vector<Command> DatasetCommands();  // dataset
std::vector<Command> JobCommands();      // submit, run, cancel, status, watch, events
std::vector<Command> ReportCommands();   // report, audit, metrics
const std::vector<Option>& CommonOptions();

Json ParseJson(std::string_view text, const std::string& source);
Json ReadJson(const std::string& path);
// "" when absent; numbers and booleans as text.
std::string Field(const Json& object, const char* name);
uint64_t Number(const Json& object, const char* name);
const Json& Array(const Json& object, const char* name);

std::string Bytes(uint64_t bytes);    // "1.4 GiB"
std::string Seconds(double seconds);  // "850 ms", "12.3 s", "4 min 10 s"
std::string Time(int64_t unix_ns);    // "2026-01-31 12:00:00", local time
std::string Columns(const std::vector<std::vector<std::string>>& rows);  // first row: headings
// --member NAME=ADDRESS:PORT[,RACK] and the nodes of --inventory (all, or those of --nodes).
Json Members(const Args& args);
std::vector<Option> MemberOptions();
std::vector<std::string> Split(const std::string& text, char separator);

}  // namespace cli
