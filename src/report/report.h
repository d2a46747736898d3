// SPDX-License-Identifier: Apache-2.0
// What happened, from the records in the store: numbers, a table, a page with pictures.
#pragma once

#include <cstdint>
#include <string>

#include "aistation/v1/placement.pb.h"
#include "aistation/v1/report.pb.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/status.h"

namespace aistation::report {

struct Options {
  int64_t from_unix_ns = 0;  // 0: from the beginning
  int64_t to_unix_ns = 0;    // 0: until now
  std::string job;           // only this one; "": all
};

// Jobs that overlap the time, their events, use by department. NOT_FOUND `job.no_job`.
absl::StatusOr<v1::Report> Build(store::Store& store, const Options& options,
                                 util::Clock& clock = util::RealClock());

// Pure: use by department within the report's time, sorted by name.
void AddUse(v1::Report* report);
// RFC 4180, one line a department.
std::string ToCsv(const v1::Report& report);
// One self-contained page; no scripts, no links to other places.
std::string ToHtml(const v1::Report& report, const std::string& title);

}  // namespace aistation::report
