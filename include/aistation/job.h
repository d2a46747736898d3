/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file job.h
 * Jobs: placed, proven, staged, run, judged, and run again without the culprit.
 */
#ifndef AISTATION_JOB_H_
#define AISTATION_JOB_H_

#include "aistation/alloc.h"
#include "aistation/base.h"
#include "aistation/op.h"
#include "aistation/security.h"
#include "aistation/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Drives jobs. Its state lies in the store, so that another process can take over. Thread-safe. */
typedef struct aist_job_manager aist_job_manager;

/** Options of aist_job_manager_create(). */
typedef struct aist_job_manager_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;               /**< 0. */
  aist_store *store;            /**< Required. */
  aist_allocator_state *alloc;  /**< Required; of the same store. */
  aist_tls *tls;                /**< Identity towards the agents. NULL: jobs run as local processes. */
  aist_str rules;               /**< Rule file (JSON with comments); empty: the installed one. */
} aist_job_manager_opts;
#define AIST_JOB_MANAGER_OPTS_INIT \
  { sizeof(aist_job_manager_opts), AIST_API_VERSION, 0, NULL, NULL, NULL, { NULL, 0 } }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_job_manager_opts_init(aist_job_manager_opts *opts, size_t size);

/** Makes a manager. Jobs in the store that no living manager drives are taken over once
 *  aist_job_run() is called for them.
 *  @param out  out: owned. Errors: INVALID_ARGUMENT names the bad rule. Since 0.1. */
AIST_API aist_status aist_job_manager_create(aist_context *ctx, const aist_job_manager_opts *opts,
                                             aist_job_manager **out, aist_error **err);
/** Accepts a job, durably.
 *  @param spec  JobSpec document in `format`.
 *  @param id    out: its id, owned, UTF-8.
 *  Errors: INVALID_ARGUMENT names the field. Since 0.1. */
AIST_API aist_status aist_job_submit(aist_job_manager *manager, aist_format format, const void *spec,
                                     size_t spec_size, aist_bytes **id, aist_error **err);
/** Drives a job to its end: quota, placement, proof, staging, run, verdict, resubmission.
 *  @param op  out: owned; progress: phase names what happens; result: Job. A job that fails is a
 *             result, not an error. Cancelling the operation stops driving, not the job; use
 *             aist_job_cancel() for that.
 *  Errors (of the operation): ABORTED reason `job.driven_elsewhere`. Since 0.1. */
AIST_API aist_status aist_job_run(aist_job_manager *manager, const char *id, size_t id_len,
                                  aist_op **op, aist_error **err);
/** Asks for the end of a job: processes are stopped, cards given back. Errors: NOT_FOUND. Since 0.1. */
AIST_API aist_status aist_job_cancel(aist_job_manager *manager, const char *id, size_t id_len,
                                     aist_error **err);
/** One job with its attempts. @param out  out: Job document, owned. Errors: NOT_FOUND. Since 0.1. */
AIST_API aist_status aist_job_get(aist_job_manager *manager, const char *id, size_t id_len,
                                  aist_format format, aist_bytes **out, aist_error **err);
/** All jobs, newest first, at most `limit` (0: 1,000). @param out  out: JobList, owned. Since 0.1. */
AIST_API aist_status aist_job_list(aist_job_manager *manager, uint32_t limit, aist_format format,
                                   aist_bytes **out, aist_error **err);
/** Events after a sequence number; waits for one if there is none yet.
 *  @param id         of one job; empty: of all.
 *  @param out        out: JobEventList document, owned; at most 1,000 events.
 *  Blocks: up to timeout_ns. Errors: DEADLINE_EXCEEDED reason `job.no_event`. Since 0.1. */
AIST_API aist_status aist_job_events(aist_job_manager *manager, const char *id, size_t id_len,
                                     uint64_t after_seq, int64_t timeout_ns, aist_format format,
                                     aist_bytes **out, aist_error **err);
/** Frees the manager; jobs that it drives are left to the next one. Since 0.1. */
AIST_API void aist_job_manager_free(aist_job_manager *manager);

/** Judges a failure from log lines and exit codes, without a manager.
 *  @param rules    rule file; empty: the installed one.
 *  @param request  ClassifyRequest document in `format`.
 *  @param out      out: Verdict document with its evidence, owned. Since 0.1. */
AIST_API aist_status aist_job_classify(aist_context *ctx, const char *rules, size_t rules_len,
                                       aist_format format, const void *request, size_t request_size,
                                       aist_bytes **out, aist_error **err);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_JOB_H_ */
