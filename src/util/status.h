// SPDX-License-Identifier: Apache-2.0
// Errors inside the library: absl::Status with a stable reason and hints for the caller.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace aistation::util {

// What an error has spoilt; same numbers as AIST_SCOPE_*.
enum class Scope { kOperation = 1, kHandle = 2, kContext = 3 };

struct ErrorHints {
  bool retryable = false;
  Scope scope = Scope::kOperation;
  int system_errno = 0;
  std::string cause;  // message of the error below, if another one is behind it
};

// `reason` is stable and machine-readable ("store.no_key"); `message` names the thing, the place
// and what to do. UNAVAILABLE and ABORTED are retryable unless the hints say otherwise.
absl::Status Error(absl::StatusCode code, std::string_view reason, std::string_view message,
                   ErrorHints hints = {});

// Error from an errno: picks the code (ENOENT: NOT_FOUND, EACCES: PERMISSION_DENIED,
// ENOSPC/EMFILE/...: RESOURCE_EXHAUSTED, ...) and appends the system's text.
absl::Status ErrnoError(int system_errno, std::string_view reason, std::string_view message);

// The same error with "context: " before its message; reason and hints stay.
absl::Status Annotate(const absl::Status& status, std::string_view context);

std::string Reason(const absl::Status& status);  // "" when it has none
ErrorHints Hints(const absl::Status& status);
std::string Message(const absl::Status& status);

// Shorthands for the codes used most.
absl::Status InvalidArgument(std::string_view reason, std::string_view message);
absl::Status NotFound(std::string_view reason, std::string_view message);
absl::Status FailedPrecondition(std::string_view reason, std::string_view message);
absl::Status Unavailable(std::string_view reason, std::string_view message);
absl::Status DataLoss(std::string_view reason, std::string_view message);
absl::Status Internal(std::string_view reason, std::string_view message);

}  // namespace aistation::util

#define AIST_CONCAT_INNER_(a, b) a##b
#define AIST_CONCAT_(a, b) AIST_CONCAT_INNER_(a, b)

// Returns from the enclosing function when `expr` is not OK.
#define AIST_RETURN_IF_ERROR(expr)                                \
  do {                                                            \
    if (absl::Status aist_status_ = (expr); !aist_status_.ok()) { \
      return aist_status_;                                        \
    }                                                             \
  } while (false)

// AIST_ASSIGN_OR_RETURN(auto x, F()): x = value of F(), or returns its error.
#define AIST_ASSIGN_OR_RETURN(lhs, expr) \
  AIST_ASSIGN_OR_RETURN_IMPL_(AIST_CONCAT_(aist_result_, __LINE__), lhs, expr)
#define AIST_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = std::move(result).value()
