// SPDX-License-Identifier: Apache-2.0
#include "job/manager.h"

#include <time.h>

#include "job/policy.h"
#include "store/audit.h"
#include "util/json_writer.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

constexpr uint32_t kMaxEvents = 1000;
constexpr int64_t kCancelNs = 90'000'000'000;

std::string TwoDigits(int value) { return util::StrCat(value < 10 ? "0" : "", value); }

// Sorts by second, tells people when, cannot be guessed by accident.
std::string MakeId(int64_t unix_ns, uint64_t random) {
  const time_t seconds = unix_ns / 1'000'000'000;
  struct tm t {};
  gmtime_r(&seconds, &t);
  std::string tail;
  for (int i = 0; i < 6; ++i, random /= 36) {
    tail.push_back("0123456789abcdefghijklmnopqrstuvwxyz"[random % 36]);
  }
  return util::StrCat("job-", t.tm_year + 1900, TwoDigits(t.tm_mon + 1), TwoDigits(t.tm_mday), "-",
                      TwoDigits(t.tm_hour), TwoDigits(t.tm_min), TwoDigits(t.tm_sec), "-", tail);
}

}  // namespace

Manager::Manager(DriverParts parts, std::function<uint64_t()> random)
    : parts_(std::move(parts)), random_(std::move(random)) {}

absl::StatusOr<std::string> Manager::Submit(const v1::JobSpec& spec) {
  AIST_RETURN_IF_ERROR(CheckSpec(spec));
  StoredJob stored;
  v1::Job& job = stored.job;
  job.set_submitted_unix_ns(parts_.clock->UnixNanos());
  job.set_id(MakeId(job.submitted_unix_ns(), random_()));
  *job.mutable_spec() = spec;
  job.set_state(v1::JOB_STATE_QUEUED);
  // The request is checked as it will be asked, so that a bad one never waits in line.
  AIST_RETURN_IF_ERROR(alloc::CheckRequest(RequestFor(job)));
  AIST_RETURN_IF_ERROR(WriteJob(*parts_.store, &stored, "submitted", *parts_.clock));
  util::JsonWriter detail(0);
  detail.BeginObject();
  detail.Key("name");
  detail.String(spec.name());
  detail.Key("department");
  detail.String(spec.department());
  detail.Key("cards");
  detail.Int(spec.resources().cards());
  detail.EndObject();
  AIST_RETURN_IF_ERROR(store::AuditAppend(*parts_.store,
                                          spec.user().empty() ? "unknown" : spec.user(),
                                          "job.submit", job.id(), detail.Take(), *parts_.clock)
                           .status());
  return job.id();
}

absl::StatusOr<v1::Job> Manager::Run(std::string_view id, util::OpControl& control) {
  Driver driver(parts_);
  return driver.Run(id, control);
}

absl::Status Manager::Cancel(std::string_view id) {
  AIST_ASSIGN_OR_RETURN(const StoredJob stored, ReadJob(*parts_.store, id));
  if (IsEnded(stored.job.state())) return absl::OkStatus();
  AIST_RETURN_IF_ERROR(RequestCancel(*parts_.store, id));
  // If nobody drives it, this call does what is left to do.
  util::OpControl control(util::RealClock().MonotonicNanos() + kCancelNs);
  Driver driver(parts_);
  const auto ended = driver.Run(id, control);
  if (!ended.ok() && util::Reason(ended.status()) == "job.driven_elsewhere") {
    return absl::OkStatus();
  }
  return ended.status();
}

absl::StatusOr<v1::Job> Manager::Get(std::string_view id) {
  AIST_ASSIGN_OR_RETURN(StoredJob stored, ReadJob(*parts_.store, id));
  return std::move(stored.job);
}

absl::StatusOr<v1::JobList> Manager::List(uint32_t limit) {
  return ListJobs(*parts_.store, limit == 0 ? 1000 : limit);
}

absl::StatusOr<v1::JobEventList> Manager::Events(std::string_view id, uint64_t after_seq,
                                                 int64_t timeout_ns) {
  const int64_t start = util::RealClock().MonotonicNanos();
  // Before the first look, so that nothing falls between.
  AIST_ASSIGN_OR_RETURN(const auto watch, parts_.store->WatchPrefix("job-event-seq", 0));
  for (;;) {
    AIST_ASSIGN_OR_RETURN(auto events, ReadEvents(*parts_.store, id, after_seq, kMaxEvents));
    if (!events.events().empty()) return events;
    int64_t left = timeout_ns;
    if (timeout_ns >= 0) {
      left = std::max<int64_t>(0, timeout_ns - (util::RealClock().MonotonicNanos() - start));
    }
    const auto change = watch->Next(left);
    if (!change.ok()) {
      if (change.status().code() != absl::StatusCode::kDeadlineExceeded) return change.status();
      return util::Error(
          absl::StatusCode::kDeadlineExceeded, "job.no_event",
          util::StrCat("no event of ", id.empty() ? "any job" : id, " after number ", after_seq));
    }
  }
}

}  // namespace aistation::job
