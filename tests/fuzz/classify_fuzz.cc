// SPDX-License-Identifier: Apache-2.0
// Log lines against the built-in rules.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "job/classifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const auto* rules = new auto(job::RuleSet::Load("").value());  // NOLINT: lives for ever
  v1::ClassifyRequest request;
  (*request.mutable_pci_card())["n/0000:3b:00.0"] = "card";
  for (const char* source : {"kernel_log", "output", "image"}) {
    auto* line = request.add_lines();
    line->set_source(source);
    line->set_node("n");
    line->set_text(std::string(text.substr(0, 4096)));
  }
  const v1::Verdict verdict = job::Classify(**rules, request);
  if (verdict.job_action().empty() || verdict.evidence_size() > job::kMaxEvidence) std::abort();
  return 0;
}
