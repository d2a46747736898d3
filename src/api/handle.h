// SPDX-License-Identifier: Apache-2.0
// Handles: what an opaque pointer of the C interface points to.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "aistation/base.h"
#include "api/context.h"
#include "api/counted.h"
#include "api/guard.h"
#include "wire/wire.h"

namespace aistation::api {

// struct aist_x : Handle<x::X> {}: keeps the context and the object alive. The object goes first.
template <class T>
struct Handle : Counted {
  Handle(std::shared_ptr<Core> c, std::shared_ptr<T> o)
      : core(std::move(c)), object(std::move(o)) {}
  std::shared_ptr<Core> core;
  std::shared_ptr<T> object;
};

// Text or bytes given as pointer and length; AIST_NUL_TERMINATED is resolved, UTF-8 is checked.
absl::StatusOr<std::string_view> Text(const char* function, const char* argument, const char* data,
                                      size_t size);
absl::StatusOr<std::string_view> Raw(const char* function, const char* argument, const void* data,
                                     size_t size);
absl::StatusOr<wire::Format> ToFormat(const char* function, aist_format format);

// In memory of the context's allocator, if it has one.
aist_bytes* MakeBytes(const std::shared_ptr<Core>& core, std::string content);

template <class M>
aist_bytes* MakeDocument(const std::shared_ptr<Core>& core, wire::Format format, const M& message) {
  return MakeBytes(core, wire::Render(format, message));
}

// Starts `body` on the executor of `core` and hands the operation out. `timeout_ns` 0: the default
// of the context.
absl::Status StartOp(const std::shared_ptr<Core>& core, int64_t timeout_ns, util::OpBody body,
                     aist_op** out);

}  // namespace aistation::api

// Inside a guarded body: `name` becomes a std::string_view of the argument pair name, name_len.
#define AIST_TEXT(function, var, data, size)        \
  AIST_ASSIGN_OR_RETURN(const std::string_view var, \
                        ::aistation::api::Text(function, #data, data, size))
