/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file base.h
 * Status codes, the error object, strings, byte buffers and the root handle.
 *
 * Conventions that hold for every function of this library, unless its comment says otherwise:
 *  - Handles are pointers to distinct incomplete structs. `aist_X_free(NULL)` does nothing; handles may
 *    be freed in any order, because a child keeps alive what it needs. Free a handle once.
 *  - A fallible function returns #aist_status and takes `aist_error **err` last. `err` may be NULL.
 *    On failure `*err` is set (free it with aist_error_free()); on success it is left alone.
 *    Outputs are written only on success.
 *  - Functions may be called from any thread. A handle may be used by several threads at once; only
 *    its free must not overlap another use of the same handle.
 *  - In a forked child every fallible call fails with AIST_FAILED_PRECONDITION (reason
 *    `base.forked_child`); frees are allowed and release what they safely can. Readers of datasets are
 *    the exception: see dataset.h.
 *  - Input strings are UTF-8 pointer + length; a length of #AIST_NUL_TERMINATED means strlen().
 *    Output strings carry their length and are NUL-terminated too.
 *  - Names carry units: `_bytes`, `_ns`, `_mbps` (10^6 bit/s).
 *  - Structs that may grow start with `struct_size` and `version`; set them with AIST_X_INIT or
 *    aist_x_init(). An unknown, non-zero tail is an error, not ignored.
 *  - Enum value 0 means "unspecified"; expect values that you do not know.
 *  - Nothing is written to stdout or stderr, no signal handler is installed, and nothing of the
 *    process (locale, directory, umask, environment, affinity) is changed.
 */
#ifndef AISTATION_BASE_H_
#define AISTATION_BASE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AIST_API __attribute__((visibility("default")))
#else
#define AIST_API
#endif

/** Version of the interface that this header describes: major << 16 | minor. */
#define AIST_API_VERSION 0x00000001u
#define AIST_VERSION_MAJOR 0
#define AIST_VERSION_MINOR 1
#define AIST_VERSION_PATCH 0

/** As a length: the string ends at its NUL byte. */
#define AIST_NUL_TERMINATED ((size_t)-1)

/** Result of a fallible call: Abseil's canonical codes. Values unknown to you mean AIST_UNKNOWN. */
typedef int32_t aist_status;
enum {
  AIST_OK = 0,
  AIST_CANCELLED = 1,
  AIST_UNKNOWN = 2,
  AIST_INVALID_ARGUMENT = 3,
  AIST_DEADLINE_EXCEEDED = 4,
  AIST_NOT_FOUND = 5,
  AIST_ALREADY_EXISTS = 6,
  AIST_PERMISSION_DENIED = 7,
  AIST_RESOURCE_EXHAUSTED = 8,
  AIST_FAILED_PRECONDITION = 9,
  AIST_ABORTED = 10,
  AIST_OUT_OF_RANGE = 11,
  AIST_UNIMPLEMENTED = 12,
  AIST_INTERNAL = 13,
  AIST_UNAVAILABLE = 14,
  AIST_DATA_LOSS = 15,
  AIST_UNAUTHENTICATED = 16
};

/** What an error has spoilt (blast radius). */
enum {
  AIST_SCOPE_UNSPECIFIED = 0,
  AIST_SCOPE_OPERATION = 1, /**< This call only; the handle is as before. */
  AIST_SCOPE_HANDLE = 2,    /**< The handle should be closed and made anew. */
  AIST_SCOPE_CONTEXT = 3    /**< The whole context should be closed. */
};

/** How a document crosses the interface. */
typedef uint32_t aist_format;
enum {
  AIST_FORMAT_UNSPECIFIED = 0, /**< Same as JSON. */
  AIST_FORMAT_PROTOBUF = 1,    /**< A message of package aistation.v1 (see include/aistation/v1). */
  AIST_FORMAT_JSON = 2         /**< The same message as JSON, field names as in the .proto file. */
};

/** Root of everything. */
typedef struct aist_context aist_context;
/** What went wrong, where, and what to do. */
typedef struct aist_error aist_error;
/** An owned, immutable buffer. */
typedef struct aist_bytes aist_bytes;
/** A running or finished long operation, see op.h. */
typedef struct aist_op aist_op;

/** A borrowed string inside a struct: UTF-8; `data` may be NULL when `size` is 0. */
typedef struct aist_str {
  const char *data;
  size_t size; /**< Bytes, or #AIST_NUL_TERMINATED on input. */
} aist_str;

/** Status code of an error. Returns AIST_OK for NULL. Blocks: no. Since 0.1. */
AIST_API aist_status aist_error_code(const aist_error *err);
/** Stable machine-readable reason, for example `store.revision_mismatch`; "" for NULL. Lives as long
 *  as `err`. Blocks: no. Since 0.1. */
AIST_API const char *aist_error_reason(const aist_error *err);
/** Sentence for a person: the thing, the place, what to do; "" for NULL. Lives as long as `err`.
 *  Blocks: no. Since 0.1. */
AIST_API const char *aist_error_message(const aist_error *err);
/** 1 if the same call may succeed later without any change, else 0. Blocks: no. Since 0.1. */
AIST_API uint8_t aist_error_retryable(const aist_error *err);
/** What the error has spoilt: AIST_SCOPE_*. Blocks: no. Since 0.1. */
AIST_API uint32_t aist_error_scope(const aist_error *err);
/** errno of the system call behind the error, 0 if none. Blocks: no. Since 0.1. */
AIST_API int32_t aist_error_errno(const aist_error *err);
/** The error that caused this one, or NULL. Borrowed from `err`. Blocks: no. Since 0.1. */
AIST_API const aist_error *aist_error_cause(const aist_error *err);
/** Frees an error and its causes. Blocks: no. Since 0.1. */
AIST_API void aist_error_free(aist_error *err);

/** Upper-case name of a status code ("NOT_FOUND"); "UNKNOWN" for a code not known. Static. Since 0.1. */
AIST_API const char *aist_status_name(aist_status status);

/** First byte of a buffer, followed by a NUL that is not counted. Lives as long as `bytes`.
 *  Blocks: no. Since 0.1. */
AIST_API const void *aist_bytes_data(const aist_bytes *bytes);
/** Size of a buffer in bytes; 0 for NULL. Blocks: no. Since 0.1. */
AIST_API size_t aist_bytes_size(const aist_bytes *bytes);
/** Frees a buffer. Blocks: no. Since 0.1. */
AIST_API void aist_bytes_free(aist_bytes *bytes);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_BASE_H_ */
