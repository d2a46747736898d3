// SPDX-License-Identifier: Apache-2.0
// Checks that both back-ends share.
#pragma once

#include <vector>

#include "store/store.h"
#include "util/strings.h"

namespace aistation::store {

inline absl::Status CheckKey(std::string_view key) {
  if (!key.empty() && key.size() <= kMaxKeyBytes) return absl::OkStatus();
  return util::InvalidArgument(
      "store.key", util::StrCat("key of ", key.size(), " bytes; expected 1 to ", kMaxKeyBytes));
}

inline absl::Status CheckTxn(const std::vector<Condition>& conditions,
                             const std::vector<Write>& writes) {
  if (writes.empty() || writes.size() + conditions.size() > 1000) {
    return util::InvalidArgument("store.txn", "expected 1 to 1,000 conditions and writes");
  }
  for (const auto& condition : conditions) AIST_RETURN_IF_ERROR(CheckKey(condition.key));
  for (size_t i = 0; i < writes.size(); ++i) {
    AIST_RETURN_IF_ERROR(CheckKey(writes[i].key));
    if (writes[i].value.has_value() && writes[i].value->size() > kMaxValueBytes) {
      return util::InvalidArgument("store.value",
                                   util::StrCat("value of ", writes[i].value->size(),
                                                " bytes; expected at most ", kMaxValueBytes));
    }
    for (size_t j = 0; j < i; ++j) {
      if (writes[j].key == writes[i].key) {
        return util::InvalidArgument("store.txn", "a key is written twice in one transaction");
      }
    }
  }
  return absl::OkStatus();
}

inline absl::Status CheckTtl(int64_t ttl_ns) {
  if (ttl_ns >= 10'000'000 && ttl_ns <= int64_t{86'400} * 1'000'000'000) return absl::OkStatus();
  return util::InvalidArgument("store.ttl",
                               util::StrCat("lease of ", ttl_ns, " ns; expected 10 ms to 24 h"));
}

inline absl::Status NoKey(std::string_view key) {
  return util::NotFound("store.no_key", util::StrCat("key ", util::Excerpt(key), " is not there"));
}
inline absl::Status NoLease(int64_t lease) {
  return util::NotFound(
      "store.no_lease",
      util::StrCat("lease ", lease, " has expired or never was; its keys are gone"));
}
inline absl::Status Mismatch(std::string_view key, int64_t expected, int64_t actual) {
  return util::Error(absl::StatusCode::kAborted, "store.revision_mismatch",
                     util::StrCat("key ", util::Excerpt(key), " has revision ", actual,
                                  ", expected ", expected, "; read it again and decide again"));
}
inline absl::Status Compacted(int64_t after) {
  return util::Error(absl::StatusCode::kOutOfRange, "store.compacted",
                     util::StrCat("changes after revision ", after,
                                  " are gone; read the range, then watch from its revision"));
}
inline absl::Status NoEvent() {
  return util::Error(absl::StatusCode::kDeadlineExceeded, "store.no_event",
                     "no change within the time allowed");
}
inline absl::Status WatchCancelled() {
  return util::Error(absl::StatusCode::kCancelled, "store.watch_cancelled", "the watch was ended");
}

// Changes kept for watchers that come later.
inline constexpr int64_t kKeptChanges = 10'000;

}  // namespace aistation::store
