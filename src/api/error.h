// SPDX-License-Identifier: Apache-2.0
// The error object of the C interface.
#pragma once

#include <memory>
#include <string>

#include "aistation/base.h"
#include "util/status.h"

struct aist_error {
  aist_status code = AIST_UNKNOWN;
  std::string reason;
  std::string message;
  aistation::util::ErrorHints hints;
  std::unique_ptr<aist_error> cause;
};

namespace aistation::api {

// The only place where a Status becomes an error object. NULL when memory is out.
aist_error* MakeError(const absl::Status& status) noexcept;

}  // namespace aistation::api
