// SPDX-License-Identifier: Apache-2.0
// submit, run, cancel, status, watch, events: the life of jobs.
#include <algorithm>
#include <cstdio>

#include "aistation/cli.h"

namespace cli {
namespace {

struct Driver {
  aist::Allocator alloc;
  aist::JobManager manager;
};

Driver OpenManager(Session& s, bool drives) {
  Driver driver;
  driver.alloc = s.OpenAllocator(s.store());
  std::string rules;
  if (s.args().Has("rules")) rules = s.args().Get("rules");
  aist_job_manager_opts opts = AIST_JOB_MANAGER_OPTS_INIT;
  opts.store = s.store();
  opts.alloc = driver.alloc.get();
  opts.tls = s.tls(drives && !s.args().Has("local"));
  opts.rules = aist::Str(rules);
  driver.manager = aist::Make<aist::JobManager>(aist_job_manager_create, s.context(), &opts);
  return driver;
}

std::string StateName(const Json& document) {
  const std::string state = Field(document, "state");
  const std::string prefix = "JOB_STATE_";
  return state.rfind(prefix, 0) == 0 ? state.substr(prefix.size()) : state;
}
bool Ended(const std::string& state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELLED";
}

// Events after `*seq`; none within the time is an empty list.
Json Events(aist_job_manager* manager, const std::string& id, uint64_t* seq, int64_t timeout_ns) {
  try {
    Json list = ParseJson(aist::Document(aist_job_events, manager, id.data(), id.size(), *seq,
                                         timeout_ns, AIST_FORMAT_JSON),
                          "events");
    for (const Json& event : Array(list, "events")) *seq = std::max(*seq, Number(event, "seq"));
    return list;
  } catch (const aist::Error& error) {
    if (error.code() != AIST_DEADLINE_EXCEEDED) throw;
    return {{"events", Json::array()}};
  }
}

std::string EventLine(const Json& event) {
  return Time(static_cast<int64_t>(Number(event, "unix_ns"))) + "  " + Field(event, "job") + "  " +
         (Number(event, "attempt") ? "attempt " + Field(event, "attempt") + "  " : "") +
         StateName(event) + "  " + Field(event, "message");
}

Json GetJob(aist_job_manager* manager, const std::string& id) {
  return ParseJson(aist::Document(aist_job_get, manager, id.data(), id.size(), AIST_FORMAT_JSON),
                   "job");
}

std::string AttemptText(const Json& attempt) {
  std::string out = "attempt " + Field(attempt, "number") + ": ";
  std::string nodes;
  size_t cards = 0;
  if (attempt.contains("placement")) {
    for (const Json& node : Array(attempt["placement"], "nodes")) {
      nodes += (nodes.empty() ? "" : ", ") + Field(node, "node");
      cards += Array(node, "cards").size();
    }
  }
  out += std::to_string(cards) + " cards on " + (nodes.empty() ? "no node" : nodes) + "\n";
  if (attempt.contains("placement")) {
    for (const Json& line : Array(attempt["placement"], "explanation")) {
      out += "  placement: " + line.get<std::string>() + "\n";
    }
  }
  if (attempt.contains("probe")) {
    const Json& probe = attempt["probe"];
    out += "  reachability: " + std::to_string(Array(probe, "results").size()) + " tests by " +
           Field(probe, "method") +
           (probe.value("all_ok", false) ? ", all reach" : ", NOT all reach") + "\n";
  }
  for (const auto& [kind, name] : {std::pair{"images", "image"}, {"datasets", "dataset"}}) {
    uint64_t source = 0;
    uint64_t peers = 0;
    for (const Json& result : Array(attempt, kind)) {
      const Json stats = result.value("stats", Json::object());
      source += Number(stats, "bytes_source");
      peers += Number(stats, "bytes_peers");
    }
    if (!Array(attempt, kind).empty()) {
      out += std::string("  ") + name + ": " + Bytes(source) + " from the source, " + Bytes(peers) +
             " between nodes\n";
    }
  }
  if (attempt.contains("verdict")) {
    const Json& verdict = attempt["verdict"];
    out += "  verdict: " + Field(verdict, "sentence") + " (rule " + Field(verdict, "rule") +
           ", job: " + Field(verdict, "job_action") + ", node: " + Field(verdict, "node_action") +
           ")\n";
    for (const Json& evidence : Array(verdict, "evidence")) {
      out += "    " + Field(evidence, "source") + " on " + Field(evidence, "node") + ": " +
             Field(evidence, "line") + "\n";
    }
  }
  return out;
}

std::string JobText(const Json& job) {
  const Json spec = job.value("spec", Json::object());
  std::string out = "job " + Field(job, "id") + " '" + Field(spec, "name") + "' of " +
                    Field(spec, "department") + ": " + StateName(job) + "\n";
  if (!Field(job, "message").empty()) out += Field(job, "message") + "\n";
  for (const Json& attempt : Array(job, "attempts")) out += AttemptText(attempt);
  return out;
}

int EndCode(const Json& job) {
  const std::string state = StateName(job);
  if (state == "SUCCEEDED") return kOk;
  if (state == "CANCELLED") return kInterrupted;
  for (const Json& attempt : Array(job, "attempts")) {
    if (attempt.contains("placement") && attempt["placement"].contains("refusal")) return kRefused;
  }
  return kJobFailed;
}

// Ctrl-C ends the job, not only the driving.
int Drive(Session& s, Driver& driver, const std::string& id) {
  uint64_t seq = 0;
  bool asked_to_end = false;
  aist::Op op = aist::Op::Start(aist_job_run, driver.manager.get(), id.data(), id.size());
  const auto show = [&] {
    const Json list = Events(driver.manager.get(), id, &seq, 0);
    if (s.args().Has("quiet")) return;
    for (const Json& event : Array(list, "events")) {
      std::fprintf(stderr, "%s\n", EventLine(event).c_str());
    }
  };
  while (!op.Done()) {
    if (s.signals().Next(200) != 0) {
      if (asked_to_end) {
        op.Cancel();  // the second one leaves the job to another driver
      } else {
        std::fputs("ending the job; once more to leave it as it is\n", stderr);
        aist::Call(aist_job_cancel, driver.manager.get(), id.data(), id.size());
        asked_to_end = true;
      }
    }
    show();
  }
  show();
  const Json job = ParseJson(op.Result(), "job");
  s.Print(job, JobText(job));
  return EndCode(job);
}

int Submit(Session& s) {
  const std::string path = s.args().positional()[0];
  const std::string spec = examples::ReadFile(path);
  Driver driver = OpenManager(s, !s.args().Has("no-run"));
  const std::string id = aist::Document(aist_job_submit, driver.manager.get(), AIST_FORMAT_JSON,
                                        spec.data(), spec.size());
  if (s.args().Has("id-file")) examples::WriteFile(s.args().Get("id-file"), id + "\n");
  if (s.args().Has("no-run")) {
    s.Print({{"id", id}}, id);
    return kOk;
  }
  if (!s.args().Has("quiet")) std::fprintf(stderr, "submitted %s\n", id.c_str());
  return Drive(s, driver, id);
}

int RunJob(Session& s) {
  Driver driver = OpenManager(s, true);
  return Drive(s, driver, s.args().positional()[0]);
}

int Cancel(Session& s) {
  Driver driver = OpenManager(s, false);
  const std::string& id = s.args().positional()[0];
  aist::Call(aist_job_cancel, driver.manager.get(), id.data(), id.size());
  s.Print({{"id", id}, {"cancel", "requested"}}, "asked " + id + " to end");
  return kOk;
}

int AgentStatus(Session& s) {
  const auto [address, port] = examples::HostPort(s.args().Get("agent"));
  const Json status = s.Wait(
      aist::Op::Start(aist_node_query, s.context(), s.tls(), address.data(), address.size(), port),
      "status");
  std::string out =
      Field(status, "name") + " at " + Field(status, "address") + ":" + Field(status, "port") +
      ", since " + Time(static_cast<int64_t>(Number(status, "started_unix_ns"))) + "\nstored " +
      Bytes(Number(status, "store_bytes")) + ", from sources " +
      Bytes(Number(status, "bytes_source")) + ", from peers " +
      Bytes(Number(status, "bytes_peers")) + ", sent " + Bytes(Number(status, "bytes_sent")) + "\n";
  for (const char* kind : {"images", "datasets", "processes"}) {
    for (const Json& line : Array(status, kind)) {
      out += std::string(kind) + ": " + line.get<std::string>() + "\n";
    }
  }
  s.Print(status, out);
  return kOk;
}

int Status(Session& s) {
  if (s.args().Has("agent")) return AgentStatus(s);
  const Driver driver = OpenManager(s, false);
  if (!s.args().positional().empty()) {
    const Json job = GetJob(driver.manager.get(), s.args().positional()[0]);
    s.Print(job, JobText(job));
    return kOk;
  }
  const uint32_t limit = static_cast<uint32_t>(s.args().Number("limit", 0, 1'000'000));
  const Json list = ParseJson(
      aist::Document(aist_job_list, driver.manager.get(), limit, AIST_FORMAT_JSON), "jobs");
  std::vector<std::vector<std::string>> rows = {
      {"JOB", "NAME", "DEPARTMENT", "STATE", "ATTEMPTS", "SUBMITTED", "MESSAGE"}};
  for (const Json& job : Array(list, "jobs")) {
    const Json spec = job.value("spec", Json::object());
    rows.push_back({Field(job, "id"), Field(spec, "name"), Field(spec, "department"),
                    StateName(job), std::to_string(Array(job, "attempts").size()),
                    Time(static_cast<int64_t>(Number(job, "submitted_unix_ns"))),
                    Field(job, "message")});
  }
  s.Print(list, Columns(rows));
  return kOk;
}

int Watch(Session& s) {
  const Driver driver = OpenManager(s, false);
  const std::string& id = s.args().positional()[0];
  GetJob(driver.manager.get(), id);  // says so when there is none
  uint64_t seq = 0;
  for (;;) {
    const Json list = Events(driver.manager.get(), id, &seq, 500'000'000);
    for (const Json& event : Array(list, "events")) {
      // One document a line: a stream, not one document.
      std::printf("%s\n", s.json() ? event.dump().c_str() : EventLine(event).c_str());
    }
    std::fflush(stdout);
    const Json job = GetJob(driver.manager.get(), id);
    if (Ended(StateName(job)) && Array(list, "events").empty()) return EndCode(job);
    if (s.signals().Next(0) != 0) return kInterrupted;
  }
}

int EventsCommand(Session& s) {
  const Driver driver = OpenManager(s, false);
  const std::string id = s.args().positional().empty() ? "" : s.args().positional()[0];
  uint64_t seq = s.args().Number("after", 0);
  const Json list = Events(driver.manager.get(), id, &seq, 0);
  std::string out;
  for (const Json& event : Array(list, "events")) out += EventLine(event) + "\n";
  s.Print(list, out);
  return kOk;
}

}  // namespace

std::vector<Command> JobCommands() {
  const Option inventory = {"inventory", "FILE", "Inventory document (default: of the store)"};
  const Option rules = {"rules", "FILE", "fault rules (default: the installed ones)"};
  const Option local = {"local", "", "run the processes on this machine, without agents"};
  return {
      {{"submit",
        "SPEC",
        "a job: accepted durably, then driven to its end",
        1,
        1,
        {inventory,
         rules,
         local,
         {"no-run", "", "only accept it; 'aistation run JOB' drives it later"},
         {"id-file", "FILE", "write the id of the job there as soon as it has one"}},
        {"aistation submit job.json --inventory cluster.json --store centre.db",
         "aistation submit job.json --store centre.db --no-run --json"},
        "Events go to stderr, the job with its attempts and verdicts to stdout.\n"
        "Exit code 0 success, 3 refused, 5 failed. Ctrl-C ends the job."},
       Submit},
      {{"run",
        "JOB",
        "drives an accepted job, or takes over one whose driver died",
        1,
        1,
        {inventory, rules, local},
        {"aistation run JOB --store centre.db"},
        ""},
       RunJob},
      {{"cancel",
        "JOB",
        "asks a job to end",
        1,
        1,
        {},
        {"aistation cancel JOB --store centre.db"},
        ""},
       Cancel},
      {{"status",
        "[JOB]",
        "jobs of the store, one job, or an agent",
        0,
        1,
        {{"agent", "ADDRESS:PORT", "what this agent holds and has moved"},
         {"limit", "N", "most jobs listed (default 1000)"}},
        {"aistation status --store centre.db", "aistation status JOB --store centre.db --json",
         "aistation status --agent 127.0.0.11:7400"},
        ""},
       Status},
      {{"watch",
        "JOB",
        "events of a job until it ends",
        1,
        1,
        {},
        {"aistation watch JOB --store centre.db"},
        "With --json one JSON document a line. Exit code as submit."},
       Watch},
      {{"events",
        "[JOB]",
        "events so far, at most 1,000",
        0,
        1,
        {{"after", "SEQ", "only events after this sequence number"}},
        {"aistation events --store centre.db --after 100 --json"},
        ""},
       EventsCommand},
  };
}

}  // namespace cli
