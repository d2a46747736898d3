// SPDX-License-Identifier: Apache-2.0
// include/aistation/base.h: errors, buffers, text arguments, versioned structs.
#include <new>

#include "aistation/base.h"
#include "api/error.h"
#include "api/handle.h"
#include "api/options.h"

struct aist_bytes : aistation::api::Counted {
  ~aist_bytes() {
    if (block != nullptr) allocator->free(allocator->user, block);
  }
  std::string content;  // without an allocator
  std::shared_ptr<const aist_allocator> allocator;
  void* block = nullptr;  // with one: content and a NUL
  size_t block_size = 0;
};

namespace aistation::api {

aist_error* MakeError(const absl::Status& status) noexcept {
  try {
    auto error = std::make_unique<aist_error>();
    error->code = static_cast<aist_status>(status.code());
    error->reason = util::Reason(status);
    error->message = util::Message(status);
    error->hints = util::Hints(status);
    if (!error->hints.cause.empty()) {
      error->cause = std::make_unique<aist_error>();
      error->cause->code = error->code;
      error->cause->message = error->hints.cause;
    }
    return error.release();
  } catch (...) {
    return nullptr;
  }
}

std::atomic<uint64_t>& LiveObjects() {
  static constinit std::atomic<uint64_t> count{0};
  return count;
}

absl::StatusOr<std::string_view> Raw(const char* function, const char* argument, const void* data,
                                     size_t size) {
  const char* text = static_cast<const char*>(data);
  if (text == nullptr) {
    if (size != 0 && size != AIST_NUL_TERMINATED) return NullArgument(function, argument);
    return std::string_view();
  }
  return std::string_view(text, size == AIST_NUL_TERMINATED ? std::strlen(text) : size);
}

absl::StatusOr<std::string_view> Text(const char* function, const char* argument, const char* data,
                                      size_t size) {
  AIST_ASSIGN_OR_RETURN(const std::string_view text, Raw(function, argument, data, size));
  if (!util::IsValidUtf8(text)) {
    return util::InvalidArgument("base.utf8",
                                 util::StrCat(function, ": ", argument, " is not valid UTF-8"));
  }
  return text;
}

absl::StatusOr<wire::Format> ToFormat(const char* function, aist_format format) {
  switch (format) {
    case AIST_FORMAT_UNSPECIFIED:
    case AIST_FORMAT_JSON:
      return wire::Format::kJson;
    case AIST_FORMAT_PROTOBUF:
      return wire::Format::kProtobuf;
    default:
      return util::InvalidArgument("base.format",
                                   util::StrCat(function, ": unknown format ", format,
                                                "; use AIST_FORMAT_PROTOBUF or AIST_FORMAT_JSON"));
  }
}

aist_bytes* MakeBytes(const std::shared_ptr<Core>& core, std::string content) {
  auto bytes = std::make_unique<aist_bytes>();
  if (core->allocator == nullptr) {
    bytes->content = std::move(content);
    return bytes.release();
  }
  bytes->allocator = core->allocator;
  bytes->block = bytes->allocator->alloc(bytes->allocator->user, content.size() + 1);
  if (bytes->block == nullptr) throw std::bad_alloc();  // the guard tells the caller
  bytes->block_size = content.size();
  std::memcpy(bytes->block, content.c_str(), content.size() + 1);
  return bytes.release();
}

absl::StatusOr<std::string> ToString(const char* function, const char* field, const aist_str& s) {
  AIST_ASSIGN_OR_RETURN(const std::string_view text, Text(function, field, s.data, s.size));
  if (text.size() > (1u << 20)) {
    return util::InvalidArgument("base.too_long",
                                 util::StrCat(function, ": ", field, " is longer than 1 MiB"));
  }
  if (text.find('\0') != std::string_view::npos) {
    return util::InvalidArgument("base.nul",
                                 util::StrCat(function, ": ", field, " contains a NUL byte"));
  }
  return std::string(text);
}

namespace internal {

absl::Status CheckStruct(const char* function, const void* data, size_t struct_size,
                         uint32_t version, size_t known_size, size_t first_size) {
  if (struct_size < first_size || struct_size > (1u << 16)) {
    return util::InvalidArgument(
        "base.struct_size",
        util::StrCat(function, ": struct_size ", struct_size, " cannot be; expected at least ",
                     first_size, "; set it with the AIST_..._INIT macro"));
  }
  if (version == 0 || version >> 16 > AIST_API_VERSION >> 16) {
    return util::InvalidArgument("base.struct_version",
                                 util::StrCat(function, ": struct version ", version,
                                              " is not known; set it to AIST_API_VERSION"));
  }
  const unsigned char* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = known_size; i < struct_size; ++i) {
    if (bytes[i] != 0) {
      return util::InvalidArgument(
          "base.newer_struct",
          util::StrCat(function, ": the caller sets a field (byte ", i,
                       ") that this library does not know; it needs a newer library"));
    }
  }
  return absl::OkStatus();
}

}  // namespace internal
}  // namespace aistation::api

using aistation::api::GuardFree;
using aistation::api::GuardValue;

extern "C" {

aist_status aist_error_code(const aist_error* err) { return err == nullptr ? AIST_OK : err->code; }
const char* aist_error_reason(const aist_error* err) {
  return err == nullptr ? "" : err->reason.c_str();
}
const char* aist_error_message(const aist_error* err) {
  return err == nullptr ? "" : err->message.c_str();
}
uint8_t aist_error_retryable(const aist_error* err) {
  return err != nullptr && err->hints.retryable ? 1 : 0;
}
uint32_t aist_error_scope(const aist_error* err) {
  if (err == nullptr) return AIST_SCOPE_UNSPECIFIED;
  return static_cast<uint32_t>(err->hints.scope);
}
int32_t aist_error_errno(const aist_error* err) {
  return err == nullptr ? 0 : err->hints.system_errno;
}
const aist_error* aist_error_cause(const aist_error* err) {
  return err == nullptr ? nullptr : err->cause.get();
}
void aist_error_free(aist_error* err) { delete err; }

const char* aist_status_name(aist_status status) {
  static constexpr const char* kNames[] = {"OK",
                                           "CANCELLED",
                                           "UNKNOWN",
                                           "INVALID_ARGUMENT",
                                           "DEADLINE_EXCEEDED",
                                           "NOT_FOUND",
                                           "ALREADY_EXISTS",
                                           "PERMISSION_DENIED",
                                           "RESOURCE_EXHAUSTED",
                                           "FAILED_PRECONDITION",
                                           "ABORTED",
                                           "OUT_OF_RANGE",
                                           "UNIMPLEMENTED",
                                           "INTERNAL",
                                           "UNAVAILABLE",
                                           "DATA_LOSS",
                                           "UNAUTHENTICATED"};
  return status >= 0 && status < static_cast<aist_status>(std::size(kNames)) ? kNames[status]
                                                                             : "UNKNOWN";
}

const void* aist_bytes_data(const aist_bytes* bytes) {
  if (bytes == nullptr) return "";
  return bytes->block != nullptr ? bytes->block : bytes->content.c_str();
}
size_t aist_bytes_size(const aist_bytes* bytes) {
  if (bytes == nullptr) return 0;
  return bytes->block != nullptr ? bytes->block_size : bytes->content.size();
}
void aist_bytes_free(aist_bytes* bytes) { delete bytes; }

}  // extern "C"
