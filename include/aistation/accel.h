/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file accel.h
 * Accelerator cards: a catalogue that is data, and what this machine has.
 */
#ifndef AISTATION_ACCEL_H_
#define AISTATION_ACCEL_H_

#include "aistation/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Models that can be recognised. Immutable, thread-safe. */
typedef struct aist_catalogue aist_catalogue;

/** Loads a catalogue: all `*.jsonc` files of a directory, or one file (JSON with comments).
 *  @param path  empty: the catalogue installed with the library.
 *  @param out   out: owned, free with aist_catalogue_free().
 *  Blocks: on the disk. Errors: INVALID_ARGUMENT names file, line or field and what was expected;
 *  ALREADY_EXISTS two models have the same keys. Since 0.1. */
AIST_API aist_status aist_catalogue_load(aist_context *ctx, const char *path, size_t path_len,
                                         aist_catalogue **out, aist_error **err);
/** Number of models. Since 0.1. */
AIST_API size_t aist_catalogue_count(const aist_catalogue *catalogue);
/** The whole catalogue as JSON. @param out  out: owned. Since 0.1. */
AIST_API aist_status aist_catalogue_describe(const aist_catalogue *catalogue, aist_bytes **out,
                                             aist_error **err);
/** Frees a catalogue. Since 0.1. */
AIST_API void aist_catalogue_free(aist_catalogue *catalogue);

/** Options of aist_accel_discover(). */
typedef struct aist_discover_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;                  /**< 0. */
  aist_str root;                   /**< Directory that holds `sys`, `proc` and `dev`; empty: "/". */
  const aist_catalogue *catalogue; /**< NULL: the installed one. */
} aist_discover_opts;
#define AIST_DISCOVER_OPTS_INIT \
  { sizeof(aist_discover_opts), AIST_API_VERSION, 0, { NULL, 0 }, NULL }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_discover_opts_init(aist_discover_opts *opts, size_t size);

/** Finds cards, NICs, NUMA nodes and distances of a machine through sysfs. Finding no card is no error.
 *  @param opts  may be NULL.
 *  @param out   out: NodeInventory document, owned.
 *  Blocks: reads files, well under a second. Errors: NOT_FOUND root has no `sys/bus/pci`; DATA_LOSS a
 *  file has a form that cannot be true. Since 0.1. */
AIST_API aist_status aist_accel_discover(aist_context *ctx, const aist_discover_opts *opts,
                                         aist_format format, aist_bytes **out, aist_error **err);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_ACCEL_H_ */
