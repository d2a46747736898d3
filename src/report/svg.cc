// SPDX-License-Identifier: Apache-2.0
#include "report/svg.h"

#include <time.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "util/strings.h"

namespace aistation::report {
namespace {

constexpr int kWidth = 960;
constexpr int kLabel = 190;
constexpr int kRow = 22;
constexpr int kMaxTimelineRows = 200;
constexpr int kMaxGrid = 64;
constexpr int kMaxNodes = 400;

std::string Num(double value) { return util::FormatFixed(value, 1); }
std::string TwoDigits(int v) { return util::StrCat(v < 10 ? "0" : "", v); }

std::string Open(int height, std::string_view title) {
  return util::StrCat("<svg viewBox=\"0 0 ", kWidth, " ", height, "\" role=\"img\" aria-label=\"",
                      Escape(title), "\">\n");
}

std::string Rect(double x, double y, double w, double h, std::string_view cls,
                 std::string_view tip) {
  return util::StrCat("<rect x=\"", Num(x), "\" y=\"", Num(y), "\" width=\"", Num(std::max(w, 0.8)),
                      "\" height=\"", Num(h), "\" class=\"", cls, "\"><title>", Escape(tip),
                      "</title></rect>\n");
}

std::string Text(double x, double y, std::string_view text, std::string_view cls = "") {
  return util::StrCat("<text x=\"", Num(x), "\" y=\"", Num(y), "\" class=\"", cls, "\">",
                      Escape(text), "</text>\n");
}

std::string Seconds(int64_t nanos) {
  return util::FormatFixed(static_cast<double>(nanos) / 1e9, 1) + " s";
}

struct Span {
  int64_t begin = 0;
  int64_t end = 0;
};

Span SpanOf(const v1::Report& report) {
  Span span{INT64_MAX, 0};
  for (const auto& job : report.jobs()) {
    span.begin = std::min(span.begin, job.submitted_unix_ns());
    span.end =
        std::max(span.end, job.ended_unix_ns() == 0 ? report.to_unix_ns() : job.ended_unix_ns());
  }
  if (span.begin == INT64_MAX) span.begin = 0;
  span.end = std::max(span.end, span.begin + 1'000'000'000);
  return span;
}

// Colour of a job among those that hold cards now.
std::map<std::string, int> JobColours(const v1::Report& report) {
  std::set<std::string> jobs;
  for (const auto& [card, job] : report.card_job()) jobs.insert(job);
  std::map<std::string, int> out;
  for (const auto& job : jobs) out[job] = static_cast<int>(out.size()) % 8;
  return out;
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : util::ToValidUtf8(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Control characters are not allowed in XML.
        out.push_back(static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' ? ' ' : c);
    }
  }
  return out;
}

std::string ClockTime(int64_t unix_ns) {
  const time_t seconds = unix_ns / 1'000'000'000;
  struct tm t {};
  gmtime_r(&seconds, &t);
  return util::StrCat(t.tm_year + 1900, "-", TwoDigits(t.tm_mon + 1), "-", TwoDigits(t.tm_mday),
                      " ", TwoDigits(t.tm_hour), ":", TwoDigits(t.tm_min), ":", TwoDigits(t.tm_sec),
                      " UTC");
}

std::string Timeline(const v1::Report& report) {
  const Span span = SpanOf(report);
  const double scale = (kWidth - kLabel - 10) / static_cast<double>(span.end - span.begin);
  const auto x = [&](int64_t at) {
    return kLabel + static_cast<double>(std::clamp(at, span.begin, span.end) - span.begin) * scale;
  };
  std::string body;
  int row = 0;
  for (const auto& job : report.jobs()) {
    if (row >= kMaxTimelineRows) break;
    const double y = 24 + row * kRow;
    body += Text(4, y + 14, job.spec().name() + "  " + job.id().substr(0, 12), "label");
    const int64_t job_end = job.ended_unix_ns() == 0 ? report.to_unix_ns() : job.ended_unix_ns();
    body += Rect(x(job.submitted_unix_ns()), y + 8, x(job_end) - x(job.submitted_unix_ns()), 4,
                 "wait", "from submission to end: " + Seconds(job_end - job.submitted_unix_ns()));
    for (const auto& attempt : job.attempts()) {
      if (attempt.started_unix_ns() == 0) continue;
      const int64_t end =
          attempt.ended_unix_ns() == 0 ? report.to_unix_ns() : attempt.ended_unix_ns();
      const int64_t run = attempt.running_unix_ns() == 0 ? end : attempt.running_unix_ns();
      body += Rect(x(attempt.started_unix_ns()), y + 2, x(run) - x(attempt.started_unix_ns()), 16,
                   "stage",
                   util::StrCat("attempt ", attempt.number(), ": proving and staging ",
                                Seconds(run - attempt.started_unix_ns())));
      if (run < end) {
        const bool failed = attempt.has_verdict();
        body += Rect(x(run), y + 2, x(end) - x(run), 16, failed ? "bad" : "good",
                     util::StrCat("attempt ", attempt.number(), ": running ", Seconds(end - run),
                                  failed ? "; " + attempt.verdict().sentence() : ""));
      }
    }
    ++row;
  }
  std::string out = Open(30 + row * kRow + 20, "Timeline of jobs");
  for (int tick = 0; tick <= 4; ++tick) {
    const int64_t at = span.begin + (span.end - span.begin) / 4 * tick;
    out += util::StrCat("<line x1=\"", Num(x(at)), "\" x2=\"", Num(x(at)), "\" y1=\"18\" y2=\"",
                        30 + row * kRow, "\" class=\"grid\"/>\n");
    out += Text(std::min(x(at), kWidth - 70.0), 12, "+" + Seconds(at - span.begin), "axis");
  }
  return out + body + "</svg>\n";
}

std::string CardsByNode(const v1::Report& report) {
  const auto colours = JobColours(report);
  std::string body;
  int row = 0;
  for (const auto& node : report.inventory().nodes()) {
    if (row >= kMaxNodes) break;
    const double y = 6 + row * kRow;
    body += Text(4, y + 14, node.name() + (node.rack().empty() ? "" : "  " + node.rack()), "label");
    int column = 0;
    for (const auto& card : node.cards()) {
      const auto holder = report.card_job().find(util::StrCat(node.name(), "/", card.id()));
      std::string cls = "free";
      std::string tip = card.id() + " " + card.model();
      if (card.health() == v1::HEALTH_BAD || card.health() == v1::HEALTH_NO_DRIVER) {
        cls = "bad";
        tip += ": " + card.health_detail();
      } else if (holder != report.card_job().end()) {
        cls = util::StrCat("job", colours.at(holder->second));
        tip += ": held by " + holder->second;
      } else {
        tip += ": free";
      }
      body += Rect(kLabel + column * 24, y + 1, 20, 18, cls, tip);
      ++column;
    }
    ++row;
  }
  return Open(12 + row * kRow, "Cards by node") + body + "</svg>\n";
}

std::string Transfers(const v1::Attempt& attempt) {
  struct Bar {
    std::string label;
    const v1::TransferStats* stats;
  };
  std::vector<Bar> bars;
  for (int i = 0; i < attempt.placement().nodes_size() && i < kMaxNodes; ++i) {
    const std::string& node = attempt.placement().nodes(i).node();
    if (i < attempt.images_size()) bars.push_back({node + " image", &attempt.images(i).stats()});
    if (i < attempt.datasets_size()) {
      bars.push_back({node + " dataset", &attempt.datasets(i).stats()});
    }
  }
  uint64_t most = 1;
  for (const auto& bar : bars) {
    most = std::max(
        most, bar.stats->bytes_source() + bar.stats->bytes_peers() + bar.stats->bytes_local());
  }
  std::string body;
  int row = 0;
  for (const auto& bar : bars) {
    const double y = 6 + row * kRow;
    body += Text(4, y + 14, bar.label, "label");
    double x = kLabel;
    const double scale = (kWidth - kLabel - 160) / static_cast<double>(most);
    const auto part = [&](uint64_t bytes, std::string_view cls, std::string_view what) {
      if (bytes == 0) return;
      const double w = static_cast<double>(bytes) * scale;
      body += Rect(x, y + 2, w, 16, cls, util::StrCat(util::FormatBytes(bytes), " ", what));
      x += w;
    };
    part(bar.stats->bytes_source(), "source", "from registry or storage");
    part(bar.stats->bytes_peers(), "peers", "from other nodes");
    part(bar.stats->bytes_local(), "local", "were here already");
    body += Text(x + 6, y + 14, Seconds(static_cast<int64_t>(bar.stats->elapsed_ns())), "axis");
    ++row;
  }
  return Open(12 + row * kRow, "Bytes by node") + body + "</svg>\n";
}

std::string ProbeGrid(const v1::ProbeMatrix& matrix) {
  const int n = std::min(matrix.endpoints_size(), kMaxGrid);
  if (n == 0) return "";
  const double cell = std::min(22.0, (kWidth - kLabel - 10.0) / n);
  struct Cell {
    int tests = 0;
    int failed = 0;
    uint64_t rtt_ns = UINT64_MAX;
    std::string error;
  };
  std::map<std::pair<uint32_t, uint32_t>, Cell> cells;
  for (const auto& result : matrix.results()) {
    Cell& c = cells[{result.from(), result.to()}];
    ++c.tests;
    if (result.ok()) {
      c.rtt_ns = std::min(c.rtt_ns, result.rtt_ns());
    } else {
      ++c.failed;
      c.error = result.method() + ": " + result.error();
    }
  }
  std::string body;
  for (int from = 0; from < n; ++from) {
    const auto& a = matrix.endpoints(from);
    const double y = 6 + from * cell;
    body += Text(4, y + cell * 0.7, a.node() + " " + a.nic_id(), "label");
    for (int to = 0; to < n; ++to) {
      const auto it = cells.find({static_cast<uint32_t>(from), static_cast<uint32_t>(to)});
      if (it == cells.end()) continue;
      const auto& b = matrix.endpoints(to);
      const std::string pair = a.node() + " " + a.nic_id() + " to " + b.node() + " " + b.nic_id();
      const Cell& c = it->second;
      body += Rect(kLabel + to * cell, y, cell - 1.5, cell - 1.5, c.failed == 0 ? "good" : "bad",
                   c.failed == 0
                       ? util::StrCat(pair, ": ", c.rtt_ns / 1000, " us")
                       : util::StrCat(pair, ": ", c.failed, " of ", c.tests, " failed: ", c.error));
    }
  }
  return Open(static_cast<int>(12 + n * cell), "Reachability") + body + "</svg>\n";
}

}  // namespace aistation::report
