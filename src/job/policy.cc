// SPDX-License-Identifier: Apache-2.0
#include "job/policy.h"

#include <algorithm>
#include <set>

#include "roce/environment.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

constexpr uint32_t kDefaultAttempts = 3;
constexpr uint32_t kMostAttempts = 100;
constexpr uint64_t kDefaultBackoffNs = 1'000'000'000;
constexpr uint64_t kMostBackoffNs = 600'000'000'000;
constexpr double kCordonConfidence = 0.8;

absl::Status Bad(std::string_view field, std::string_view expected) {
  return util::InvalidArgument("job.spec",
                               util::StrCat("job specification: ", field, ": expected ", expected));
}

bool ExcludesCard(const v1::Verdict& v) {
  return (v.node_action() == "exclude_card" || v.node_action() == "reset_card") &&
         !v.card_id().empty();
}

std::vector<std::string> ToVector(const std::set<std::string>& set) {
  return {set.begin(), set.end()};
}

// The same for all ranks of an attempt, another one for the next attempt.
uint32_t MasterPort(const v1::Job& job) {
  uint32_t hash = 2166136261u;
  for (const char c : util::StrCat(job.id(), "/", job.attempts_size())) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  return 20'000 + hash % 10'000;
}

}  // namespace

absl::Status CheckSpec(const v1::JobSpec& spec) {
  if (!util::IsSafeName(spec.name())) {
    return Bad("name", "1 to 128 letters, digits, '.', '_', '-'");
  }
  if (spec.department().empty() || spec.department().size() > 128) {
    return Bad("department", "1 to 128 bytes");
  }
  if (spec.command_size() == 0 || spec.command(0).empty()) {
    return Bad("command", "a program and its arguments");
  }
  if (spec.resources().cards() == 0) return Bad("resources.cards", "at least 1");
  if (spec.max_attempts() > kMostAttempts) return Bad("max_attempts", "at most 100");
  if (spec.backoff_ns() > kMostBackoffNs) return Bad("backoff_ns", "at most 10 minutes");
  if (!spec.dataset().empty() && !util::IsSafeName(spec.dataset_name())) {
    return Bad("dataset_name", "a name of letters, digits, '.', '_', '-', since dataset is set");
  }
  for (const auto* directory : {&spec.working_directory(), &spec.checkpoint_directory()}) {
    if (!directory->empty() && directory->front() != '/') {
      return Bad("working_directory, checkpoint_directory", "an absolute path");
    }
  }
  for (const auto& [name, value] : spec.environment()) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return Bad("environment", "names without '='");
    }
  }
  return absl::OkStatus();
}

NextStep DecideNext(const v1::Job& job) {
  NextStep next;
  const uint32_t most =
      job.spec().max_attempts() == 0 ? kDefaultAttempts : job.spec().max_attempts();
  const auto done = static_cast<uint32_t>(job.attempts_size());
  if (done == 0) {
    next.retry = true;
    return next;
  }
  const v1::Verdict& verdict = job.attempts(job.attempts_size() - 1).verdict();
  const std::string& action = verdict.job_action();
  if (action == "stop" || action == "hold") {
    next.sentence = verdict.sentence();
    return next;
  }
  if (done >= most) {
    next.sentence = util::StrCat(verdict.sentence(), "; that was attempt ", done, " of ", most);
    return next;
  }
  if (action == "restart_once") {
    for (int i = 0; i + 1 < job.attempts_size(); ++i) {
      if (job.attempts(i).verdict().rule() != verdict.rule()) continue;
      next.sentence = util::StrCat(verdict.sentence(), "; the same as in attempt ",
                                   job.attempts(i).number(), ", so another one would not help");
      return next;
    }
  }
  next.retry = true;
  uint64_t delay = job.spec().backoff_ns() == 0 ? kDefaultBackoffNs : job.spec().backoff_ns();
  for (uint32_t i = 1; i < done && delay < kMostBackoffNs; ++i) delay *= 2;
  if (action == "wait") delay *= 4;
  next.delay_ns = static_cast<int64_t>(std::min(delay, kMostBackoffNs));
  next.sentence = verdict.sentence();
  return next;
}

Exclusions ExclusionsOf(const v1::Job& job) {
  std::set<std::string> nodes;
  std::set<std::string> cards;
  for (const auto& attempt : job.attempts()) {
    for (const auto& node : attempt.unproven_nodes()) nodes.insert(node);
    const v1::Verdict& verdict = attempt.verdict();
    if (verdict.job_action() != "restart_excluding") continue;
    if (ExcludesCard(verdict)) {
      cards.insert(verdict.card_id());
    } else if (!verdict.node().empty()) {
      nodes.insert(verdict.node());
    }
  }
  return {ToVector(nodes), ToVector(cards)};
}

