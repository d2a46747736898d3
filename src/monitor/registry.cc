// SPDX-License-Identifier: Apache-2.0
#include "monitor/registry.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "util/json_writer.h"
#include "util/strings.h"

namespace aistation::monitor {
namespace {

constexpr size_t kMaxSeries = 10'000;
constexpr size_t kMaxQueue = 1024;
constexpr size_t kMaxLabelValue = 1024;

enum class Kind { kCounter, kGauge };

struct Family {
  Kind kind = Kind::kCounter;
  std::string help;
  std::map<std::string, double> series;  // by rendered labels
};

bool IsName(std::string_view name, bool colon) {
  if (name.empty() || name.size() > 200) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
    if (!letter && !(i > 0 && c >= '0' && c <= '9')) return false;
  }
  return true;
}

std::string Escape(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (quotes && c == '"') {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

absl::StatusOr<std::string> RenderLabels(const Labels& labels) {
  Labels sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  std::string out;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [key, value] = sorted[i];
    if (!IsName(key, false) || key.substr(0, 2) == "__") {
      return util::InvalidArgument("monitor.label",
                                   util::StrCat("label \"", util::Excerpt(key),
                                                "\": expected letters, digits and '_', not "
                                                "starting with a digit or \"__\""));
    }
    if (i > 0 && sorted[i - 1].first == key) {
      return util::InvalidArgument("monitor.label", util::StrCat("label ", key, " is given twice"));
    }
    if (value.size() > kMaxLabelValue) {
      return util::InvalidArgument("monitor.label",
                                   util::StrCat("label ", key, ": its value has ", value.size(),
                                                " bytes, expected at most ", kMaxLabelValue));
    }
    util::StrAppend(&out, i == 0 ? "" : ",", key, "=\"", Escape(util::ToValidUtf8(value), true),
                    "\"");
  }
  return out;
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return util::StrCat(value);
}

}  // namespace

struct Subscription::State {
  util::Mutex mutex;
  util::CondVar changed;
  std::deque<Event> queue AIST_GUARDED_BY(mutex);
};

struct Registry::State {
  explicit State(util::Clock& c) : clock(c) {}
  util::Clock& clock;
  mutable util::Mutex mutex;
  std::map<std::string, Family, std::less<>> families AIST_GUARDED_BY(mutex);
  size_t series AIST_GUARDED_BY(mutex) = 0;
  uint64_t next_seq AIST_GUARDED_BY(mutex) = 1;
  std::vector<std::weak_ptr<Subscription::State>> subscribers AIST_GUARDED_BY(mutex);

  absl::Status Update(Kind kind, std::string_view name, std::string_view help, const Labels& labels,
                      double value) {
    if (!IsName(name, true)) {
      return util::InvalidArgument(
          "monitor.name", util::StrCat("metric \"", util::Excerpt(name),
                                       "\": expected a name of letters, digits, '_' and ':'"));
    }
    AIST_ASSIGN_OR_RETURN(const std::string rendered, RenderLabels(labels));
    const util::MutexLock lock(mutex);
    auto found = families.find(name);
    if (found != families.end() && found->second.kind != kind) {
      return util::FailedPrecondition("monitor.kind",
                                      util::StrCat("metric ", name, " exists as a ",
                                                   kind == Kind::kCounter ? "gauge" : "counter"));
    }
    if (found == families.end() || !found->second.series.contains(rendered)) {
      if (series >= kMaxSeries) {
        return util::Error(absl::StatusCode::kResourceExhausted, "monitor.too_many_series",
                           util::StrCat("metric ", name, ": there are ", kMaxSeries,
                                        " series already; use fewer label values"));
      }
      ++series;
    }
    if (found == families.end()) {
      found = families.emplace(std::string(name), Family{kind, std::string(help), {}}).first;
    }
    double& slot = found->second.series[rendered];
    slot = kind == Kind::kCounter ? slot + value : value;
    return absl::OkStatus();
  }
};

std::string EventToJson(const Event& event) {
  util::JsonWriter w;
  w.BeginObject();
  w.Field("seq", event.seq);
  w.Field("unix_ns", event.unix_ns);
  w.Field("module", event.module);
  w.Field("kind", event.kind);
  w.Field("severity", event.severity == Severity::kInfo      ? "info"
                      : event.severity == Severity::kWarning ? "warning"
                                                             : "error");
  w.Field("message", event.message);
  w.Key("fields");
  w.BeginObject();
  for (const auto& [key, value] : event.fields) w.Field(key, value);
  w.EndObject();
  w.EndObject();
  return w.Take();
}

Subscription::~Subscription() = default;

absl::StatusOr<Event> Subscription::Next(int64_t timeout_ns) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::max<int64_t>(timeout_ns, 0));
  const util::MutexLock lock(state_->mutex);
  while (state_->queue.empty()) {
    if (timeout_ns < 0) {
      state_->changed.Wait(state_->mutex);
    } else if (!state_->changed.WaitUntil(state_->mutex, deadline) && state_->queue.empty()) {
      return util::Error(absl::StatusCode::kDeadlineExceeded, "monitor.no_event",
                         "no event within the time allowed");
    }
  }
  Event event = std::move(state_->queue.front());
  state_->queue.pop_front();
  return event;
}

