// SPDX-License-Identifier: Apache-2.0
#include "store/audit.h"

#include <algorithm>

#include "security/digest.h"
#include "util/strings.h"
#include "wire/json_reader.h"

namespace aistation::store {
namespace {

constexpr std::string_view kHead = "audit-head";
constexpr size_t kMaxField = 64u << 10;
constexpr int kAttempts = 100;

std::string KeyOf(uint64_t seq) {
  std::string digits = util::StrCat(seq);
  return util::StrCat("audit/", std::string(20 - digits.size(), '0'), digits);
}

// docs/reference/audit.md: each field as its length in bytes, a colon, and the bytes.
std::string HashOf(const v1::AuditEntry& entry) {
  std::string text;
  const auto add = [&text](std::string_view field) {
    util::StrAppend(&text, field.size(), ":", field);
  };
  add(util::StrCat(entry.seq()));
  add(util::StrCat(entry.unix_ns()));
  add(entry.actor());
  add(entry.action());
  add(entry.object());
  add(entry.detail());
  add(entry.previous_sha256());
  return security::Sha256(text);
}

absl::Status CheckFields(std::string_view actor, std::string_view action, std::string_view object,
                         std::string_view detail) {
  if (actor.empty() || action.empty()) {
    return util::InvalidArgument("store.audit", "an audit entry needs an actor and an action");
  }
  if (std::max({actor.size(), action.size(), object.size(), detail.size()}) > kMaxField) {
    return util::InvalidArgument("store.audit", "a field of an audit entry has more than 64 KiB");
  }
  if (!detail.empty()) {
    AIST_ASSIGN_OR_RETURN(const wire::Json json, wire::ParseJson(detail, "audit detail"));
    if (!json.is_object()) {
      return util::InvalidArgument("store.audit", "audit detail: expected a JSON object");
    }
  }
  return absl::OkStatus();
}

struct Head {
  uint64_t seq = 0;
  std::string sha256 = std::string(security::kSha256Size, '\0');
  int64_t revision = 0;
};

// "seq:hash in hexadecimal".
absl::StatusOr<Head> ReadHead(Store& store) {
  Head head;
  const auto entry = store.Get(kHead);
  if (entry.status().code() == absl::StatusCode::kNotFound) return head;
  if (!entry.ok()) return entry.status();
  const size_t colon = entry->value.find(':');
  const auto seq = util::ParseInt<uint64_t>(std::string_view(entry->value).substr(0, colon));
  const auto hash = colon == std::string::npos
                        ? std::nullopt
                        : util::HexDecode(std::string_view(entry->value).substr(colon + 1));
  if (!seq.has_value() || !hash.has_value() || hash->size() != security::kSha256Size) {
    return util::DataLoss("store.audit_head", "audit log: its head was changed from outside");
  }
  return Head{*seq, *hash, entry->revision};
}

}  // namespace

absl::StatusOr<uint64_t> AuditAppend(Store& store, std::string_view actor, std::string_view action,
                                     std::string_view object, std::string_view detail,
                                     util::Clock& clock) {
  AIST_RETURN_IF_ERROR(CheckFields(actor, action, object, detail));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    AIST_ASSIGN_OR_RETURN(const Head head, ReadHead(store));
    v1::AuditEntry entry;
    entry.set_seq(head.seq + 1);
    entry.set_unix_ns(clock.UnixNanos());
    entry.set_actor(std::string(actor));
    entry.set_action(std::string(action));
    entry.set_object(std::string(object));
    entry.set_detail(std::string(detail));
    entry.set_previous_sha256(head.sha256);
    entry.set_sha256(HashOf(entry));
    const auto revision = store.Txn(
        {{std::string(kHead), head.revision}, {KeyOf(entry.seq()), 0}},
        {{KeyOf(entry.seq()), entry.SerializeAsString(), 0},
         {std::string(kHead), util::StrCat(entry.seq(), ":", util::HexEncode(entry.sha256())), 0}});
    if (revision.ok()) return entry.seq();
    if (util::Reason(revision.status()) != "store.revision_mismatch") return revision.status();
  }
  return util::Error(absl::StatusCode::kAborted, "store.audit_contention",
                     "audit log: too many writers at once; try again");
}

absl::StatusOr<v1::AuditLog> AuditRead(Store& store, uint64_t first, uint32_t limit) {
  v1::AuditLog log;
  AIST_ASSIGN_OR_RETURN(const Head head, ReadHead(store));
  for (uint64_t seq = std::max<uint64_t>(first, 1);
       seq <= head.seq && log.entries_size() < static_cast<int>(limit); ++seq) {
    const auto entry = store.Get(KeyOf(seq));
    if (entry.status().code() == absl::StatusCode::kNotFound) continue;  // verify tells
    if (!entry.ok()) return entry.status();
    if (!log.add_entries()->ParseFromString(entry->value)) {
      return util::DataLoss("store.audit_entry",
                            util::StrCat("audit entry ", seq, " cannot be read; run verify"));
    }
  }
  return log;
}

absl::StatusOr<v1::AuditVerification> AuditVerify(Store& store) {
  v1::AuditVerification result;
  const auto bad = [&result](uint64_t seq, std::string problem) {
    result.set_first_bad_seq(seq);
    result.set_problem(std::move(problem));
    return result;
  };
  const auto head = ReadHead(store);
  if (util::Reason(head.status()) == "store.audit_head") {
    return bad(0, util::Message(head.status()));
  }
  if (!head.ok()) return head.status();
  std::string previous(security::kSha256Size, '\0');
  for (uint64_t seq = 1; seq <= head->seq; ++seq) {
    const auto stored = store.Get(KeyOf(seq));
    if (stored.status().code() == absl::StatusCode::kNotFound) {
      return bad(seq, util::StrCat("entry ", seq, " was removed"));
    }
    if (!stored.ok()) return stored.status();
    v1::AuditEntry entry;
    if (!entry.ParseFromString(stored->value) || entry.seq() != seq) {
      return bad(seq, util::StrCat("entry ", seq, " was replaced by something else"));
    }
    if (entry.previous_sha256() != previous) {
      return bad(seq, util::StrCat("entry ", seq, " does not follow the one before it"));
    }
    if (HashOf(entry) != entry.sha256()) {
      return bad(seq, util::StrCat("entry ", seq, " was changed: its hash does not fit"));
    }
    previous = entry.sha256();
    result.set_entries(seq);
  }
  AIST_ASSIGN_OR_RETURN(const auto beyond, store.Range("audit/", 1'000'000));
  if (beyond.entries.size() > head->seq) {
    return bad(head->seq + 1, "there are entries after the head of the log");
  }
  if (previous != head->sha256) return bad(head->seq, "the head does not fit the last entry");
  result.set_ok(true);
  result.set_head_sha256(previous);
  return result;
}

}  // namespace aistation::store
