// SPDX-License-Identifier: Apache-2.0
#include "job/job_store.h"

#include <algorithm>
#include <vector>

#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::job {
namespace {

constexpr const char* kSeqKey = "job-event-seq";

std::string JobKey(std::string_view id) { return util::StrCat("job/", id); }
std::string EventKey(uint64_t seq) {
  const std::string digits = util::StrCat(seq);
  return util::StrCat("job-event/", std::string(20 - digits.size(), '0'), digits);
}

template <class M>
absl::StatusOr<M> Decode(const store::Entry& entry) {
  M message;
  if (!message.ParseFromString(entry.value)) {
    return util::DataLoss(
        "job.record", util::StrCat("store key ", entry.key, " does not hold the record it should"));
  }
  return message;
}

struct Sequence {
  uint64_t last = 0;
  int64_t revision = 0;
};

absl::StatusOr<Sequence> ReadSequence(store::Store& store) {
  const auto entry = store.Get(kSeqKey);
  if (!entry.ok()) {
    if (absl::IsNotFound(entry.status())) return Sequence{};
    return entry.status();
  }
  return Sequence{util::ParseInt<uint64_t>(entry->value).value_or(0), entry->revision};
}

// The event, its number, and the deletion of what is too old.
void AddEvent(const StoredJob& stored, std::string_view message, const Sequence& sequence,
              util::Clock& clock, std::vector<store::Condition>* conditions,
              std::vector<store::Write>* writes) {
  v1::JobEvent event;
  event.set_seq(sequence.last + 1);
  event.set_unix_ns(clock.UnixNanos());
  event.set_job(stored.job.id());
  event.set_state(stored.job.state());
  event.set_message(std::string(message));
  event.set_attempt(static_cast<uint32_t>(stored.job.attempts_size()));
  conditions->push_back({kSeqKey, sequence.revision});
  writes->push_back({kSeqKey, util::StrCat(event.seq()), 0});
  writes->push_back({EventKey(event.seq()), wire::Serialize(event), 0});
  if (event.seq() > kEventsKept) {
    writes->push_back({EventKey(event.seq() - kEventsKept), std::nullopt, 0});
  }
}

}  // namespace

absl::StatusOr<StoredJob> ReadJob(store::Store& store, std::string_view id) {
  const auto entry = store.Get(JobKey(id));
  if (!entry.ok()) {
    if (!absl::IsNotFound(entry.status()) && !absl::IsInvalidArgument(entry.status())) {
      return entry.status();
    }
    return util::NotFound("job.no_job",
                          util::StrCat("there is no job ", util::Excerpt(id), " in this store"));
  }
  StoredJob out;
  AIST_ASSIGN_OR_RETURN(out.job, Decode<v1::Job>(*entry));
  out.revision = entry->revision;
  return out;
}

absl::StatusOr<v1::JobList> ListJobs(store::Store& store, uint32_t limit) {
  // Ids do not sort by time beyond a second: sort by what the records say.
  AIST_ASSIGN_OR_RETURN(const auto range, store.Range("job/", 100'000));
  std::vector<v1::Job> jobs;
  for (const auto& entry : range.entries) {
    AIST_ASSIGN_OR_RETURN(jobs.emplace_back(), Decode<v1::Job>(entry));
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const v1::Job& a, const v1::Job& b) {
    return std::pair(b.submitted_unix_ns(), b.id()) < std::pair(a.submitted_unix_ns(), a.id());
  });
  v1::JobList out;
  for (auto& job : jobs) {
    if (static_cast<uint32_t>(out.jobs_size()) == limit) break;
    *out.add_jobs() = std::move(job);
  }
  return out;
}

absl::StatusOr<v1::JobEventList> ReadEvents(store::Store& store, std::string_view id,
                                            uint64_t after_seq, uint32_t limit) {
  v1::JobEventList out;
  AIST_ASSIGN_OR_RETURN(const Sequence sequence, ReadSequence(store));
  uint64_t next = std::max(
      after_seq + 1, sequence.last > kEventsKept ? sequence.last - kEventsKept + 1 : uint64_t{1});
  for (; next <= sequence.last && static_cast<uint32_t>(out.events_size()) < limit; ++next) {
    const auto entry = store.Get(EventKey(next));
    if (!entry.ok()) {
      if (absl::IsNotFound(entry.status())) continue;  // became too old meanwhile
      return entry.status();
    }
    AIST_ASSIGN_OR_RETURN(auto event, Decode<v1::JobEvent>(*entry));
    if (id.empty() || event.job() == id) *out.add_events() = std::move(event);
  }
  return out;
}

absl::Status WriteJob(store::Store& store, StoredJob* stored, std::string_view message,
                      util::Clock& clock) {
  const std::string key = JobKey(stored->job.id());
  const std::string value = wire::Serialize(stored->job);
  for (int attempt = 0;; ++attempt) {
    std::vector<store::Condition> conditions = {{key, stored->revision}};
    std::vector<store::Write> writes = {{key, value, 0}};
    if (!message.empty()) {
      AIST_ASSIGN_OR_RETURN(const Sequence sequence, ReadSequence(store));
      AddEvent(*stored, message, sequence, clock, &conditions, &writes);
    }
    const auto revision = store.Txn(conditions, writes);
    if (revision.ok()) {
      stored->revision = *revision;
      return absl::OkStatus();
    }
    if (!absl::IsAborted(revision.status()) || attempt == 1000) return revision.status();
    // Another event took the number: again, unless it is the job itself that changed.
    const auto entry = store.Get(key);
    const int64_t now = entry.ok() ? entry->revision : 0;
    if (now != stored->revision) return revision.status();
  }
}

absl::Status RequestCancel(store::Store& store, std::string_view id) {
  return store.Put(util::StrCat("job-cancel/", id), "1").status();
}

bool CancelRequested(store::Store& store, std::string_view id) {
  return store.Get(util::StrCat("job-cancel/", id)).ok();
}

}  // namespace aistation::job
