// SPDX-License-Identifier: Apache-2.0
// Jobs of a centre: accepted, driven, cancelled, told about.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "job/driver.h"

namespace aistation::job {

// Thread-safe. See include/aistation/job.h for what each call does and its errors.
class Manager {
 public:
  // `random`: source of unpredictable numbers for ids.
  Manager(DriverParts parts, std::function<uint64_t()> random);

  absl::StatusOr<std::string> Submit(const v1::JobSpec& spec);
  absl::StatusOr<v1::Job> Run(std::string_view id, util::OpControl& control);
  absl::Status Cancel(std::string_view id);
  absl::StatusOr<v1::Job> Get(std::string_view id);
  absl::StatusOr<v1::JobList> List(uint32_t limit);
  absl::StatusOr<v1::JobEventList> Events(std::string_view id, uint64_t after_seq,
                                          int64_t timeout_ns);

 private:
  const DriverParts parts_;
  const std::function<uint64_t()> random_;
};

}  // namespace aistation::job
