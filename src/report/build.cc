// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "alloc/allocator.h"
#include "job/job_store.h"
#include "report/report.h"
#include "util/strings.h"

namespace aistation::report {
namespace {

constexpr uint32_t kMaxJobs = 10'000;
constexpr uint32_t kMaxEvents = 10'000;

int64_t EndOf(const v1::Job& job, int64_t now) {
  return job.ended_unix_ns() == 0 ? now : job.ended_unix_ns();
}

size_t CardsOf(const v1::Attempt& attempt) {
  size_t n = 0;
  for (const auto& node : attempt.placement().nodes()) n += static_cast<size_t>(node.cards_size());
  return n;
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return "\"" + util::ReplaceAll(text, "\"", "\"\"") + "\"";
}

void AddInventory(const v1::AllocationState& state, v1::Report* report) {
  *report->mutable_inventory() = state.inventory();
  for (const auto& grant : state.grants()) {
    if (grant.released_unix_ns() != 0) continue;
    for (const auto& node : grant.placement().nodes()) {
      for (const auto& card : node.cards()) {
        const std::string& job = grant.placement().request().job();
        (*report->mutable_card_job())[util::StrCat(node.node(), "/", card.card_id())] =
            job.empty() ? grant.placement().grant_id() : job;
      }
    }
  }
}

}  // namespace

void AddUse(v1::Report* report) {
  std::map<std::string, v1::DepartmentUse> use;
  for (const auto& job : report->jobs()) {
    v1::DepartmentUse& row = use[job.spec().department()];
    row.set_department(job.spec().department());
    row.set_jobs(row.jobs() + 1);
    for (const auto& attempt : job.attempts()) {
      const int64_t end =
          std::min(attempt.ended_unix_ns() == 0 ? report->to_unix_ns() : attempt.ended_unix_ns(),
                   report->to_unix_ns());
      const int64_t begin = std::max(attempt.started_unix_ns(), report->from_unix_ns());
      // A refused attempt never held cards.
      if (attempt.started_unix_ns() != 0 && end > begin) {
        const double seconds =
            static_cast<double>(end - begin) / 1e9 * static_cast<double>(CardsOf(attempt));
        row.set_card_seconds(row.card_seconds() + seconds);
        if (attempt.has_verdict()) row.set_lost_card_seconds(row.lost_card_seconds() + seconds);
      }
      if (attempt.has_verdict()) row.set_failed_attempts(row.failed_attempts() + 1);
      const auto add = [&row](const v1::TransferStats& stats) {
        row.set_bytes_source(row.bytes_source() + stats.bytes_source());
        row.set_bytes_peers(row.bytes_peers() + stats.bytes_peers());
      };
      for (const auto& image : attempt.images()) add(image.stats());
      for (const auto& dataset : attempt.datasets()) add(dataset.stats());
    }
  }
  report->clear_departments();
  for (auto& [name, row] : use) *report->add_departments() = std::move(row);
}

absl::StatusOr<v1::Report> Build(store::Store& store, const Options& options, util::Clock& clock) {
  v1::Report report;
  report.set_made_unix_ns(clock.UnixNanos());
  report.set_from_unix_ns(options.from_unix_ns);
  report.set_to_unix_ns(options.to_unix_ns == 0 ? report.made_unix_ns() : options.to_unix_ns);
  if (report.to_unix_ns() < report.from_unix_ns()) {
    return util::InvalidArgument("report.time", "the report ends before it begins");
  }
  v1::JobList jobs;
  if (options.job.empty()) {
    AIST_ASSIGN_OR_RETURN(jobs, job::ListJobs(store, kMaxJobs));
  } else {
    AIST_ASSIGN_OR_RETURN(const auto stored, job::ReadJob(store, options.job));
    *jobs.add_jobs() = stored.job;
  }
  for (const auto& job : jobs.jobs()) {
    if (job.submitted_unix_ns() > report.to_unix_ns() ||
        EndOf(job, report.made_unix_ns()) < report.from_unix_ns()) {
      continue;
    }
    *report.add_jobs() = job;
  }
  AIST_ASSIGN_OR_RETURN(const auto events, job::ReadEvents(store, options.job, 0, kMaxEvents));
  for (const auto& event : events.events()) {
    if (event.unix_ns() < report.from_unix_ns() || event.unix_ns() > report.to_unix_ns()) continue;
    *report.add_events() = event;
  }
  // The allocator does not own the store of its caller.
  const std::shared_ptr<store::Store> borrowed(std::shared_ptr<void>(), &store);
  const auto allocator = alloc::Allocator::Open(borrowed, nullptr, clock);
  if (allocator.ok()) {
    AIST_ASSIGN_OR_RETURN(const auto state, (*allocator)->State());
    AddInventory(state, &report);
  } else if (!absl::IsNotFound(allocator.status())) {
    return allocator.status();
  }
  AddUse(&report);
  return report;
}

std::string ToCsv(const v1::Report& report) {
  std::string out =
      "department,card_seconds,lost_card_seconds,jobs,failed_attempts,bytes_source,bytes_peers\r\n";
  for (const auto& row : report.departments()) {
    util::StrAppend(&out, Quoted(row.department()), ",", util::FormatFixed(row.card_seconds(), 3),
                    ",", util::FormatFixed(row.lost_card_seconds(), 3), ",", row.jobs(), ",",
                    row.failed_attempts(), ",", row.bytes_source(), ",", row.bytes_peers(), "\r\n");
  }
  return out;
}

}  // namespace aistation::report
