/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file aistation.h
 * The whole library, and the context that everything else is made from.
 */
#ifndef AISTATION_AISTATION_H_
#define AISTATION_AISTATION_H_

#include "aistation/base.h"
#include "aistation/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Severity of a log record. */
enum {
  AIST_LOG_UNSPECIFIED = 0,
  AIST_LOG_DEBUG = 1,
  AIST_LOG_INFO = 2,
  AIST_LOG_WARNING = 3,
  AIST_LOG_ERROR = 4
};

/** Receives one log record. Called on any thread, also several at once; no lock of the library is
 *  held. Strings are NUL-terminated and live during the call only. Must not throw, and must not call
 *  aist_context_free() or aist_op_wait(). */
typedef void (*aist_log_fn)(void *user, uint32_t level, const char *module, const char *message);

/** Memory for the buffers that the library hands out (aist_bytes); what it works with inside comes from
 *  malloc. `alloc` and `realloc` return NULL on failure; blocks are aligned to 16 bytes. Called on any
 *  thread, also after the context was freed, until the last buffer is. */
typedef struct aist_allocator {
  void *(*alloc)(void *user, size_t size_bytes);
  void *(*realloc)(void *user, void *block, size_t size_bytes);
  void (*free)(void *user, void *block);
  void *user;
} aist_allocator;

/** Options of aist_context_create(). */
typedef struct aist_context_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;             /**< 0. */
  aist_str name;              /**< Name of this process in logs and audit, default "aistation". */
  aist_log_fn log;            /**< Log hook; NULL: no log at all. */
  void *log_user;             /**< Passed to `log`. */
  void (*log_drop)(void *);   /**< Called once with `log_user` when the hook will never be called again. */
  uint32_t log_level;         /**< Least severity passed on; 0: AIST_LOG_INFO. */
  uint32_t max_threads;       /**< Most threads for operations at once; 0: 64. */
  const aist_allocator *allocator; /**< Copied; NULL: malloc. */
  int64_t default_deadline_ns; /**< For operations that name none; 0: one hour. */
} aist_context_opts;
#define AIST_CONTEXT_OPTS_INIT                                                                  \
  {                                                                                             \
    sizeof(aist_context_opts), AIST_API_VERSION, 0, { NULL, 0 }, NULL, NULL, NULL, 0, 0, NULL, 0 \
  }
/** Sets all fields to their defaults, for languages without macros. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_context_opts_init(aist_context_opts *opts, size_t size);

/** Makes a context. Two contexts in one process are independent.
 *  @param opts  may be NULL: defaults. Read during the call only.
 *  @param out   out: owned, free with aist_context_free().
 *  Blocks: no. Errors: INVALID_ARGUMENT bad struct or option; FAILED_PRECONDITION reason
 *  `base.api_version`: compiled for a newer library. Since 0.1. */
AIST_API aist_status aist_context_create(const aist_context_opts *opts, aist_context **out,
                                         aist_error **err);

/** Frees a context. Objects made from it stay usable; when the last of them goes, running
 *  operations are cancelled and all threads of the context are joined. Blocks: until the threads have
 *  ended, which each does within a second of being cancelled. Since 0.1. */
AIST_API void aist_context_free(aist_context *ctx);

/** Version of the library that is loaded, major << 16 | minor. Since 0.1. */
AIST_API uint32_t aist_version(void);
/** Version of the library that is loaded, "0.1.0". Static. Since 0.1. */
AIST_API const char *aist_version_string(void);

/** Says whether a feature is there.
 *  @param name  "tls1.3", "verbs", "hwloc", "sqlite", "etcd", "zstd", "bundled-protobuf", …
 *  Returns 1 yes, 0 no or name not known. Blocks: no. Since 0.1. */
AIST_API uint8_t aist_feature(const char *name, size_t name_len);
/** All features of this build and machine as a JSON object of name → {"present", "detail"}.
 *  @param out  out: owned.
 *  Blocks: no. Since 0.1. */
AIST_API aist_status aist_features(aist_context *ctx, aist_bytes **out, aist_error **err);

/** Checks that the host was compiled for headers whose structs this library can read.
 *  @param api_version  AIST_API_VERSION of the host's headers.
 *  Errors: FAILED_PRECONDITION reason `base.api_version`. Blocks: no. Since 0.1. */
AIST_API aist_status aist_check_version(uint32_t api_version, aist_error **err);

/** Number of live handles in the process; 0 when all have been freed. For tests. Since 0.1. */
AIST_API uint64_t aist_debug_live_objects(void);

#ifdef __cplusplus
}
#endif

#include "aistation/accel.h"
#include "aistation/alloc.h"
#include "aistation/dataset.h"
#include "aistation/image.h"
#include "aistation/job.h"
#include "aistation/monitor.h"
#include "aistation/node.h"
#include "aistation/report.h"
#include "aistation/roce.h"
#include "aistation/security.h"
#include "aistation/store.h"
#include "aistation/topology.h"

#endif /* AISTATION_AISTATION_H_ */
