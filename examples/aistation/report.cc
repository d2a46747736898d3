// SPDX-License-Identifier: Apache-2.0
// report, audit, metrics: what happened, for people and for machines.
#include <cstdio>

#include "aistation/cli.h"

namespace cli {
namespace {

uint32_t ReportKind(const std::string& name) {
  if (name == "html") return AIST_REPORT_HTML;
  if (name == "json") return AIST_REPORT_JSON;
  if (name == "csv") return AIST_REPORT_CSV;
  throw UsageError("--kind: expected html, json or csv, got '" + name + "'");
}

int Report(Session& s) {
  const std::string title = s.args().Get("title");
  const std::string job = s.args().Get("job");
  const std::string output = s.args().Get("output");
  aist_report_opts opts = AIST_REPORT_OPTS_INIT;
  opts.kind = ReportKind(s.args().Get("kind", s.json() && output.empty() ? "json" : "html"));
  opts.title = aist::Str(title);
  opts.job = aist::Str(job);
  opts.from_unix_ns =
      static_cast<int64_t>(s.args().Number("from", 0, 9'000'000'000)) * 1'000'000'000;
  opts.to_unix_ns = static_cast<int64_t>(s.args().Number("to", 0, 9'000'000'000)) * 1'000'000'000;
  const std::string text = aist::Document(aist_report_build, s.context(), s.store(), &opts);
  if (output.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kOk;
  }
  examples::WriteFile(output, text);
  s.Print({{"path", output}, {"bytes", text.size()}}, output + ", " + Bytes(text.size()));
  return kOk;
}

int AuditVerify(Session& s) {
  const Json result =
      ParseJson(aist::Document(aist_audit_verify, s.store(), AIST_FORMAT_JSON), "audit");
  const bool ok = result.value("ok", false);
  s.Print(result, ok ? Field(result, "entries") + " entries, the chain is whole; head " +
                           Field(result, "head_sha256")
                     : "DAMAGED at entry " + Field(result, "first_bad_seq") + ": " +
                           Field(result, "problem"));
  return ok ? kOk : kCheckFailed;
}

int Audit(Session& s) {
  const std::string& verb = s.args().positional()[0];
  if (verb == "verify") return AuditVerify(s);
  if (verb != "show") throw UsageError("expected verify or show, got '" + verb + "'");
  const Json log =
      ParseJson(aist::Document(aist_audit_read, s.store(), s.args().Number("first", 1),
                               static_cast<uint32_t>(s.args().Number("limit", 0, 1'000'000)),
                               AIST_FORMAT_JSON),
                "audit");
  std::vector<std::vector<std::string>> rows = {
      {"SEQ", "TIME", "ACTOR", "ACTION", "OBJECT", "DETAIL"}};
  for (const Json& entry : Array(log, "entries")) {
    rows.push_back({Field(entry, "seq"), Time(static_cast<int64_t>(Number(entry, "unix_ns"))),
                    Field(entry, "actor"), Field(entry, "action"), Field(entry, "object"),
                    Field(entry, "detail")});
  }
  s.Print(log, Columns(rows));
  return kOk;
}

void Gauge(aist_context* context, const std::string& name, const std::string& help,
           const std::string& node, double value) {
  std::string label;
  for (const char c : node) {
    if (c == '"' || c == '\\') label += '\\';
    label += c == '\n' ? ' ' : c;
  }
  label = "node=\"" + label + "\"";
  aist::Call(aist_monitor_gauge_set, context, name.data(), name.size(), help.data(), help.size(),
             label.data(), label.size(), value);
}

int Metrics(Session& s) {
  const Json members = Members(s.args());
  if (members.empty()) throw UsageError("--member or --inventory names the agents to ask");
  struct Metric {
    const char* field;
    const char* name;
    const char* help;
  };
  static constexpr Metric kMetrics[] = {
      {"store_bytes", "aistation_agent_store_bytes", "Bytes in the blob store of the node."},
      {"bytes_source", "aistation_agent_source_bytes",
       "Bytes read from registries and storage since the agent started."},
      {"bytes_peers", "aistation_agent_received_bytes", "Bytes received from other nodes."},
      {"bytes_sent", "aistation_agent_sent_bytes", "Bytes sent to other nodes."},
      {"started_unix_ns", "aistation_agent_start_time_ns", "Start of the agent, Unix time."}};
  for (const Json& member : members) {
    const std::string node = Field(member, "node");
    const std::string address = Field(member, "address");
    double up = 0;
    try {
      const Json status =
          s.Wait(aist::Op::Start(aist_node_query, s.context(), s.tls(), address.data(),
                                 address.size(), static_cast<uint16_t>(Number(member, "port"))),
                 node);
      up = 1;
      for (const Metric& metric : kMetrics) {
        Gauge(s.context(), metric.name, metric.help, node,
              static_cast<double>(Number(status, metric.field)));
      }
      Gauge(s.context(), "aistation_agent_processes", "Processes of jobs on the node.", node,
            static_cast<double>(Array(status, "processes").size()));
    } catch (const aist::Error& error) {
      if (error.code() == AIST_CANCELLED) throw;
      std::fprintf(stderr, "%s: %s\n", node.c_str(), error.what());
    }
    Gauge(s.context(), "aistation_agent_up", "1 when the agent answered.", node, up);
  }
  const std::string text = aist::Document(aist_monitor_prometheus, s.context());
  s.Print({{"prometheus", text}}, text);
  return kOk;
}

}  // namespace

std::vector<Command> ReportCommands() {
  return {
      {{"report",
        "",
        "one page with pictures, or the numbers",
        0,
        0,
        {{"kind", "KIND", "html, json or csv (default html)"},
         {"output", "FILE", "write there instead of to stdout (-o)"},
         {"title", "TEXT", "heading of the page"},
         {"job", "ID", "only this job"},
         {"from", "SECONDS", "from this Unix time"},
         {"to", "SECONDS", "until this Unix time"}},
        {"aistation report --store centre.db -o report.html",
         "aistation report --store centre.db --kind csv > departments.csv"},
        ""},
       Report},
      {{"audit",
        "verify|show",
        "the audit log: its hash chain, its entries",
        1,
        1,
        {{"first", "N", "show: from this entry (default 1)"},
         {"limit", "N", "show: most entries (default 1000)"}},
        {"aistation audit verify --store centre.db",
         "aistation audit show --store centre.db --first 100"},
        "Exit code 6 when the chain is damaged."},
       Audit},
      {{"metrics",
        "",
        "what agents hold and have moved, in the Prometheus text format",
        0,
        0,
        MemberOptions(),
        {"aistation metrics --inventory cluster.json > /var/lib/node_exporter/aistation.prom"},
        ""},
       Metrics},
  };
}

}  // namespace cli
