/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file report.h
 * What happened, for people and for machines.
 */
#ifndef AISTATION_REPORT_H_
#define AISTATION_REPORT_H_

#include "aistation/base.h"
#include "aistation/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of a report. */
enum {
  AIST_REPORT_UNSPECIFIED = 0,
  AIST_REPORT_HTML = 1,    /**< One self-contained page with pictures (inline SVG). */
  AIST_REPORT_JSON = 2,    /**< Report message as JSON. */
  AIST_REPORT_CSV = 3,     /**< Use by department, RFC 4180. */
  AIST_REPORT_PROTOBUF = 4 /**< Report message. */
};

/** Options of aist_report_build(). */
typedef struct aist_report_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;         /**< 0. */
  uint32_t kind;          /**< AIST_REPORT_*; 0: HTML. */
  uint32_t reserved;      /**< 0. */
  int64_t from_unix_ns;   /**< 0: from the beginning. */
  int64_t to_unix_ns;     /**< 0: until now. */
  aist_str title;         /**< Heading of the page; empty: "aistation report". */
  aist_str job;           /**< Only this job; empty: all. */
} aist_report_opts;
#define AIST_REPORT_OPTS_INIT \
  { sizeof(aist_report_opts), AIST_API_VERSION, 0, 0, 0, 0, 0, { NULL, 0 }, { NULL, 0 } }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_report_opts_init(aist_report_opts *opts, size_t size);

/** Builds a report from what the store holds: job timelines, cards by node, transfer, probe matrix,
 *  use by department.
 *  @param out  out: owned. Blocks: on the disk. Since 0.1. */
AIST_API aist_status aist_report_build(aist_context *ctx, aist_store *store,
                                       const aist_report_opts *opts, aist_bytes **out,
                                       aist_error **err);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_REPORT_H_ */
