/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file node.h
 * One node of the centre: its blob store, its peer server and its services.
 */
#ifndef AISTATION_NODE_H_
#define AISTATION_NODE_H_

#include "aistation/base.h"
#include "aistation/op.h"
#include "aistation/security.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A node. Thread-safe. */
typedef struct aist_node aist_node;

/** Options of aist_node_start(). */
typedef struct aist_node_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;              /**< AIST_NODE_*. */
  aist_str name;               /**< Name of the node; must be a SAN of the certificate. Required. */
  aist_str data_directory;     /**< Blobs, datasets, work directories. One node at a time. Required. */
  aist_str listen_address;     /**< For peers, default "127.0.0.1". */
  aist_tls *tls;               /**< Identity, for both directions. Required. */
  aist_str mirror_address;     /**< Plain HTTP mirror for the container runtime; loopback only unless
                                    AIST_NODE_MIRROR_ANY; empty: no mirror. */
  aist_str kernel_log;         /**< File or device watched for faults; empty: none. */
  aist_str registry_config;    /**< JSON with comments: per registry host ca_file, auth, plain_http;
                                    empty: system trust, no credentials. */
  aist_str inventory;          /**< NodeInventory as JSON; empty: discover. */
  uint64_t store_limit_bytes;  /**< Blobs beyond this are evicted, oldest use first; 0: no limit. */
  uint64_t source_rate_mbps;   /**< Most that is read from registries and storage; 0: no limit. */
  uint64_t peer_rate_mbps;     /**< Most that is sent to peers; 0: no limit. */
  uint32_t chunk_bytes;        /**< Unit of exchange between nodes, 64 KiB to 64 MiB; 0: 4 MiB. */
  uint16_t port;               /**< For peers; 0: any free one. */
  uint16_t mirror_port;        /**< 0: any free one. */
} aist_node_opts;
/** Lets this node run processes for jobs (a command sent by an authenticated member). */
#define AIST_NODE_ALLOW_LAUNCH 1u
/** Lets the mirror listen on addresses other than loopback. */
#define AIST_NODE_MIRROR_ANY 2u
#define AIST_NODE_OPTS_INIT                                                                        \
  {                                                                                                \
    sizeof(aist_node_opts), AIST_API_VERSION, 0, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, NULL,       \
        { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, 0, 0, 0, 0, 0, 0                        \
  }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_node_opts_init(aist_node_opts *opts, size_t size);

/** Starts a node: recovers its data directory and listens.
 *  @param out  out: owned, free with aist_node_free().
 *  Blocks: on the disk. Errors: INVALID_ARGUMENT bad option; FAILED_PRECONDITION reason
 *  `node.directory_in_use`: another process runs there, or `node.not_loopback`; UNAVAILABLE reason
 *  `net.listen`: address in use. Since 0.1. */
AIST_API aist_status aist_node_start(aist_context *ctx, const aist_node_opts *opts, aist_node **out,
                                     aist_error **err);
/** Port on which the node listens for peers. Since 0.1. */
AIST_API uint16_t aist_node_port(const aist_node *node);
/** Port of the mirror, 0 if none. Since 0.1. */
AIST_API uint16_t aist_node_mirror_port(const aist_node *node);
/** What the node holds and has moved. @param out  out: NodeStatus document, owned. Since 0.1. */
AIST_API aist_status aist_node_describe(aist_node *node, aist_format format, aist_bytes **out,
                                        aist_error **err);
/** Asks another node for its status over mutual TLS.
 *  @param op  out: owned; result: NodeStatus. Since 0.1. */
AIST_API aist_status aist_node_query(aist_context *ctx, aist_tls *tls, const char *address,
                                     size_t address_len, uint16_t port, aist_op **op,
                                     aist_error **err);
/** Stops listening, cancels transfers, ends the node's processes, and frees the handle. Committed
 *  data stay. Blocks: until its threads have ended, at most 10 s. Since 0.1. */
AIST_API void aist_node_free(aist_node *node);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_NODE_H_ */