bool ShouldCordon(const v1::Verdict& verdict) {
  const std::string& action = verdict.node_action();
  return verdict.confidence() >= kCordonConfidence && !verdict.node().empty() &&
         (action == "exclude_card" || action == "exclude_node" || action == "reset_card" ||
          action == "reboot");
}

v1::PlacementRequest RequestFor(const v1::Job& job) {
  v1::PlacementRequest request = job.spec().resources();
  request.set_request_id(util::StrCat(job.id(), "/", job.attempts_size() + 1));
  request.set_job(job.id());
  request.set_department(job.spec().department());
  const Exclusions out = ExclusionsOf(job);
  for (const auto& node : out.nodes) request.add_exclude_nodes(node);
  for (const auto& card : out.cards) request.add_exclude_cards(card);
  std::set<std::string> holders;
  for (const auto& attempt : job.attempts()) {
    if (attempt.images_size() == 0 && attempt.datasets_size() == 0) continue;
    for (const auto& node : attempt.placement().nodes()) holders.insert(node.node());
  }
  for (const auto& node : holders) {
    if (std::find(out.nodes.begin(), out.nodes.end(), node) == out.nodes.end()) {
      request.add_prefer_nodes(node);
    }
  }
  return request;
}

v1::ProbeRequest ProbeFor(const v1::Placement& placement) {
  v1::ProbeRequest request;
  for (const auto& node : placement.nodes()) {
    std::set<std::string> seen;
    for (const auto& card : node.cards()) {
      if (card.nic_address().empty() || !seen.insert(card.nic_id()).second) continue;
      auto* endpoint = request.add_endpoints();
      endpoint->set_node(node.node());
      endpoint->set_nic_id(card.nic_id());
      endpoint->set_address(card.nic_address());
      endpoint->set_agent_address(node.address());
      endpoint->set_agent_port(node.port());
    }
  }
  return request;
}

v1::LogLine ProbeFinding(const v1::ProbeMatrix& matrix, const v1::Placement& placement,
                         std::string* card_id) {
  const int n = matrix.endpoints_size();
  std::vector<int> failed(static_cast<size_t>(n), 0);
  std::vector<int> tried(static_cast<size_t>(n), 0);
  std::map<std::string, std::pair<int, int>> nodes;  // failed, tried
  for (const auto& result : matrix.results()) {
    for (const uint32_t end : {result.from(), result.to()}) {
      if (end >= static_cast<uint32_t>(n)) continue;
      ++tried[end];
      failed[end] += result.ok() ? 0 : 1;
      auto& sums = nodes[matrix.endpoints(static_cast<int>(end)).node()];
      ++sums.second;
      sums.first += result.ok() ? 0 : 1;
    }
  }
  v1::LogLine line;
  line.set_source("probe");
  line.set_rank(-1);
  std::string worst;
  for (const auto& [node, sums] : nodes) {
    if (worst.empty() ||
        int64_t{sums.first} * nodes[worst].second > int64_t{nodes[worst].first} * sums.second) {
      worst = node;
    }
  }
  line.set_node(worst);
  const v1::ProbeEndpoint* culprit = nullptr;
  int bad_here = 0;
  int all_here = 0;
  int most = 0;
  for (int i = 0; i < n; ++i) {
    if (matrix.endpoints(i).node() != worst) continue;
    ++all_here;
    const auto at = static_cast<size_t>(i);
    // A NIC that fails towards most others is broken; one that fails towards a few saw broken ones.
    bad_here += tried[at] > 0 && failed[at] * 2 > tried[at] ? 1 : 0;
    if (failed[at] > most) {
      most = failed[at];
      culprit = &matrix.endpoints(i);
    }
  }
  card_id->clear();
  if (culprit != nullptr && (bad_here < all_here || all_here == 1)) {
    for (const auto& node : placement.nodes()) {
      for (const auto& card : node.cards()) {
        if (node.node() == worst && card.nic_id() == culprit->nic_id()) *card_id = card.card_id();
      }
    }
  }
  line.set_text(matrix.findings_size() > 0
                    ? matrix.findings(0)
                    : util::StrCat(most, " tests from or to ", worst, " failed"));
  return line;
}

std::vector<v1::Member> MembersOf(const v1::Placement& placement) {
  std::vector<v1::Member> out;
  for (const auto& node : placement.nodes()) {
    v1::Member member;
    member.set_node(node.node());
    member.set_address(node.address());
    member.set_port(node.port());
    member.set_rack(node.rack());
    out.push_back(std::move(member));
  }
  return out;
}

