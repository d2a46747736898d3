// SPDX-License-Identifier: Apache-2.0
// Metrics and events of one context. Everybody may emit; only report reads across.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/clock.h"
#include "util/mutex.h"
#include "util/status.h"

namespace aistation::monitor {

using Labels = std::vector<std::pair<std::string, std::string>>;  // key, value

enum class Severity { kInfo = 1, kWarning = 2, kError = 3 };

struct Event {
  uint64_t seq = 0;     // set by Emit, from 1
  int64_t unix_ns = 0;  // set by Emit
  std::string module;   // "job"
  std::string kind;     // "fault", "state", "quarantine"
  Severity severity = Severity::kInfo;
  std::string message;
  Labels fields;
};
std::string EventToJson(const Event& event);

// A reader's queue of at most 1,024 events; the oldest are dropped. Thread-safe.
class Subscription {
 public:
  ~Subscription();
  // DEADLINE_EXCEEDED `monitor.no_event` when `timeout_ns` (negative: for ever) passes first.
  absl::StatusOr<Event> Next(int64_t timeout_ns);

 private:
  friend class Registry;
  struct State;
  std::shared_ptr<State> state_;
};

// Thread-safe. At most 10,000 series (RESOURCE_EXHAUSTED `monitor.too_many_series`).
class Registry {
 public:
  explicit Registry(util::Clock& clock = util::RealClock());
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Counters end in _total by convention; `value` must not be negative.
  absl::Status CounterAdd(std::string_view name, std::string_view help, const Labels& labels,
                          double value);
  absl::Status GaugeSet(std::string_view name, std::string_view help, const Labels& labels,
                        double value);
  // Prometheus text format 0.0.4, sorted by name and labels.
  std::string Prometheus() const;

  void Emit(Event event);
  std::shared_ptr<Subscription> Subscribe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aistation::monitor
