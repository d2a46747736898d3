/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file monitor.h
 * Metrics of everything that happens in a context, and events as they happen.
 */
#ifndef AISTATION_MONITOR_H_
#define AISTATION_MONITOR_H_

#include "aistation/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A subscription to events. */
typedef struct aist_monitor_events aist_monitor_events;

/** All metrics of the context in the Prometheus text format 0.0.4.
 *  @param out  out: owned. Blocks: no. Since 0.1. */
AIST_API aist_status aist_monitor_prometheus(aist_context *ctx, aist_bytes **out, aist_error **err);

/** Adds to a counter of the host's own, so that one scrape shows all.
 *  @param name    Prometheus metric name.  @param help  one sentence, used when the name is new.
 *  @param labels  `key="value",…` in Prometheus syntax, or empty.
 *  @param value   not negative.
 *  Errors: INVALID_ARGUMENT bad name or labels; FAILED_PRECONDITION the name is a gauge;
 *  RESOURCE_EXHAUSTED more than 10,000 series. Since 0.1. */
AIST_API aist_status aist_monitor_counter_add(aist_context *ctx, const char *name, size_t name_len,
                                              const char *help, size_t help_len, const char *labels,
                                              size_t labels_len, double value, aist_error **err);
/** Sets a gauge of the host's own. Parameters and errors as aist_monitor_counter_add(). Since 0.1. */
AIST_API aist_status aist_monitor_gauge_set(aist_context *ctx, const char *name, size_t name_len,
                                            const char *help, size_t help_len, const char *labels,
                                            size_t labels_len, double value, aist_error **err);

/** Subscribes to the events of a context from now on (faults, state changes, quarantines). A slow
 *  reader loses the oldest; each event has a sequence number, so a gap can be seen.
 *  @param out  out: owned. Since 0.1. */
AIST_API aist_status aist_monitor_subscribe(aist_context *ctx, aist_monitor_events **out,
                                            aist_error **err);
/** Takes the next event: JSON {seq, unix_ns, module, kind, severity, message, fields}.
 *  @param out  out: owned.
 *  Blocks: up to timeout_ns. Errors: DEADLINE_EXCEEDED reason `monitor.no_event`. Since 0.1. */
AIST_API aist_status aist_monitor_events_next(aist_monitor_events *events, int64_t timeout_ns,
                                              aist_bytes **out, aist_error **err);
/** Ends a subscription. Since 0.1. */
AIST_API void aist_monitor_events_free(aist_monitor_events *events);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_MONITOR_H_ */
