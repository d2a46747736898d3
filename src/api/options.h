// SPDX-License-Identifier: Apache-2.0
// Versioned structs of the C interface.
#pragma once

#include <algorithm>
#include <cstring>

#include "aistation/base.h"
#include "util/status.h"
#include "util/strings.h"

namespace aistation::api {

namespace internal {
absl::Status CheckStruct(const char* function, const void* data, size_t struct_size,
                         uint32_t version, size_t known_size, size_t first_size);
}

// A copy of the caller's options: defaults when NULL, zeros for what an older caller does not have,
// an error when a newer caller sets what this library does not know.
// `first_size`: size of the struct in the first release.
template <class T>
absl::StatusOr<T> ReadOptions(const char* function, const T* options, size_t first_size = sizeof(T),
                              uint32_t known_flags = 0) {
  T copy{};
  copy.struct_size = sizeof(T);
  copy.version = AIST_API_VERSION;
  if (options == nullptr) return copy;
  AIST_RETURN_IF_ERROR(internal::CheckStruct(function, options, options->struct_size,
                                             options->version, sizeof(T), first_size));
  std::memcpy(&copy, options, std::min(sizeof(T), options->struct_size));
  if constexpr (requires { copy.flags; }) {
    if ((copy.flags & ~known_flags) != 0) {
      return util::InvalidArgument("base.flags",
                                   util::StrCat(function, ": unknown bits in flags: ", copy.flags,
                                                "; a newer library may know them"));
    }
  }
  if constexpr (requires { copy.reserved; }) {
    if (copy.reserved != 0) {
      return util::InvalidArgument("base.reserved", util::StrCat(function, ": reserved must be 0"));
    }
  }
  return copy;
}

// Writes at most struct_size bytes of `value` into the caller's struct and stores the written size.
template <class T>
absl::Status WriteStruct(const char* function, const T& value, T* out,
                         size_t first_size = sizeof(T)) {
  if (out == nullptr) {
    return util::InvalidArgument("base.null_argument",
                                 util::StrCat(function, ": the out struct must not be NULL"));
  }
  if (out->struct_size < first_size) {
    return util::InvalidArgument(
        "base.struct_size",
        util::StrCat(function, ": struct_size ", out->struct_size, " is smaller than ", first_size,
                     "; set it with the AIST_..._INIT macro"));
  }
  const size_t size = std::min(sizeof(T), out->struct_size);
  const uint32_t version = out->version;
  std::memcpy(out, &value, size);
  out->struct_size = size;
  out->version = version;
  return absl::OkStatus();
}

// A string inside a struct: "" when unset; UTF-8 is checked.
absl::StatusOr<std::string> ToString(const char* function, const char* field, const aist_str& s);

}  // namespace aistation::api
