// SPDX-License-Identifier: Apache-2.0
#include "util/status.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "util/strings.h"

namespace aistation::util {
namespace {

constexpr char kReasonUrl[] = "aistation/reason";
constexpr char kHintsUrl[] = "aistation/hints";
constexpr char kCauseUrl[] = "aistation/cause";

std::string Payload(const absl::Status& status, const char* url) {
  auto payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : std::string();
}

absl::StatusCode CodeOf(int e) {
  switch (e) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ESRCH:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::StatusCode::kResourceExhausted;
    case EINVAL:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
      return absl::StatusCode::kInvalidArgument;
    case ETIMEDOUT:
      return absl::StatusCode::kDeadlineExceeded;
    case EIO:
      return absl::StatusCode::kDataLoss;
    case EBUSY:
    case ENOTEMPTY:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

absl::Status Error(absl::StatusCode code, std::string_view reason, std::string_view message,
                   ErrorHints hints) {
  absl::Status status(code, absl::string_view(message.data(), message.size()));
  status.SetPayload(kReasonUrl, absl::Cord(absl::string_view(reason.data(), reason.size())));
  const bool retry = hints.retryable || code == absl::StatusCode::kUnavailable ||
                     code == absl::StatusCode::kAborted;
  status.SetPayload(kHintsUrl, absl::Cord(StrCat(retry ? 1 : 0, " ", static_cast<int>(hints.scope),
                                                 " ", hints.system_errno)));
  if (!hints.cause.empty()) status.SetPayload(kCauseUrl, absl::Cord(hints.cause));
  return status;
}

absl::Status ErrnoError(int system_errno, std::string_view reason, std::string_view message) {
  char buffer[128];
  const char* text = strerror_r(system_errno, buffer, sizeof(buffer));
  ErrorHints hints;
  hints.system_errno = system_errno;
  return Error(CodeOf(system_errno), reason, StrCat(message, ": ", text), hints);
}

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status out(status.code(), StrCat(context, ": ", Message(status)));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& cord) { out.SetPayload(url, cord); });
  return out;
}

std::string Reason(const absl::Status& status) { return Payload(status, kReasonUrl); }

ErrorHints Hints(const absl::Status& status) {
  ErrorHints hints;
  const std::string text = Payload(status, kHintsUrl);
  const auto parts = Split(text, ' ');
  if (parts.size() == 3) {
    hints.retryable = parts[0] == "1";
    hints.scope = static_cast<Scope>(ParseInt<int>(parts[1]).value_or(1));
    hints.system_errno = ParseInt<int>(parts[2]).value_or(0);
  } else {
    hints.retryable = status.code() == absl::StatusCode::kUnavailable;
  }
  hints.cause = Payload(status, kCauseUrl);
  return hints;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

absl::Status InvalidArgument(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kInvalidArgument, reason, message);
}
absl::Status NotFound(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kNotFound, reason, message);
}
absl::Status FailedPrecondition(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kFailedPrecondition, reason, message);
}
absl::Status Unavailable(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kUnavailable, reason, message);
}
absl::Status DataLoss(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kDataLoss, reason, message);
}
absl::Status Internal(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kInternal, reason, message);
}

}  // namespace aistation::util
