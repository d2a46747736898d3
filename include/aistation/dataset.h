/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dataset.h
 * Datasets: read from storage once for all nodes, then from the local disk.
 */
#ifndef AISTATION_DATASET_H_
#define AISTATION_DATASET_H_

#include "aistation/base.h"
#include "aistation/node.h"
#include "aistation/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A cached dataset, open for reading. Works in any process that may read its directory, also in a
 *  forked child: the functions that take it touch no thread and no lock of the library. */
typedef struct aist_dataset aist_dataset;

/** Options of aist_dataset_index(). */
typedef struct aist_dataset_index_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;        /**< 0. */
  aist_str name;         /**< Name of the dataset: letters, digits, '.', '_', '-'. Required. */
  aist_str source;       /**< http(s)://…/ with a directory listing (HTML or nginx JSON), or a
                              directory as file:///… or path. Required. */
  uint64_t chunk_bytes;  /**< Unit of reading and exchange, 64 KiB to 64 MiB; 0: 4 MiB. */
  uint64_t max_files;    /**< More is an error; 0: 10 million. */
  aist_str ca_file;      /**< For https; empty: system trust. */
} aist_dataset_index_opts;
#define AIST_DATASET_INDEX_OPTS_INIT                                                            \
  {                                                                                             \
    sizeof(aist_dataset_index_opts), AIST_API_VERSION, 0, { NULL, 0 }, { NULL, 0 }, 0, 0, { NULL, 0 } \
  }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_dataset_index_opts_init(aist_dataset_index_opts *opts, size_t size);

/** Lists a source and makes the manifest of this version. Reads names and sizes, no content.
 *  @param op  out: owned; result: DatasetManifest.
 *  Errors (of the operation): INVALID_ARGUMENT bad source or listing; NOT_FOUND; UNAVAILABLE;
 *  RESOURCE_EXHAUSTED too many files. Since 0.1. */
AIST_API aist_status aist_dataset_index(aist_context *ctx, const aist_dataset_index_opts *opts,
                                        aist_op **op, aist_error **err);
/** Fills this node's cache, together with the other members, who must be told the same request.
 *  @param request  DatasetCacheRequest document in `format`.
 *  @param op       out: owned; progress in bytes; result: DatasetResult.
 *  Errors (of the operation): ABORTED reason `dataset.source_changed`; RESOURCE_EXHAUSTED disk full
 *  and nothing may be evicted; UNAVAILABLE. Since 0.1. */
AIST_API aist_status aist_dataset_cache(aist_node *node, aist_format format, const void *request,
                                        size_t request_size, aist_op **op, aist_error **err);
/** Has all members of a request cache it: sends the request to each, waits for all.
 *  @param op  out: owned; result: Attempt with `datasets` in the order of the members. Since 0.1. */
AIST_API aist_status aist_dataset_distribute(aist_context *ctx, aist_tls *tls, aist_format format,
                                             const void *request, size_t request_size, aist_op **op,
                                             aist_error **err);
/** Datasets on this node. @param out  out: DatasetList document, owned. Since 0.1. */
AIST_API aist_status aist_dataset_list(aist_node *node, aist_format format, aist_bytes **out,
                                       aist_error **err);
/** Keeps a dataset from being evicted (on = 1) or allows it again (on = 0). Errors: NOT_FOUND.
 *  Since 0.1. */
AIST_API aist_status aist_dataset_pin(aist_node *node, const char *name, size_t name_len, uint8_t on,
                                      aist_error **err);
/** Evicts unpinned datasets, least recently used first, until at most `target_bytes` are cached.
 *  @param freed_bytes  out; may be NULL. Datasets open in any process are kept. Since 0.1. */
AIST_API aist_status aist_dataset_evict(aist_node *node, uint64_t target_bytes, uint64_t *freed_bytes,
                                        aist_error **err);

/** Opens a cached dataset. Needs no context and starts no thread, so workers forked later may use it.
 *  @param path  DatasetResult.path.
 *  @param out   out: owned, free with aist_dataset_free().
 *  Errors: NOT_FOUND; DATA_LOSS reason `dataset.index`: the index does not have its digest.
 *  Since 0.1. */
AIST_API aist_status aist_dataset_open(const char *path, size_t path_len, aist_dataset **out,
                                       aist_error **err);
/** Number of files. Since 0.1. */
AIST_API uint64_t aist_dataset_count(const aist_dataset *dataset);
/** Sum of all sizes in bytes. Since 0.1. */
AIST_API uint64_t aist_dataset_bytes(const aist_dataset *dataset);
/** Path and size of a file.
 *  @param index  0 to count - 1, in order of path.
 *  @param path   out: lives as long as the dataset; may be NULL.  @param size_bytes  out; may be NULL.
 *  Errors: OUT_OF_RANGE. Blocks: no. Since 0.1. */
AIST_API aist_status aist_dataset_stat(const aist_dataset *dataset, uint64_t index, aist_str *path,
                                       uint64_t *size_bytes, aist_error **err);
/** Index of a path. Errors: NOT_FOUND. Blocks: no. Since 0.1. */
AIST_API aist_status aist_dataset_find(const aist_dataset *dataset, const char *path, size_t path_len,
                                       uint64_t *index, aist_error **err);
/** Reads part of a file into the caller's memory, from the local disk.
 *  @param offset     bytes from the start of the file.
 *  @param read_size  out: bytes read; less than `size` only at the end of the file.
 *  Blocks: on the disk. Errors: OUT_OF_RANGE; DATA_LOSS reason `dataset.chunk`: the chunk on disk does
 *  not have its digest. Since 0.1. */
AIST_API aist_status aist_dataset_read(const aist_dataset *dataset, uint64_t index, uint64_t offset,
                                       void *buffer, size_t size, size_t *read_size, aist_error **err);
/** Closes a dataset. Since 0.1. */
AIST_API void aist_dataset_free(aist_dataset *dataset);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_DATASET_H_ */
