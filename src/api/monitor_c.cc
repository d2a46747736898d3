// SPDX-License-Identifier: Apache-2.0
// include/aistation/monitor.h
#include "aistation/monitor.h"

#include "api/handle.h"
#include "monitor/labels.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
namespace monitor = aistation::monitor;

struct aist_monitor_events : aistation::api::Handle<monitor::Subscription> {
  using Handle::Handle;
};

extern "C" {

aist_status aist_monitor_prometheus(aist_context* ctx, aist_bytes** out, aist_error** err) {
  return Guard("aist_monitor_prometheus", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_monitor_prometheus", ctx);
    AIST_REQUIRE("aist_monitor_prometheus", out);
    *out = aistation::api::MakeBytes(ctx->core, ctx->core->metrics.Prometheus());
    return absl::OkStatus();
  });
}

aist_status aist_monitor_counter_add(aist_context* ctx, const char* name, size_t name_len,
                                     const char* help, size_t help_len, const char* labels,
                                     size_t labels_len, double value, aist_error** err) {
  constexpr const char* kFunction = "aist_monitor_counter_add";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_TEXT(kFunction, n, name, name_len);
    AIST_TEXT(kFunction, h, help, help_len);
    AIST_TEXT(kFunction, l, labels, labels_len);
    AIST_ASSIGN_OR_RETURN(const auto parsed, monitor::ParseLabels(l));
    return ctx->core->metrics.CounterAdd(n, h, parsed, value);
  });
}

aist_status aist_monitor_gauge_set(aist_context* ctx, const char* name, size_t name_len,
                                   const char* help, size_t help_len, const char* labels,
                                   size_t labels_len, double value, aist_error** err) {
  constexpr const char* kFunction = "aist_monitor_gauge_set";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_TEXT(kFunction, n, name, name_len);
    AIST_TEXT(kFunction, h, help, help_len);
    AIST_TEXT(kFunction, l, labels, labels_len);
    AIST_ASSIGN_OR_RETURN(const auto parsed, monitor::ParseLabels(l));
    return ctx->core->metrics.GaugeSet(n, h, parsed, value);
  });
}

aist_status aist_monitor_subscribe(aist_context* ctx, aist_monitor_events** out, aist_error** err) {
  return Guard("aist_monitor_subscribe", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_monitor_subscribe", ctx);
    AIST_REQUIRE("aist_monitor_subscribe", out);
    *out = new aist_monitor_events(ctx->core, ctx->core->metrics.Subscribe());
    return absl::OkStatus();
  });
}

aist_status aist_monitor_events_next(aist_monitor_events* events, int64_t timeout_ns,
                                     aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_monitor_events_next";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, events);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto event, events->object->Next(timeout_ns));
    *out = aistation::api::MakeBytes(events->core, monitor::EventToJson(event));
    return absl::OkStatus();
  });
}

void aist_monitor_events_free(aist_monitor_events* events) {
  if (events == nullptr) return;
  GuardFree("aist_monitor_events_free", [&] { delete events; });
}

}  // extern "C"
