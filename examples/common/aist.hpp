// SPDX-License-Identifier: Apache-2.0
// A thin C++ face over the C interface, for the programs in this directory: handles that free
// themselves, errors as exceptions, operations that can be waited for together with signals.
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "aistation/aistation.h"

namespace aist {

// What the library said about a call that failed.
class Error : public std::exception {
 public:
  Error(aist_status code, aist_error* error)
      : code_(code),
        reason_(aist_error_reason(error)),
        message_(aist_error_message(error)),
        retryable_(aist_error_retryable(error) != 0) {
    aist_error_free(error);
    if (message_.empty()) message_ = aist_status_name(code);
  }
  Error(aist_status code, std::string reason, std::string message)
      : code_(code), reason_(std::move(reason)), message_(std::move(message)) {}
  aist_status code() const { return code_; }
  const std::string& reason() const { return reason_; }
  const std::string& message() const { return message_; }
  bool retryable() const { return retryable_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  aist_status code_;
  std::string reason_;
  std::string message_;
  bool retryable_ = false;
};

// Calls a fallible function; its last parameter, the error, is added here.
template <class F, class... A>
void Call(F function, A... arguments) {
  aist_error* error = nullptr;
  const aist_status status = function(arguments..., &error);
  if (status != AIST_OK) throw Error(status, error);
}

template <class T, void (*Free)(T*)>
struct Deleter {
  void operator()(T* handle) const { Free(handle); }
};
template <class T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, Deleter<T, Free>>;

using Context = Handle<aist_context, aist_context_free>;
using Store = Handle<aist_store, aist_store_free>;
using Tls = Handle<aist_tls, aist_tls_free>;
using Node = Handle<aist_node, aist_node_free>;
using Allocator = Handle<aist_allocator_state, aist_alloc_free>;
using JobManager = Handle<aist_job_manager, aist_job_manager_free>;
using Topology = Handle<aist_topology, aist_topology_free>;
using Catalogue = Handle<aist_catalogue, aist_catalogue_free>;
using Dataset = Handle<aist_dataset, aist_dataset_free>;

// Calls a function whose last output is a handle: Make<Store>(aist_store_open, ctx, &opts).
template <class H, class F, class... A>
H Make(F function, A... arguments) {
  typename H::pointer out = nullptr;
  Call(function, arguments..., &out);
  return H(out);
}

using Bytes = Handle<aist_bytes, aist_bytes_free>;
inline std::string Text(const aist_bytes* bytes) {
  return std::string(static_cast<const char*>(aist_bytes_data(bytes)), aist_bytes_size(bytes));
}
// Calls a function whose last output is a buffer, and copies it.
template <class F, class... A>
std::string Document(F function, A... arguments) {
  return Text(Make<Bytes>(function, arguments...).get());
}

// A borrowed string for an option; the argument must outlive the call.
inline aist_str Str(std::string_view text) { return aist_str{text.data(), text.size()}; }

class Op {
 public:
  explicit Op(aist_op* op) : op_(op) {}
  // Starts an operation: Op::Start(aist_image_pull, node, AIST_FORMAT_JSON, data, size).
  template <class F, class... A>
  static Op Start(F function, A... arguments) {
    aist_op* op = nullptr;
    Call(function, arguments..., &op);
    return Op(op);
  }
  // Readable when the operation has ended.
  int fd() const { return aist_op_fd(op_.get()); }
  bool Done() const {
    uint8_t done = 0;
    Call(aist_op_poll, op_.get(), &done);
    return done != 0;
  }
  void Cancel() { Call(aist_op_cancel, op_.get()); }
  aist_op_progress_info Progress() const {
    aist_op_progress_info info = AIST_OP_PROGRESS_INFO_INIT;
    Call(aist_op_progress, op_.get(), &info);
    return info;
  }
  // Throws the operation's own error.
  std::string Result() const { return Document(aist_op_result, op_.get(), AIST_FORMAT_JSON); }

 private:
  Handle<aist_op, aist_op_free> op_;
};

}  // namespace aist
