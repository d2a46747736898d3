// SPDX-License-Identifier: Apache-2.0
#include "job/rules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>

#include "util/embedded.h"
#include "util/file.h"
#include "wire/json_reader.h"

namespace aistation::job {
namespace {

using wire::Json;
using wire::Path;
namespace in = wire::internal;

constexpr size_t kMaxRules = 10'000;
constexpr uint64_t kMaxRuleFile = 8u << 20;
constexpr std::string_view kFields =
    "id, sources, patterns, codes, role, weight, class, job_action, node_action, sentence";

constexpr std::array<std::string_view, 9> kSources = {"kernel_log", "output",   "exit_status",
                                                      "heartbeat",  "probe",    "image",
                                                      "dataset",    "launcher", "scheduler"};
constexpr std::array<std::string_view, 3> kRoles = {"primary", "secondary", "healthy"};
constexpr std::array<std::string_view, 13> kClasses = {
    "accelerator", "accel_link", "network",   "node",     "node_software", "storage", "image",
    "quota",       "user_code",  "user_data", "launcher", "scheduler",     "unknown"};
constexpr std::array<std::string_view, 6> kJobActions = {
    "restart", "restart_excluding", "restart_once", "wait", "hold", "stop"};
constexpr std::array<std::string_view, 6> kNodeActions = {
    "none", "watch", "exclude_card", "exclude_node", "reset_card", "reboot"};

absl::Status ReadChoice(const Json& json, const Path& path,
                        std::span<const std::string_view> choices, std::string* out) {
  AIST_RETURN_IF_ERROR(in::ReadString(json, path, out));
  if (std::find(choices.begin(), choices.end(), *out) != choices.end()) return absl::OkStatus();
  std::string list;
  for (const auto choice : choices) util::StrAppend(&list, list.empty() ? "" : ", ", choice);
  return in::Expected(path, "one of " + list, json);
}

absl::Status ReadList(const Json& json, const Path& path,
                      const std::function<absl::Status(const Json&, const Path&)>& item) {
  AIST_RETURN_IF_ERROR(in::ExpectArray(json, path));
  if (json.empty() || json.size() > 1000) return in::Expected(path, "1 to 1,000 items", json);
  for (size_t i = 0; i < json.size(); ++i) {
    AIST_RETURN_IF_ERROR(item(json[i], Path(&path, i)));
  }
  return absl::OkStatus();
}

absl::Status ReadPattern(const Json& json, const Path& path, Rule* rule) {
  std::string text;
  AIST_RETURN_IF_ERROR(in::ReadString(json, path, &text));
  auto pattern = Pattern::Compile(text);
  if (!pattern.ok()) return util::Annotate(pattern.status(), path.ToString());
  rule->patterns.push_back(std::move(*pattern));
  return absl::OkStatus();
}

absl::Status ReadField(const std::string& key, const Json& value, const Path& parent,
                       const Path& path, Rule* rule) {
  if (key == "id") return in::ReadString(value, path, &rule->id);
  if (key == "sentence") return in::ReadString(value, path, &rule->sentence);
  if (key == "class") return ReadChoice(value, path, kClasses, &rule->fault_class);
  if (key == "job_action") return ReadChoice(value, path, kJobActions, &rule->job_action);
  if (key == "node_action") return ReadChoice(value, path, kNodeActions, &rule->node_action);
  if (key == "sources") {
    return ReadList(value, path, [&](const Json& json, const Path& item) {
      return ReadChoice(json, item, kSources, &rule->sources.emplace_back());
    });
  }
  if (key == "patterns") {
    return ReadList(value, path, [&](const Json& json, const Path& item) {
      return ReadPattern(json, item, rule);
    });
  }
  if (key == "codes") {
    return ReadList(value, path, [&](const Json& json, const Path& item) {
      return in::ReadInt(json, item, &rule->codes.emplace_back());
    });
  }
  if (key == "weight") {
    AIST_RETURN_IF_ERROR(in::ReadInt(value, path, &rule->weight));
    return rule->weight <= 100 ? absl::OkStatus() : in::Expected(path, "0 to 100", value);
  }
  if (key == "role") {
    std::string role;
    AIST_RETURN_IF_ERROR(ReadChoice(value, path, kRoles, &role));
    rule->role = role == "primary"     ? Role::kPrimary
                 : role == "secondary" ? Role::kSecondary
                                       : Role::kHealthy;
    return absl::OkStatus();
  }
  return in::UnknownField(parent, key, kFields);
}

absl::StatusOr<Rule> ReadRule(const Json& json, const Path& path) {
  AIST_RETURN_IF_ERROR(in::ExpectObject(json, path));
  Rule rule;
  for (const auto& [key, value] : json.items()) {
    AIST_RETURN_IF_ERROR(ReadField(key, value, path, Path(&path, key), &rule));
  }
  if (rule.id.empty() || rule.sources.empty() || rule.patterns.empty() ||
      rule.fault_class.empty() || rule.job_action.empty() || rule.node_action.empty() ||
      rule.sentence.empty()) {
    return util::InvalidArgument("job.rules",
                                 path.ToString() +
                                     ": id, sources, patterns, class, job_action, node_action "
                                     "and sentence are needed");
  }
  return rule;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const RuleSet>> RuleSet::Parse(std::string_view text,
                                                              std::string_view source) {
  AIST_ASSIGN_OR_RETURN(const Json json, wire::ParseJson(text, source));
  const Path root(nullptr, source);
  AIST_RETURN_IF_ERROR(in::ExpectObject(json, root));
  auto out = std::make_shared<RuleSet>();
  std::set<std::string> ids;
  for (const auto& [key, value] : json.items()) {
    if (key != "rules") return in::UnknownField(root, key, "rules");
    const Path list(&root, key);
    AIST_RETURN_IF_ERROR(in::ExpectArray(value, list));
    if (value.size() > kMaxRules) return in::Expected(list, "at most 10,000 rules", value.size());
    for (size_t i = 0; i < value.size(); ++i) {
      const Path path(&list, i);
      AIST_ASSIGN_OR_RETURN(Rule rule, ReadRule(value[i], path));
      if (!ids.insert(rule.id).second) {
        return util::InvalidArgument(
            "job.rules", util::StrCat(path.ToString(), ": there is a rule ", rule.id, " already"));
      }
      out->rules_.push_back(std::move(rule));
    }
  }
  if (out->rules_.empty()) {
    return util::InvalidArgument("job.rules", util::StrCat(source, ": expected at least one rule"));
  }
  std::stable_sort(out->rules_.begin(), out->rules_.end(),
                   [](const Rule& a, const Rule& b) { return a.weight > b.weight; });
  return std::shared_ptr<const RuleSet>(std::move(out));
}

absl::StatusOr<std::shared_ptr<const RuleSet>> RuleSet::Load(const std::string& path) {
  if (!path.empty()) {
    AIST_ASSIGN_OR_RETURN(const std::string text, util::ReadFile(path, kMaxRuleFile));
    return Parse(text, path);
  }
  for (const auto& file : util::EmbeddedFiles()) {
    if (file.name == "job/rules/faults.jsonc") return Parse(file.content, file.name);
  }
  return util::Internal("job.rules", "the library was built without its fault rules");
}

RuleMatch RuleSet::Match(std::string_view source, std::string_view line) const {
  for (const Rule& rule : rules_) {
    if (std::find(rule.sources.begin(), rule.sources.end(), source) == rule.sources.end()) continue;
    for (const Pattern& pattern : rule.patterns) {
      auto captures = pattern.Find(line);
      if (!captures.has_value()) continue;
      if (!rule.codes.empty() &&
          (!captures->number.has_value() || std::find(rule.codes.begin(), rule.codes.end(),
                                                      *captures->number) == rule.codes.end())) {
        continue;
      }
      return {&rule, std::move(*captures)};
    }
  }
  return {};
}

}  // namespace aistation::job
