/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file roce.h
 * RDMA NICs: which one for which card, the environment of a job, and proof that it reaches.
 */
#ifndef AISTATION_ROCE_H_
#define AISTATION_ROCE_H_

#include "aistation/base.h"
#include "aistation/op.h"
#include "aistation/security.h"
#include "aistation/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Lists the RDMA NICs and GIDs of a machine from sysfs; network devices on PCI without RDMA are
 *  listed too, with an empty GID table.
 *  @param root  directory that holds `sys`; empty: "/".
 *  @param out   out: NicList document, owned. Finding none is no error. Since 0.1. */
AIST_API aist_status aist_roce_list(aist_context *ctx, const char *root, size_t root_len,
                                    aist_format format, aist_bytes **out, aist_error **err);
/** The best NIC for each card of a machine: nearest first, then balanced, then fastest.
 *  @param out  out: NicChoices document, owned. Since 0.1. */
AIST_API aist_status aist_roce_choose(const aist_topology *topology, aist_format format,
                                      aist_bytes **out, aist_error **err);
/** Environment for each rank of a placement (NCCL_IB_HCA with "=", GID index, interface), with the
 *  reason for each variable.
 *  @param placement  Placement document in `format`.
 *  @param out        out: JobEnvironment document, owned. Since 0.1. */
AIST_API aist_status aist_roce_environment(aist_context *ctx, aist_format format,
                                           const void *placement, size_t placement_size,
                                           aist_bytes **out, aist_error **err);
/** Proves that every end point reaches every other: asks each node, over mutual TLS, to connect from
 *  each of its NIC addresses to each other one. Uses TCP and UDP where verbs are absent; the result
 *  says what was done.
 *  @param request  ProbeRequest document in `format`.
 *  @param op       out: owned; progress in pairs; result: ProbeMatrix. A pair that does not reach is
 *                  a result, not an error.
 *  Errors (of the operation): UNAVAILABLE an agent cannot be asked. Since 0.1. */
AIST_API aist_status aist_roce_probe(aist_context *ctx, aist_tls *tls, aist_format format,
                                     const void *request, size_t request_size, aist_op **op,
                                     aist_error **err);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_ROCE_H_ */
