// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "store/check.h"

namespace aistation::store {

absl::StatusOr<int64_t> Store::Put(std::string_view key, std::string_view value, int64_t lease) {
  return Txn({}, {{std::string(key), std::string(value), lease}});
}

absl::StatusOr<int64_t> Store::Cas(std::string_view key, int64_t expected, std::string_view value) {
  return Txn({{std::string(key), expected}}, {{std::string(key), std::string(value), 0}});
}

absl::Status Store::Delete(std::string_view key, int64_t expected) {
  AIST_ASSIGN_OR_RETURN(const Entry entry, Get(key));
  if (expected != 0 && entry.revision != expected) return Mismatch(key, expected, entry.revision);
  // Without an expectation a change in between does not matter: the key goes.
  const std::vector<Condition> conditions =
      expected == 0 ? std::vector<Condition>{}
                    : std::vector<Condition>{{std::string(key), expected}};
  return Txn(conditions, {{std::string(key), std::nullopt, 0}}).status();
}

}  // namespace aistation::store
