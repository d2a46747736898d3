// SPDX-License-Identifier: Apache-2.0
#include "api/guard.h"

#include <pthread.h>

#include <atomic>

#include "api/error.h"
#include "util/strings.h"

namespace aistation::api {
namespace {

constinit std::atomic<GuardHook> guard_hook{nullptr};
// Process globals are forbidden but for this: a fork child can be known in no other way.
constinit std::atomic<bool> forked_child{false};
constinit std::atomic<bool> watching{false};

}  // namespace

void SetGuardHookForTest(GuardHook hook) { guard_hook.store(hook); }
bool InForkedChild() { return forked_child.load(std::memory_order_relaxed); }

void WatchForks() {
  if (!watching.exchange(true)) {
    pthread_atfork(nullptr, nullptr, [] { forked_child.store(true, std::memory_order_relaxed); });
  }
}

absl::Status ForkedChildError(const char* function) {
  return util::FailedPrecondition(
      "base.forked_child",
      util::StrCat(function,
                   ": this process was forked from one that uses the library; use the "
                   "library before exec only in the parent, or start a new program"));
}

absl::Status NullArgument(const char* function, const char* argument) {
  return util::InvalidArgument("base.null_argument",
                               util::StrCat(function, ": ", argument, " must not be NULL"));
}

aist_status Deliver(const absl::Status& status, aist_error** err) {
  if (status.ok()) return AIST_OK;
  if (err != nullptr) *err = MakeError(status);
  return static_cast<aist_status>(status.code());
}

namespace internal {

CancellationOff::CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
CancellationOff::~CancellationOff() { pthread_setcancelstate(before_, nullptr); }

void RunGuardHook(const char* function) {
  if (const GuardHook hook = guard_hook.load(std::memory_order_relaxed); hook != nullptr) {
    hook(function);
  }
}

absl::Status CurrentException(const char* function) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return util::Error(absl::StatusCode::kResourceExhausted, "base.memory",
                       util::StrCat(function, ": out of memory"));
  } catch (const std::exception& e) {
    return util::Internal("base.exception",
                          util::StrCat(function, ": unexpected exception: ", e.what()));
  } catch (...) {
    return util::Internal("base.exception", util::StrCat(function, ": unexpected exception"));
  }
}

}  // namespace internal
}  // namespace aistation::api
