// SPDX-License-Identifier: Apache-2.0
// include/aistation/op.h
#include "aistation/op.h"

#include "api/handle.h"
#include "api/options.h"

struct aist_op : aistation::api::Handle<aistation::util::Op> {
  using Handle::Handle;
};

namespace aistation::api {

absl::Status StartOp(const std::shared_ptr<Core>& core, int64_t timeout_ns, util::OpBody body,
                     aist_op** out) {
  AIST_ASSIGN_OR_RETURN(
      std::shared_ptr<util::Op> op,
      util::Op::Start(*core->executor, timeout_ns == 0 ? core->default_deadline_ns : timeout_ns,
                      std::move(body)));
  *out = new aist_op(core, std::move(op));
  return absl::OkStatus();
}

}  // namespace aistation::api

using aistation::api::Guard;
using aistation::api::InForkedChild;

extern "C" {

int32_t aist_op_fd(const aist_op* op) {
  return op == nullptr || InForkedChild() ? -1 : op->object->fd();
}

aist_status aist_op_poll(const aist_op* op, uint8_t* done, aist_error** err) {
  return Guard("aist_op_poll", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_op_poll", op);
    AIST_REQUIRE("aist_op_poll", done);
    *done = op->object->done() ? 1 : 0;
    return absl::OkStatus();
  });
}

aist_status aist_op_wait(aist_op* op, int64_t timeout_ns, aist_error** err) {
  return Guard("aist_op_wait", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_op_wait", op);
    if (aistation::util::InCallback() && timeout_ns != 0) {
      return aistation::util::FailedPrecondition(
          "op.wait_in_callback",
          "aist_op_wait: called from a callback of the library, which may be what the operation "
          "waits for; wait on another thread");
    }
    if (!op->object->Wait(timeout_ns)) {
      return aistation::util::Error(absl::StatusCode::kDeadlineExceeded, "op.wait_timeout",
                                    "aist_op_wait: the operation still runs; wait again",
                                    {.retryable = true, .cause = {}});
    }
    return op->object->result().status();
  });
}

aist_status aist_op_cancel(aist_op* op, aist_error** err) {
  return Guard("aist_op_cancel", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_op_cancel", op);
    op->object->Cancel();
    return absl::OkStatus();
  });
}

aist_status aist_op_progress(const aist_op* op, aist_op_progress_info* info, aist_error** err) {
  return Guard("aist_op_progress", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_op_progress", op);
    const auto progress = op->object->progress();
    aist_op_progress_info value = AIST_OP_PROGRESS_INFO_INIT;
    value.done_flag = progress.ended ? 1 : 0;
    value.done = progress.done;
    value.total = progress.total;
    value.elapsed_ns = progress.elapsed_ns;
    // Cut at a character, not inside one.
    std::string phase = progress.phase.substr(0, sizeof(value.phase) - 1);
    while (!phase.empty() && !aistation::util::IsValidUtf8(phase)) phase.pop_back();
    std::memcpy(value.phase, phase.c_str(), phase.size() + 1);
    return aistation::api::WriteStruct("aist_op_progress", value, info);
  });
}

aist_status aist_op_result(const aist_op* op, aist_format format, aist_bytes** out,
                           aist_error** err) {
  return Guard("aist_op_result", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_op_result", op);
    AIST_REQUIRE("aist_op_result", out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format,
                          aistation::api::ToFormat("aist_op_result", format));
    AIST_ASSIGN_OR_RETURN(const auto result, op->object->result());
    *out =
        aistation::api::MakeBytes(op->core, result(wire_format == aistation::wire::Format::kJson));
    return absl::OkStatus();
  });
}

void aist_op_free(aist_op* op) {
  if (op == nullptr) return;
  aistation::api::GuardFree("aist_op_free", [&] {
    op->object->Cancel();
    delete op;
  });
}

}  // extern "C"
