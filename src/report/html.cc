// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"
#include "report/svg.h"
#include "util/strings.h"

namespace aistation::report {
namespace {

constexpr int kMaxJobSections = 100;
constexpr int kMaxEventRows = 2000;

constexpr std::string_view kStyle = R"css(
:root{--ink:#1c2430;--soft:#5d6b7c;--paper:#fff;--line:#dde3ea;--good:#2f9e6e;--bad:#d1495b;--stage:#8ea6c8;--wait:#d5dbe3;--source:#e0913a;--peers:#3b7dd8;--local:#9aa5b1;--free:#e6ebf1}
@media(prefers-color-scheme:dark){:root{--ink:#e6ebf1;--soft:#9aa8b8;--paper:#161b22;--line:#2d3642;--wait:#39424e;--free:#2d3642;--stage:#5f7ba3}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1000px;margin:2em auto;padding:0 1em}
h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid var(--line)}h3{font-size:1.05em;margin-bottom:.3em}
table{border-collapse:collapse;width:100%}td,th{padding:.25em .6em;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right}
svg{width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}svg .axis{fill:var(--soft);font-size:11px}
.grid{stroke:var(--line)}.good{fill:var(--good)}.bad{fill:var(--bad)}.stage{fill:var(--stage)}.wait{fill:var(--wait)}.source{fill:var(--source)}.peers{fill:var(--peers)}.local{fill:var(--local)}.free{fill:var(--free)}
.job0{fill:#3b7dd8}.job1{fill:#2f9e6e}.job2{fill:#e0913a}.job3{fill:#8d5fd3}.job4{fill:#c2477f}.job5{fill:#2aa5b8}.job6{fill:#8a8f2a}.job7{fill:#a0643c}
.key span{display:inline-block;margin-right:1.2em;color:var(--soft)}.key i{display:inline-block;width:.8em;height:.8em;margin-right:.35em;border-radius:2px}
.verdict{border-left:4px solid var(--bad);padding-left:.8em;margin:.6em 0}code{font:13px ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}.soft{color:var(--soft)}
)css";

std::string StateName(v1::JobState state) {
  const std::string& name = v1::JobState_Name(state);
  constexpr std::string_view kPrefix = "JOB_STATE_";
  return util::ReplaceAll(util::AsciiLower(name.substr(kPrefix.size())), "_", " ");
}

std::string Key(std::initializer_list<std::pair<const char*, const char*>> items) {
  std::string out = "<p class=\"key\">";
  for (const auto& [cls, text] : items) {
    util::StrAppend(&out, "<span><i style=\"background:var(--", cls, ")\"></i>", text, "</span>");
  }
  return out + "</p>\n";
}

std::string Cell(std::string_view text, bool number = false) {
  return util::StrCat(number ? "<td class=\"n\">" : "<td>", Escape(text), "</td>");
}

std::string Departments(const v1::Report& report) {
  std::string out =
      "<h2>Use by department</h2>\n<table><tr><th>Department</th><th class=\"n\">Card hours</th>"
      "<th class=\"n\">lost in failed attempts</th><th class=\"n\">Jobs</th>"
      "<th class=\"n\">Failed attempts</th><th class=\"n\">From registry and storage</th>"
      "<th class=\"n\">Between nodes</th></tr>\n";
  for (const auto& row : report.departments()) {
    util::StrAppend(&out, "<tr>", Cell(row.department()),
                    Cell(util::FormatFixed(row.card_seconds() / 3600, 3), true),
                    Cell(util::FormatFixed(row.lost_card_seconds() / 3600, 3), true),
                    Cell(util::StrCat(row.jobs()), true),
                    Cell(util::StrCat(row.failed_attempts()), true),
                    Cell(util::FormatBytes(row.bytes_source()), true),
                    Cell(util::FormatBytes(row.bytes_peers()), true), "</tr>\n");
  }
  return out + "</table>\n";
}

std::string VerdictBox(const v1::Verdict& verdict) {
  std::string out =
      util::StrCat("<div class=\"verdict\"><b>", Escape(verdict.sentence()),
                   "</b><br><span class=\"soft\">class ", Escape(verdict.fault_class()), ", rule ",
                   Escape(verdict.rule()), ", job: ", Escape(verdict.job_action()),
                   ", node: ", Escape(verdict.node_action()), ", confidence ",
                   util::FormatFixed(verdict.confidence() * 100, 0), " %</span>");
  for (const auto& evidence : verdict.evidence()) {
    util::StrAppend(&out, "<br><span class=\"soft\">", Escape(evidence.source()),
                    evidence.node().empty() ? "" : " on " + Escape(evidence.node()),
                    ":</span> <code>", Escape(evidence.line()), "</code>");
  }
  return out + "</div>\n";
}

std::string AttemptSection(const v1::Attempt& attempt) {
  std::string out = util::StrCat("<h3>Attempt ", attempt.number(), "</h3>\n");
  if (attempt.placement().has_refusal()) {
    return out + "<p>" + Escape(attempt.placement().refusal().sentence()) + "</p>\n";
  }
  out += "<ul>";
  for (const auto& line : attempt.placement().explanation()) {
    util::StrAppend(&out, "<li>", Escape(line), "</li>");
  }
  for (const auto& node : attempt.placement().nodes()) {
    util::StrAppend(&out, "<li>", Escape(node.node()), ": ", Escape(node.why()), "</li>");
  }
  out += "</ul>\n";
  if (attempt.has_verdict()) out += VerdictBox(attempt.verdict());
  if (attempt.images_size() + attempt.datasets_size() > 0) {
    out += Key({{"source", "from registry or storage"},
                {"peers", "from other nodes"},
                {"local", "was here already"}});
    out += Transfers(attempt);
  }
  if (attempt.probe().endpoints_size() > 0) {
    util::StrAppend(&out, "<p>Reachability: ", attempt.probe().results_size(), " tests by ",
                    Escape(attempt.probe().method()),
                    attempt.probe().all_ok() ? ", all reach." : ", <b>not all reach</b>.",
                    "</p>\n");
    for (const auto& finding : attempt.probe().findings()) {
      util::StrAppend(&out, "<p>", Escape(finding), "</p>\n");
    }
    out += ProbeGrid(attempt.probe());
  }
  return out;
}

std::string JobSection(const v1::Job& job) {
  std::string out =
      util::StrCat("<h2>", Escape(job.spec().name()), " <span class=\"soft\">", Escape(job.id()),
                   ", ", Escape(job.spec().department()), ", ", StateName(job.state()),
                   "</span></h2>\n<p>", Escape(job.message()), "</p>\n");
  for (const auto& attempt : job.attempts()) out += AttemptSection(attempt);
  return out;
}

std::string Events(const v1::Report& report) {
  std::string out =
      "<h2>Events</h2>\n<table><tr><th>Time</th><th>Job</th><th>State</th><th>What</th></tr>\n";
  // The last ones, if there are too many.
  const int first = std::max(0, report.events_size() - kMaxEventRows);
  for (int i = first; i < report.events_size(); ++i) {
    const auto& event = report.events(i);
    util::StrAppend(&out, "<tr>", Cell(ClockTime(event.unix_ns())), Cell(event.job()),
                    Cell(StateName(event.state())), Cell(event.message()), "</tr>\n");
  }
  return out + "</table>\n";
}

}  // namespace

std::string ToHtml(const v1::Report& report, const std::string& title) {
  std::string out = util::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width\"/><title>",
      Escape(title), "</title><style>", kStyle, "</style></head><body>\n<h1>", Escape(title),
      "</h1>\n<p class=\"soft\">made ", ClockTime(report.made_unix_ns()), "; ", report.jobs_size(),
      report.jobs_size() == 1 ? " job" : " jobs", ", ", report.inventory().nodes_size(),
      " nodes</p>\n");
  out += "<h2>Timeline</h2>\n" + Key({{"wait", "waiting"},
                                      {"stage", "proving and staging"},
                                      {"good", "running"},
                                      {"bad", "running, then failed"}});
  out += Timeline(report);
  if (report.inventory().nodes_size() > 0) {
    out += "<h2>Cards by node, now</h2>\n" + CardsByNode(report);
  }
  out += Departments(report);
  for (int i = 0; i < report.jobs_size() && i < kMaxJobSections; ++i) {
    out += JobSection(report.jobs(i));
  }
  if (report.jobs_size() > kMaxJobSections) {
    util::StrAppend(&out, "<p class=\"soft\">", report.jobs_size() - kMaxJobSections,
                    " more jobs are in the JSON form of this report.</p>\n");
  }
  out += Events(report);
  return out + "</body></html>\n";
}

}  // namespace aistation::report
