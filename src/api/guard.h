// SPDX-License-Identifier: Apache-2.0
// The one way into the library: nothing thrown, no thread cancellation and no forked child gets
// past.
#pragma once

#include <exception>
#include <new>

#include "aistation/base.h"
#include "util/status.h"

namespace aistation::api {

// Called at the start of each guarded function with its name, inside the guard. For tests.
using GuardHook = void (*)(const char* function);
void SetGuardHookForTest(GuardHook hook);

// True in a process that was forked from one that had used the library.
bool InForkedChild();
// Registers the fork handler; called when a context is made.
void WatchForks();

absl::Status ForkedChildError(const char* function);
absl::Status NullArgument(const char* function, const char* argument);

// Converts, and stores the error object if the caller wants one.
aist_status Deliver(const absl::Status& status, aist_error** err);

namespace internal {
class CancellationOff {
 public:
  CancellationOff();
  ~CancellationOff();

 private:
  int before_;
};
void RunGuardHook(const char* function);
absl::Status CurrentException(const char* function);
}  // namespace internal

enum class ForkPolicy { kRefuse, kAllow };  // kAllow: readers of datasets

template <class Body>
aist_status Guard(const char* function, aist_error** err, Body&& body,
                  ForkPolicy policy = ForkPolicy::kRefuse) noexcept {
  const internal::CancellationOff off;
  try {
    if (policy == ForkPolicy::kRefuse && InForkedChild()) {
      return Deliver(ForkedChildError(function), err);
    }
    internal::RunGuardHook(function);
    return Deliver(body(), err);
  } catch (...) {
    return Deliver(internal::CurrentException(function), err);
  }
}

// For accessors that cannot fail: `otherwise` when something throws.
template <class T, class Body>
T GuardValue(const char* function, T otherwise, Body&& body) noexcept {
  const internal::CancellationOff off;
  try {
    internal::RunGuardHook(function);
    return body();
  } catch (...) {
    return otherwise;
  }
}

// For frees. In a forked child nothing is released: threads that destructors would wait for are not
// there, and the memory goes with the process.
template <class Body>
void GuardFree(const char* function, Body&& body) noexcept {
  const internal::CancellationOff off;
  if (InForkedChild()) return;
  try {
    internal::RunGuardHook(function);
  } catch (...) {
    // A free must free whatever the hook of a test does.
  }
  try {
    body();
  } catch (...) {
  }
}

}  // namespace aistation::api

// Inside a guarded body: error when an argument is NULL.
#define AIST_REQUIRE(function, argument) \
  if ((argument) == nullptr) return ::aistation::api::NullArgument(function, #argument)
