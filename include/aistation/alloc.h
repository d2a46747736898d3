/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file alloc.h
 * Which cards, NICs and nodes a job gets, and why.
 */
#ifndef AISTATION_ALLOC_H_
#define AISTATION_ALLOC_H_

#include "aistation/base.h"
#include "aistation/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Cards of a cluster and who holds them. Thread-safe. */
typedef struct aist_allocator_state aist_allocator_state;

/** Opens the ledger of a cluster.
 *  @param store      grants are kept here under "alloc/"; several processes may use one store.
 *  @param inventory  Inventory document in `format`; replaces what the store knew of the machines,
 *                    grants stay. Empty: take the inventory that the store holds.
 *  @param out        out: owned, free with aist_alloc_free().
 *  Errors: INVALID_ARGUMENT names the field; ALREADY_EXISTS a node or card id occurs twice;
 *  NOT_FOUND no inventory given and none stored. Since 0.1. */
AIST_API aist_status aist_alloc_open(aist_context *ctx, aist_store *store, aist_format format,
                                     const void *inventory, size_t inventory_size,
                                     aist_allocator_state **out, aist_error **err);
/** Says what a request would get, without taking it.
 *  @param request  PlacementRequest document in `format`.
 *  @param out      out: Placement document; `refusal` is set when it does not fit. Owned.
 *  Blocks: no. Errors: INVALID_ARGUMENT names the field. Since 0.1. */
AIST_API aist_status aist_alloc_plan(aist_allocator_state *alloc, aist_format format,
                                     const void *request, size_t request_size, aist_bytes **out,
                                     aist_error **err);
/** Takes the cards, all or none, durably before it returns. The same request id again returns the
 *  same grant.
 *  @param out  out: Placement document with its grant id, owned.
 *  Errors: RESOURCE_EXHAUSTED reason `alloc.<constraint>`: the message is the explanation, and
 *  aist_alloc_plan() gives it structured. Blocks: on the disk. Since 0.1. */
AIST_API aist_status aist_alloc_allocate(aist_allocator_state *alloc, aist_format format,
                                         const void *request, size_t request_size, aist_bytes **out,
                                         aist_error **err);
/** Gives the cards of a grant back. Giving back twice is no error. Errors: NOT_FOUND reason
 *  `alloc.no_grant`: never granted. Since 0.1. */
AIST_API aist_status aist_alloc_release(aist_allocator_state *alloc, const char *grant_id,
                                        size_t grant_id_len, aist_error **err);
/** Keeps a node, or one card of it, from being handed out (on = 1), or allows it again (on = 0).
 *  Running jobs are left alone.
 *  @param card_id  empty: the whole node.  @param why  kept and shown in refusals. Since 0.1. */
AIST_API aist_status aist_alloc_cordon(aist_allocator_state *alloc, const char *node, size_t node_len,
                                       const char *card_id, size_t card_id_len, uint8_t on,
                                       const char *why, size_t why_len, aist_error **err);
/** The ledger. @param out  out: AllocationState document, owned. Since 0.1. */
AIST_API aist_status aist_alloc_describe(aist_allocator_state *alloc, aist_format format,
                                         aist_bytes **out, aist_error **err);
/** Frees the handle; grants stay in the store. Since 0.1. */
AIST_API void aist_alloc_free(aist_allocator_state *alloc);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_ALLOC_H_ */
