// SPDX-License-Identifier: Apache-2.0
// Jobs and their events in the store:
//   job/<id>             v1::Job
//   job-event/<20 digits> v1::JobEvent, numbered from 1 without gaps
//   job-event-seq        number of the last event
//   job-cancel/<id>      somebody wants it to end
//   job-driver/<id>      under a lease: who drives it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aistation/v1/job.pb.h"
#include "store/store.h"
#include "util/clock.h"

namespace aistation::job {

inline constexpr uint64_t kEventsKept = 100'000;

struct StoredJob {
  v1::Job job;
  int64_t revision = 0;  // 0: not stored yet
};

// NOT_FOUND `job.no_job`.
absl::StatusOr<StoredJob> ReadJob(store::Store& store, std::string_view id);
// Newest first.
absl::StatusOr<v1::JobList> ListJobs(store::Store& store, uint32_t limit);
// Events of one job ("": of all) with seq > after, at most `limit`, in order.
absl::StatusOr<v1::JobEventList> ReadEvents(store::Store& store, std::string_view id,
                                            uint64_t after_seq, uint32_t limit);

// Writes the job and, when `message` is not empty, one event with its state: one transaction.
// Updates stored->revision. ABORTED `store.revision_mismatch`: somebody else wrote the job.
absl::Status WriteJob(store::Store& store, StoredJob* stored, std::string_view message,
                      util::Clock& clock);

absl::Status RequestCancel(store::Store& store, std::string_view id);
bool CancelRequested(store::Store& store, std::string_view id);

inline bool IsEnded(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED ||
         state == v1::JOB_STATE_CANCELLED;
}

}  // namespace aistation::job
