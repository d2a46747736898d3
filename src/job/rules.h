// SPDX-License-Identifier: Apache-2.0
// Fault rules: data, see rules/faults.jsonc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "job/pattern.h"
#include "util/status.h"

namespace aistation::job {

enum class Role { kPrimary, kSecondary, kHealthy };

struct Rule {
  std::string id;
  std::vector<std::string> sources;
  std::vector<Pattern> patterns;
  std::vector<int64_t> codes;  // none: any number
  Role role = Role::kPrimary;
  uint32_t weight = 0;  // 0 to 100
  std::string fault_class;
  std::string job_action;
  std::string node_action;
  std::string sentence;
};

struct RuleMatch {
  const Rule* rule = nullptr;
  Captures captures;
};

// Immutable, thread-safe.
class RuleSet {
 public:
  // "": the rules inside the library; otherwise a file. INVALID_ARGUMENT `job.rules` names file,
  // field and what was expected.
  static absl::StatusOr<std::shared_ptr<const RuleSet>> Load(const std::string& path);
  static absl::StatusOr<std::shared_ptr<const RuleSet>> Parse(std::string_view text,
                                                              std::string_view source);
  // The rule of the highest weight that fits the line; null when none does.
  RuleMatch Match(std::string_view source, std::string_view line) const;
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  std::vector<Rule> rules_;  // by weight, highest first; equal ones in the order of the file
};

}  // namespace aistation::job
