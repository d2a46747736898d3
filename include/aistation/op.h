/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file op.h
 * Long operations: wait, poll, cancel, progress, result.
 *
 * An operation starts when it is created and runs on threads of the library. Its result is a
 * document; which message, the function that created it says.
 */
#ifndef AISTATION_OP_H_
#define AISTATION_OP_H_

#include "aistation/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Waits without limit. */
#define AIST_WAIT_FOREVER ((int64_t)-1)

/** How far an operation is. */
typedef struct aist_op_progress_info {
  size_t struct_size;   /**< Set by the caller; the library writes at most this many bytes. */
  uint32_t version;     /**< AIST_API_VERSION. */
  uint32_t done_flag;   /**< 1 when the operation has ended. */
  uint64_t done;        /**< Units done (bytes for transfers). */
  uint64_t total;       /**< Units in all, 0 while unknown. */
  uint64_t elapsed_ns;  /**< Since the operation started. */
  char phase[64];       /**< What it is doing, UTF-8, NUL-terminated. */
} aist_op_progress_info;
#define AIST_OP_PROGRESS_INFO_INIT \
  { sizeof(aist_op_progress_info), AIST_API_VERSION, 0, 0, 0, 0, { 0 } }
/** Sets all fields to their defaults, for languages without macros. `size`: bytes at `info`. Since 0.1. */
AIST_API void aist_op_progress_info_init(aist_op_progress_info *info, size_t size);

/** Descriptor (eventfd, close-on-exec, non-blocking) that is readable once the operation has ended and
 *  stays so. Owned by the operation: do not read or close it. -1 for NULL or in a forked child.
 *  Blocks: no. Since 0.1. */
AIST_API int32_t aist_op_fd(const aist_op *op);

/** Says whether an operation has ended.
 *  @param done  out: 1 ended (well or not), 0 running.
 *  Blocks: no. Errors: INVALID_ARGUMENT op or done is NULL. Since 0.1. */
AIST_API aist_status aist_op_poll(const aist_op *op, uint8_t *done, aist_error **err);

/** Waits for the end of an operation and gives its outcome.
 *  @param timeout_ns  longest wait, or #AIST_WAIT_FOREVER; 0 only looks.
 *  Blocks: up to timeout_ns. Not a point of thread cancellation.
 *  Errors: DEADLINE_EXCEEDED reason `op.wait_timeout`: still running, wait again;
 *  FAILED_PRECONDITION reason `op.wait_in_callback`: called from a callback of the library;
 *  any other: the operation's own error. Since 0.1. */
AIST_API aist_status aist_op_wait(aist_op *op, int64_t timeout_ns, aist_error **err);

/** Asks an operation to stop. It ends soon after with CANCELLED, or as it would have if it was
 *  already ending. May be called any number of times. Blocks: no. Since 0.1. */
AIST_API aist_status aist_op_cancel(aist_op *op, aist_error **err);

/** Reads the progress.
 *  Blocks: no. Errors: INVALID_ARGUMENT bad struct. Since 0.1. */
AIST_API aist_status aist_op_progress(const aist_op *op, aist_op_progress_info *info, aist_error **err);

/** The result document of an operation that has ended well.
 *  @param out  out: owned, free with aist_bytes_free().
 *  Blocks: no. Errors: FAILED_PRECONDITION reason `op.running`: not ended yet; any other: the
 *  operation's own error. Since 0.1. */
AIST_API aist_status aist_op_result(const aist_op *op, aist_format format, aist_bytes **out,
                                    aist_error **err);

/** Cancels the operation if it still runs, forgets it and frees the handle. What it had committed
 *  stays. Blocks: no (the work ends in the background; freeing the last handle of a context waits
 *  for it). Since 0.1. */
AIST_API void aist_op_free(aist_op *op);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_OP_H_ */