Registry::Registry(util::Clock& clock) : state_(std::make_unique<State>(clock)) {}
Registry::~Registry() = default;

absl::Status Registry::CounterAdd(std::string_view name, std::string_view help,
                                  const Labels& labels, double value) {
  if (!(value >= 0) || std::isinf(value)) {
    return util::InvalidArgument(
        "monitor.value", util::StrCat("counter ", util::Excerpt(name), ": ", Number(value),
                                      " cannot be added; expected a number that is not negative"));
  }
  return state_->Update(Kind::kCounter, name, help, labels, value);
}

absl::Status Registry::GaugeSet(std::string_view name, std::string_view help, const Labels& labels,
                                double value) {
  return state_->Update(Kind::kGauge, name, help, labels, value);
}

std::string Registry::Prometheus() const {
  std::string out;
  const util::MutexLock lock(state_->mutex);
  for (const auto& [name, family] : state_->families) {
    util::StrAppend(&out, "# HELP ", name, " ", Escape(util::ToValidUtf8(family.help), false),
                    "\n");
    util::StrAppend(&out, "# TYPE ", name,
                    family.kind == Kind::kCounter ? " counter\n" : " gauge\n");
    for (const auto& [labels, value] : family.series) {
      util::StrAppend(&out, name);
      if (!labels.empty()) util::StrAppend(&out, "{", labels, "}");
      util::StrAppend(&out, " ", Number(value), "\n");
    }
  }
  return out;
}

void Registry::Emit(Event event) {
  event.unix_ns = state_->clock.UnixNanos();
  std::vector<std::shared_ptr<Subscription::State>> receivers;
  const util::MutexLock lock(state_->mutex);
  event.seq = state_->next_seq++;
  auto& all = state_->subscribers;
  for (size_t i = 0; i < all.size();) {
    if (auto one = all[i].lock()) {
      receivers.push_back(std::move(one));
      ++i;
    } else {
      all[i] = all.back();
      all.pop_back();
    }
  }
  // Under the registry's lock, so that every reader sees the events in order.
  for (const auto& receiver : receivers) {
    const util::MutexLock queue_lock(receiver->mutex);
    if (receiver->queue.size() >= kMaxQueue) receiver->queue.pop_front();
    receiver->queue.push_back(event);
    receiver->changed.NotifyOne();
  }
}

std::shared_ptr<Subscription> Registry::Subscribe() {
  auto subscription = std::make_shared<Subscription>();
  subscription->state_ = std::make_shared<Subscription::State>();
  const util::MutexLock lock(state_->mutex);
  state_->subscribers.push_back(subscription->state_);
  return subscription;
}

}  // namespace aistation::monitor
