// SPDX-License-Identifier: Apache-2.0
#include "job/classifier.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "util/strings.h"

namespace aistation::job {
namespace {

struct Finding {
  RuleMatch match;
  v1::Evidence evidence;
  std::string card;  // "" unknown
};

bool KnowsNode(const v1::ClassifyRequest& request, const std::string& node) {
  for (const auto& [key, card] : request.pci_card()) {
    if (key.rfind(node + "/", 0) == 0) return true;
  }
  return false;
}

std::string CardAt(const v1::ClassifyRequest& request, const std::string& node,
                   const std::string& pci) {
  const std::string wanted = NormalPci(pci);
  for (const auto& [key, card] : request.pci_card()) {
    const size_t slash = key.find('/');
    if (slash == std::string::npos || key.substr(0, slash) != node) continue;
    if (NormalPci(key.substr(slash + 1)) == wanted) return card;
  }
  return "";
}

template <class Map>
std::string Lookup(const Map& map, int32_t rank) {
  if (rank < 0) return "";
  const auto it = map.find(static_cast<uint32_t>(rank));
  return it == map.end() ? "" : it->second;
}

// Accelerator rules name the card by its address; a card that is not of this job says nothing.
bool IsAboutCard(const Rule& rule) {
  return rule.fault_class == "accelerator" || rule.fault_class == "accel_link" ||
         rule.fault_class == "user_code" || rule.fault_class == "unknown";
}

std::optional<Finding> Look(const RuleSet& rules, const v1::ClassifyRequest& request,
                            const v1::LogLine& line) {
  Finding out;
  out.match = rules.Match(line.source(), line.text());
  if (out.match.rule == nullptr) return std::nullopt;
  out.evidence.set_source(line.source());
  out.evidence.set_node(line.node().empty() ? Lookup(request.rank_node(), line.rank())
                                            : line.node());
  out.evidence.set_rank(line.source() == "kernel_log" ? -1 : line.rank());
  out.evidence.set_line(util::Excerpt(line.text(), 1000));
  out.evidence.set_unix_ns(line.unix_ns());
  if (!out.match.captures.pci.empty()) {
    out.card = CardAt(request, out.evidence.node(), out.match.captures.pci);
    if (out.card.empty() && IsAboutCard(*out.match.rule) &&
        KnowsNode(request, out.evidence.node())) {
      return std::nullopt;
    }
  } else if (line.source() != "kernel_log") {
    out.card = Lookup(request.rank_card(), line.rank());
  }
  return out;
}

std::vector<Finding> LookAtAll(const RuleSet& rules, const v1::ClassifyRequest& request) {
  std::vector<Finding> out;
  for (const v1::LogLine& line : request.lines()) {
    if (auto finding = Look(rules, request, line)) out.push_back(std::move(*finding));
  }
  std::vector<std::pair<uint32_t, int32_t>> exits(request.exit_status().begin(),
                                                  request.exit_status().end());
  std::sort(exits.begin(), exits.end());
  for (const auto& [rank, status] : exits) {
    if (status == 0) continue;
    v1::LogLine line;
    line.set_source("exit_status");
    line.set_rank(static_cast<int32_t>(rank));
    line.set_node(Lookup(request.rank_node(), line.rank()));
    line.set_text(util::StrCat(status));
    if (auto finding = Look(rules, request, line)) {
      finding->evidence.set_line(
          util::StrCat("rank ", rank, " ended with exit status ", status,
                       status > 128 ? util::StrCat(" (signal ", status - 128, ")") : ""));
      out.push_back(std::move(*finding));
    }
  }
  return out;
}

bool Before(const Finding& a, const Finding& b) {
  const auto key = [](const Finding& f) {
    return std::make_tuple(f.match.rule->role == Role::kPrimary     ? 0
                           : f.match.rule->role == Role::kSecondary ? 1
                                                                    : 2,
                           100 - f.match.rule->weight,
                           f.evidence.unix_ns() == 0 ? INT64_MAX : f.evidence.unix_ns());
  };
  return key(a) < key(b);
}

std::string FillIn(const Finding& f) {
  std::string out = f.match.rule->sentence;
  const auto& c = f.match.captures;
  const std::string pci = c.pci;
  out = util::ReplaceAll(out, "{card}", f.card.empty() ? (pci.empty() ? "?" : pci) : f.card);
  out = util::ReplaceAll(out, "{node}", f.evidence.node().empty() ? "?" : f.evidence.node());
  out = util::ReplaceAll(out, "{pci}", pci);
  out = util::ReplaceAll(out, "{rank}", util::StrCat(f.evidence.rank()));
  out = util::ReplaceAll(out, "{word}", c.word);
  out = util::ReplaceAll(out, "{n}", c.number.has_value() ? util::StrCat(*c.number) : "?");
  return out;
}

}  // namespace

v1::Verdict Classify(const RuleSet& rules, const v1::ClassifyRequest& request) {
  std::vector<Finding> findings = LookAtAll(rules, request);
  std::stable_sort(findings.begin(), findings.end(), Before);
  v1::Verdict verdict;
  if (findings.empty()) {
    verdict.set_fault_class("unknown");
    verdict.set_job_action("restart");
    verdict.set_node_action("none");
    verdict.set_sentence("nothing says why it failed");
    return verdict;
  }
  const Finding& first = findings.front();
  const Rule& rule = *first.match.rule;
  verdict.set_rule(rule.id);
  verdict.set_node(first.evidence.node());
  verdict.set_card_id(first.card);
  verdict.set_confidence(static_cast<double>(rule.weight) / 100);
  verdict.set_sentence(FillIn(first));
  if (rule.role == Role::kPrimary) {
    verdict.set_fault_class(rule.fault_class);
    verdict.set_job_action(rule.job_action);
    verdict.set_node_action(rule.node_action);
    // Without the card the node is the smallest thing that can be left out.
    if (rule.node_action == "exclude_card" && first.card.empty()) {
      verdict.set_node_action("exclude_node");
    }
  } else {
    verdict.set_fault_class("unknown");
    verdict.set_job_action("restart");
    verdict.set_node_action("none");
    verdict.set_sentence(verdict.sentence() + "; the cause is not known");
  }
  for (const Finding& f : findings) {
    if (verdict.evidence_size() == kMaxEvidence) break;
    *verdict.add_evidence() = f.evidence;
  }
  return verdict;
}

bool EndsAttempt(const RuleSet& rules, const v1::LogLine& line, const v1::ClassifyRequest& job) {
  const auto finding = Look(rules, job, line);
  return finding.has_value() && finding->match.rule->role == Role::kPrimary &&
         finding->match.rule->job_action == "restart_excluding" &&
         finding->match.rule->weight >= 80;
}

}  // namespace aistation::job
