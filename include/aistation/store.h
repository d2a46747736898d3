/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file store.h
 * Durable state: keys with revisions, watches, leases, and a hash-chained audit log.
 */
#ifndef AISTATION_STORE_H_
#define AISTATION_STORE_H_

#include "aistation/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A store. Thread-safe. */
typedef struct aist_store aist_store;
/** A subscription to changes of a range of keys. */
typedef struct aist_store_watch aist_store_watch;

/** Where a store keeps its data. */
enum {
  AIST_STORE_UNSPECIFIED = 0,
  AIST_STORE_MEMORY = 1, /**< Lost with the handle. */
  AIST_STORE_SQLITE = 2  /**< One file; several processes of one machine may share it. */
};

/** Options of aist_store_open(). */
typedef struct aist_store_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;     /**< 0. */
  uint32_t kind;      /**< AIST_STORE_*; 0: SQLITE if `path` is set, else MEMORY. */
  uint32_t reserved;  /**< 0. */
  aist_str path;      /**< File of the SQLite back-end; made with mode 0600 if absent. */
} aist_store_opts;
#define AIST_STORE_OPTS_INIT { sizeof(aist_store_opts), AIST_API_VERSION, 0, 0, 0, { NULL, 0 } }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_store_opts_init(aist_store_opts *opts, size_t size);

/** Opens a store.
 *  @param out  out: owned, free with aist_store_free().
 *  Blocks: on the disk. Errors: INVALID_ARGUMENT bad option; FAILED_PRECONDITION reason
 *  `store.format`: the file is not a store or of a newer format; UNAVAILABLE: cannot be opened.
 *  Since 0.1. */
AIST_API aist_status aist_store_open(aist_context *ctx, const aist_store_opts *opts, aist_store **out,
                                     aist_error **err);
/** Closes a store. Since 0.1. */
AIST_API void aist_store_free(aist_store *store);

/** Reads one key.
 *  @param key       1 to 1024 bytes.
 *  @param value     out: owned; may be NULL.
 *  @param revision  out: revision of the last change of the key; may be NULL.
 *  Blocks: on the disk. Errors: NOT_FOUND reason `store.no_key`. Since 0.1. */
AIST_API aist_status aist_store_get(aist_store *store, const char *key, size_t key_len,
                                    aist_bytes **value, int64_t *revision, aist_error **err);

/** Writes one key, whatever is there.
 *  @param value_size  at most 8 MiB.
 *  @param lease       from aist_store_lease_grant(): the key goes with the lease; 0: none.
 *  @param revision    out: revision of this write; may be NULL.
 *  Durable when it returns (SQLite). Blocks: on the disk. Errors: NOT_FOUND reason `store.no_lease`.
 *  Since 0.1. */
AIST_API aist_status aist_store_put(aist_store *store, const char *key, size_t key_len,
                                    const void *value, size_t value_size, int64_t lease,
                                    int64_t *revision, aist_error **err);

/** Writes one key only if nobody has changed it.
 *  @param expected  revision the key must have; 0: the key must not exist.
 *  Errors: ABORTED reason `store.revision_mismatch`: read again and decide again. Otherwise as
 *  aist_store_put(). Since 0.1. */
AIST_API aist_status aist_store_cas(aist_store *store, const char *key, size_t key_len,
                                    int64_t expected, const void *value, size_t value_size,
                                    int64_t *revision, aist_error **err);

/** Deletes one key.
 *  @param expected  revision the key must have; 0: any.
 *  Errors: NOT_FOUND; ABORTED reason `store.revision_mismatch`. Blocks: on the disk. Since 0.1. */
AIST_API aist_status aist_store_delete(aist_store *store, const char *key, size_t key_len,
                                       int64_t expected, aist_error **err);

/** Reads all keys with a prefix, sorted by key.
 *  @param limit  most entries; 0: 10,000. The answer says if there are more.
 *  @param out    out: document {entries: [StoreEntry], revision, more}, owned.
 *  Blocks: on the disk. Since 0.1. */
AIST_API aist_status aist_store_range(aist_store *store, const char *prefix, size_t prefix_len,
                                      uint32_t limit, aist_format format, aist_bytes **out,
                                      aist_error **err);

/** Makes a lease: keys put under it vanish when it is not kept alive.
 *  @param ttl_ns  life without keep-alive, 10 ms to 24 h.
 *  @param lease   out: its id, greater than 0.
 *  Since 0.1. */
AIST_API aist_status aist_store_lease_grant(aist_store *store, int64_t ttl_ns, int64_t *lease,
                                            aist_error **err);
/** Starts the life of a lease anew. Errors: NOT_FOUND reason `store.no_lease`: it has expired and its
 *  keys are gone. Since 0.1. */
AIST_API aist_status aist_store_lease_keep_alive(aist_store *store, int64_t lease, aist_error **err);
/** Ends a lease and deletes its keys. Errors: NOT_FOUND. Since 0.1. */
AIST_API aist_status aist_store_lease_revoke(aist_store *store, int64_t lease, aist_error **err);

/** Watches all keys with a prefix.
 *  @param after_revision  events after this revision are delivered, also past ones still kept;
 *                         0: from now on.
 *  @param out             out: owned.
 *  Errors: OUT_OF_RANGE reason `store.compacted`: events that old are gone; read the range, then
 *  watch from its revision. Since 0.1. */
AIST_API aist_status aist_store_watch_create(aist_store *store, const char *prefix, size_t prefix_len,
                                             int64_t after_revision, aist_store_watch **out,
                                             aist_error **err);
/** Takes the next event.
 *  @param out  out: one StoreEvent document, owned.
 *  Blocks: up to timeout_ns. Errors: DEADLINE_EXCEEDED reason `store.no_event`; OUT_OF_RANGE reason
 *  `store.compacted`: the watcher was too slow. Since 0.1. */
AIST_API aist_status aist_store_watch_next(aist_store_watch *watch, int64_t timeout_ns,
                                           aist_format format, aist_bytes **out, aist_error **err);
/** Ends a watch. Since 0.1. */
AIST_API void aist_store_watch_free(aist_store_watch *watch);

/** Appends to the audit log of a store. Each entry carries the SHA-256 of the one before it.
 *  @param detail  JSON object, or empty.
 *  @param seq     out: number of the entry, from 1; may be NULL.
 *  Durable when it returns. Errors: INVALID_ARGUMENT detail is no JSON object. Since 0.1. */
AIST_API aist_status aist_audit_append(aist_store *store, const char *actor, size_t actor_len,
                                       const char *action, size_t action_len, const char *object,
                                       size_t object_len, const char *detail, size_t detail_len,
                                       uint64_t *seq, aist_error **err);
/** Reads audit entries.
 *  @param first  first number wanted, from 1.  @param limit  most entries, 0: 1,000.
 *  @param out    out: AuditLog document, owned. Since 0.1. */
AIST_API aist_status aist_audit_read(aist_store *store, uint64_t first, uint32_t limit,
                                     aist_format format, aist_bytes **out, aist_error **err);
/** Recomputes the hash chain of the audit log.
 *  @param out  out: AuditVerification document, owned; `ok` false names the first bad entry.
 *  Blocks: reads the whole log. Since 0.1. */
AIST_API aist_status aist_audit_verify(aist_store *store, aist_format format, aist_bytes **out,
                                       aist_error **err);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_STORE_H_ */
