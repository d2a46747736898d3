/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file topology.h
 * How the parts of one machine are connected, and how far apart they are.
 */
#ifndef AISTATION_TOPOLOGY_H_
#define AISTATION_TOPOLOGY_H_

#include "aistation/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One machine, immutable. Thread-safe. */
typedef struct aist_topology aist_topology;

/** Where a topology is read from. */
enum {
  AIST_TOPOLOGY_UNSPECIFIED = 0, /**< Guessed from the content of the file; no path: LIVE. */
  AIST_TOPOLOGY_LIVE = 1,        /**< This machine, by sysfs. */
  AIST_TOPOLOGY_HWLOC_XML = 2,   /**< Written by `lstopo --of xml` (version 2). */
  AIST_TOPOLOGY_NCCL_XML = 3,    /**< NCCL_TOPO_DUMP_FILE or NCCL_TOPO_FILE. */
  AIST_TOPOLOGY_JSON = 4         /**< A NodeInventory document. */
};

/** Options of aist_topology_load(). */
typedef struct aist_topology_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;  /**< 0. */
  uint32_t source; /**< AIST_TOPOLOGY_*. */
  uint32_t reserved;
  aist_str path;   /**< File, for all sources but LIVE; for LIVE the root, empty: "/". */
} aist_topology_opts;
#define AIST_TOPOLOGY_OPTS_INIT { sizeof(aist_topology_opts), AIST_API_VERSION, 0, 0, 0, { NULL, 0 } }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_topology_opts_init(aist_topology_opts *opts, size_t size);

/** Distance between two devices. */
typedef struct aist_topology_distance_info {
  size_t struct_size;
  uint32_t version;
  uint32_t link;            /**< LinkClass of inventory.proto: 1 self … 7 other socket, 8 unknown. */
  uint64_t bandwidth_mbps;  /**< Of the narrowest hop; 0: unknown. */
} aist_topology_distance_info;
#define AIST_TOPOLOGY_DISTANCE_INFO_INIT { sizeof(aist_topology_distance_info), AIST_API_VERSION, 0, 0 }
/** Sets all fields to their defaults. `size`: bytes at `info`. Since 0.1. */
AIST_API void aist_topology_distance_info_init(aist_topology_distance_info *info, size_t size);

/** Reads a topology.
 *  @param out  out: owned, free with aist_topology_free().
 *  Blocks: on the disk. Errors: INVALID_ARGUMENT names file, line and what was expected;
 *  NOT_FOUND. Since 0.1. */
AIST_API aist_status aist_topology_load(aist_context *ctx, const aist_topology_opts *opts,
                                        aist_topology **out, aist_error **err);
/** Distance between two devices named by id or PCI address.
 *  Blocks: no. Errors: NOT_FOUND reason `topology.no_device`. Since 0.1. */
AIST_API aist_status aist_topology_distance(const aist_topology *topology, const char *a, size_t a_len,
                                            const char *b, size_t b_len,
                                            aist_topology_distance_info *info, aist_error **err);
/** The machine as a NodeInventory document. @param out  out: owned. Since 0.1. */
AIST_API aist_status aist_topology_describe(const aist_topology *topology, aist_format format,
                                            aist_bytes **out, aist_error **err);
/** Frees a topology. Since 0.1. */
AIST_API void aist_topology_free(aist_topology *topology);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_TOPOLOGY_H_ */