namespace {

// Variables of one node that do not depend on the rank.
void AddNodeVariables(const v1::Job& job, int node_index,
                      const std::map<std::string, std::string>& models,
                      const accel::Catalogue& catalogue,
                      std::map<std::string, std::string>* variables) {
  const v1::Attempt& attempt = job.attempts(job.attempts_size() - 1);
  const auto& node = attempt.placement().nodes(node_index);
  std::map<std::string, std::string> visible;  // variable to card numbers
  for (const auto& card : node.cards()) {
    const auto model = models.find(card.card_id());
    const auto* entry = model == models.end() ? nullptr : catalogue.FindByName(model->second);
    if (entry == nullptr || entry->visible_devices_env.empty()) continue;
    std::string& list = visible[entry->visible_devices_env];
    util::StrAppend(&list, list.empty() ? "" : ",", card.card_index());
  }
  variables->insert(visible.begin(), visible.end());
  (*variables)["AISTATION_NODE"] = node.node();
  (*variables)["LOCAL_WORLD_SIZE"] = util::StrCat(node.cards_size());
  if (node_index < attempt.images_size()) {
    (*variables)["AISTATION_IMAGE_DIR"] = attempt.images(node_index).path();
  }
  if (node_index < attempt.datasets_size()) {
    (*variables)["AISTATION_DATASET"] = attempt.datasets(node_index).path();
  }
}

}  // namespace

absl::StatusOr<std::vector<RankPlan>> PlanRanks(const v1::Job& job,
                                                const std::map<std::string, std::string>& models,
                                                const accel::Catalogue& catalogue) {
  const v1::Attempt& attempt = job.attempts(job.attempts_size() - 1);
  const v1::Placement& placement = attempt.placement();
  AIST_ASSIGN_OR_RETURN(const v1::JobEnvironment network, roce::MakeEnvironment(placement));
  const std::vector<v1::Member> members = MembersOf(placement);
  uint32_t world = 0;
  for (const auto& node : placement.nodes()) world += static_cast<uint32_t>(node.cards_size());
  const auto& first = placement.nodes(0);
  const std::string master =
      first.cards(0).nic_address().empty() ? first.address() : first.cards(0).nic_address();
  std::vector<RankPlan> out;
  for (int n = 0; n < placement.nodes_size(); ++n) {
    std::map<std::string, std::string> common;
    AddNodeVariables(job, n, models, catalogue, &common);
    for (int c = 0; c < placement.nodes(n).cards_size(); ++c) {
      const auto rank = static_cast<uint32_t>(out.size());
      RankPlan plan;
      plan.node = members[static_cast<size_t>(n)];
      plan.card_id = placement.nodes(n).cards(c).card_id();
      v1::LaunchRequest& request = plan.request;
      request.set_job(job.id());
      request.set_attempt(attempt.number());
      request.set_rank(rank);
      *request.mutable_command() = job.spec().command();
      request.set_working_directory(job.spec().working_directory());
      auto& env = *request.mutable_environment();
      for (const auto& [name, value] : common) env[name] = value;
      if (static_cast<int>(rank) < network.ranks_size()) {
        for (const auto& [name, value] : network.ranks(static_cast<int>(rank)).variables()) {
          env[name] = value;
        }
      }
      env["RANK"] = util::StrCat(rank);
      env["WORLD_SIZE"] = util::StrCat(world);
      env["LOCAL_RANK"] = util::StrCat(c);
      env["MASTER_ADDR"] = master;
      env["MASTER_PORT"] = util::StrCat(MasterPort(job));
      env["AISTATION_JOB"] = job.id();
      env["AISTATION_ATTEMPT"] = util::StrCat(attempt.number());
      env["AISTATION_CARD"] = plan.card_id;
      if (!job.spec().checkpoint_directory().empty()) {
        env["AISTATION_CHECKPOINT_DIR"] = job.spec().checkpoint_directory();
      }
      // What the owner sets goes over what we would set.
      for (const auto& [name, value] : job.spec().environment()) env[name] = value;
      out.push_back(std::move(plan));
    }
  }
  return out;
}

v1::ClassifyRequest FrameOf(const v1::Attempt& attempt) {
  v1::ClassifyRequest frame;
  uint32_t rank = 0;
  for (const auto& node : attempt.placement().nodes()) {
    for (const auto& card : node.cards()) {
      (*frame.mutable_rank_node())[rank] = node.node();
      (*frame.mutable_rank_card())[rank] = card.card_id();
      if (!card.card_pci_address().empty()) {
        (*frame.mutable_pci_card())[util::StrCat(node.node(), "/", card.card_pci_address())] =
            card.card_id();
      }
      ++rank;
    }
  }
  return frame;
}

}  // namespace aistation::job
