// SPDX-License-Identifier: Apache-2.0
#include "job/driver.h"

#include <algorithm>

#include "image/reference.h"
#include "job/classifier.h"
#include "job/policy.h"
#include "store/audit.h"
#include "util/json_writer.h"
#include "util/mutex.h"
#include "util/strings.h"

namespace aistation::job {
namespace {

constexpr int kKeptProbeResults = 4096;
constexpr int64_t kQueuePollNs = 500'000'000;
constexpr uint64_t kGraceNs = 2'000'000'000;
constexpr int64_t kCleanUpNs = 60'000'000'000;

std::string NodeNames(const v1::Placement& placement) {
  std::string out;
  for (const auto& node : placement.nodes()) {
    util::StrAppend(&out, out.empty() ? "" : ", ", node.node());
  }
  return out;
}

size_t CardCount(const v1::Placement& placement) {
  size_t n = 0;
  for (const auto& node : placement.nodes()) n += static_cast<size_t>(node.cards_size());
  return n;
}

std::string VerdictJson(const v1::Verdict& verdict) {
  util::JsonWriter w(0);
  w.BeginObject();
  w.Key("rule");
  w.String(verdict.rule());
  w.Key("class");
  w.String(verdict.fault_class());
  w.Key("node");
  w.String(verdict.node());
  w.Key("card");
  w.String(verdict.card_id());
  w.Key("sentence");
  w.String(verdict.sentence());
  w.EndObject();
  return w.Take();
}

std::string TextJson(std::string_view key, std::string_view value) {
  util::JsonWriter w(0);
  w.BeginObject();
  w.Key(key);
  w.String(value);
  w.EndObject();
  return w.Take();
}

// A matrix of a large job would not fit into one record: failures are what matters.
void Shorten(v1::ProbeMatrix* matrix) {
  if (matrix->results_size() <= kKeptProbeResults) return;
  const int all = matrix->results_size();
  v1::ProbeMatrix kept = *matrix;
  kept.clear_results();
  for (const auto& result : matrix->results()) {
    if (!result.ok() && kept.results_size() < kKeptProbeResults) *kept.add_results() = result;
  }
  kept.add_findings(
      util::StrCat("of ", all, " tests the first ", kept.results_size(), " failures are kept"));
  *matrix = std::move(kept);
}

}  // namespace

absl::StatusOr<v1::Job> Driver::Run(std::string_view id, util::OpControl& control) {
  outer_ = &control;
  work_ = std::make_unique<util::OpControl>(control.deadline_ns());
  AIST_RETURN_IF_ERROR(ReadJob(*parts_.store, id).status());
  AIST_ASSIGN_OR_RETURN(lease_,
                        DriverLease::Acquire(parts_.store, id, parts_.owner, *work_, [this] {
                          const util::Progress p = work_->progress();
                          if (p.total != 0) outer_->SetProgress(p.done, p.total, p.phase);
                        }));
  const uint64_t hook = control.OnCancel([this] { work_->Cancel(); });
  auto read = ReadJob(*parts_.store, id);  // as it is now that nobody else drives it
  absl::Status status = read.status();
  if (read.ok()) stored_ = std::move(*read);
  while (status.ok() && !IsEnded(job().state())) {
    status = Step();
    if (status.ok() || !lease_->cancel_requested() || control.cancelled()) continue;
    status = Finish(v1::JOB_STATE_CANCELLED, "ended because somebody asked for it");
  }
  control.RemoveCancelHook(hook);
  if (!status.ok() && lease_->lost()) {
    status = util::Error(absl::StatusCode::kAborted, "job.driven_elsewhere",
                         util::StrCat("job ", id, ": the lease of this driver was lost"));
  }
  lease_.reset();
  if (!status.ok()) return status;
  return job();
}

absl::Status Driver::Step() {
  if (lease_->cancel_requested()) return absl::CancelledError("cancel requested");
  AIST_RETURN_IF_ERROR(work_->Check());
  switch (job().state()) {
    case v1::JOB_STATE_QUEUED:
      return Place();
    case v1::JOB_STATE_FAILED_ATTEMPT:
      return NextAttempt();
    case v1::JOB_STATE_PLACED:
      return Probe();
    case v1::JOB_STATE_PROBED:
      return Stage();
    case v1::JOB_STATE_STAGED:
      return Launch();
    case v1::JOB_STATE_RUNNING:
      return Watch();
    default:
      return util::DataLoss("job.state", util::StrCat("job ", job().id(), " is in state ",
                                                      static_cast<int>(job().state())));
  }
}

void Driver::Tell(const std::string& message) {
  work_->SetProgress(0, 0, message);
  outer_->SetProgress(0, 0, message);
}

absl::Status Driver::Save(v1::JobState state, const std::string& message) {
  const v1::JobState before = job().state();
  job().set_state(state);
  job().set_message(message);
  AIST_RETURN_IF_ERROR(WriteJob(*parts_.store, &stored_, message, *parts_.clock));
  Tell(message);
  parts_.log.Info("job", util::StrCat(job().id(), ": ", message));
  if (parts_.metrics == nullptr) return absl::OkStatus();
  monitor::Event event;
  event.module = "job";
  event.kind = "state";
  event.severity = state == v1::JOB_STATE_FAILED || state == v1::JOB_STATE_FAILED_ATTEMPT
                       ? monitor::Severity::kWarning
                       : monitor::Severity::kInfo;
  event.message = message;
  event.fields = {{"job", job().id()}, {"state", v1::JobState_Name(state)}};
  parts_.metrics->Emit(std::move(event));
  if (before != state) {
    (void)parts_.metrics->CounterAdd("aistation_job_transitions_total", "Changes of state of jobs.",
                                     {{"state", v1::JobState_Name(state)}}, 1);
  }
  return absl::OkStatus();
}

absl::Status Driver::Audit(std::string_view action, std::string_view object,
                           const std::string& detail) {
  return store::AuditAppend(*parts_.store, "aistation", action, object, detail, *parts_.clock)
      .status();
}

// Says why it waits or, when it could never fit, sets *for_ever.
absl::Status Driver::Refused(const v1::PlacementRequest& request, bool* for_ever) {
  AIST_ASSIGN_OR_RETURN(v1::AllocationState state, parts_.allocator->State());
  const v1::Placement now = alloc::Plan(state, request);
  state.clear_grants();
  state.clear_used_by_department();
  const v1::Placement empty = alloc::Plan(state, request);
  *for_ever = empty.has_refusal();
  if (*for_ever) {
    v1::Attempt& last = *job().add_attempts();
    last.set_number(static_cast<uint32_t>(job().attempts_size()));
    *last.mutable_placement() = empty;
    last.set_ended_unix_ns(parts_.clock->UnixNanos());
    return Finish(v1::JOB_STATE_FAILED, empty.refusal().sentence());
  }
  const std::string message = "waiting: " + now.refusal().sentence();
  if (now.has_refusal() && job().message() != message) {
    AIST_RETURN_IF_ERROR(Save(v1::JOB_STATE_QUEUED, message));
  }
  return work_->Sleep(kQueuePollNs);
}

absl::Status Driver::Place() {
  Tell("placing");
  const v1::PlacementRequest request = RequestFor(job());
  auto placement = parts_.allocator->Allocate(request);
  if (!placement.ok() && placement.status().code() != absl::StatusCode::kResourceExhausted) {
    if (!absl::IsInvalidArgument(placement.status())) return placement.status();
    return Finish(v1::JOB_STATE_FAILED, util::Message(placement.status()));
  }
  if (!placement.ok() || placement->has_refusal()) {
    bool for_ever = false;
    return Refused(request, &for_ever);
  }
  v1::Attempt& next = *job().add_attempts();
  next.set_number(static_cast<uint32_t>(job().attempts_size()));
  next.set_started_unix_ns(parts_.clock->UnixNanos());
  *next.mutable_placement() = *placement;
  AIST_RETURN_IF_ERROR(
      Audit("job.place", job().id(), TextJson("nodes", NodeNames(next.placement()))));
  return Save(v1::JOB_STATE_PLACED,
              util::StrCat("attempt ", next.number(), ": ", CardCount(next.placement()),
                           " cards on ", NodeNames(next.placement())));
}

absl::Status Driver::Probe() {
  const v1::ProbeRequest request = ProbeFor(attempt().placement());
  if (!parts_.cluster->has_nodes() || request.endpoints_size() < 2) {
    return Save(v1::JOB_STATE_PROBED, "nothing to prove: fewer than two NICs take part");
  }
  Tell("proving reachability");
  auto matrix = parts_.cluster->Probe(request, *work_);
  if (!matrix.ok()) {
    AIST_RETURN_IF_ERROR(work_->Check());
    return FailStaging("launcher", matrix.status());
  }
  std::string card;
  v1::LogLine line;
  const bool all_ok = matrix->all_ok();
  if (!all_ok) line = ProbeFinding(*matrix, attempt().placement(), &card);
  const int tests = matrix->results_size();
  Shorten(&*matrix);
  *attempt().mutable_probe() = std::move(*matrix);
  if (all_ok) {
    return Save(v1::JOB_STATE_PROBED, util::StrCat("all NICs reach each other: ", tests,
                                                   " tests by ", attempt().probe().method()));
  }
  v1::ClassifyRequest signs;
  *signs.add_lines() = line;
  v1::Verdict verdict = Classify(*parts_.rules, signs);
  verdict.set_sentence(line.text());
  verdict.set_card_id(card);
  verdict.set_node_action(card.empty() ? "exclude_node" : "exclude_card");
  return FailAttempt(std::move(verdict));
}

absl::Status Driver::Stage() {
  const std::vector<v1::Member> members = MembersOf(attempt().placement());
  const v1::JobSpec& spec = job().spec();
  if (!spec.image().empty() && attempt().images().empty()) {
    Tell("image");
    v1::ImagePullRequest request;
    request.set_reference(spec.image());
    request.set_job(job().id());
    for (const auto& member : members) *request.add_members() = member;
    // A tag that moved meanwhile must not change the job between attempts.
    auto reference = image::ParseReference(spec.image());
    for (const auto& earlier : job().attempts()) {
      if (!reference.ok() || earlier.images().empty()) continue;
      reference->tag.clear();
      reference->digest = earlier.images(0).digest();
      request.set_reference(reference->ToString());
      break;
    }
    auto results = parts_.cluster->StageImage(request, *work_);
    if (!results.ok()) {
      AIST_RETURN_IF_ERROR(work_->Check());
      return FailStaging("image", results.status());
    }
    for (auto& result : *results) *attempt().add_images() = std::move(result);
    AIST_RETURN_IF_ERROR(Save(v1::JOB_STATE_PROBED, "the image is on all nodes"));
  }
  if (!spec.dataset().empty() && attempt().datasets().empty()) {
    Tell("dataset");
    std::string version;
    for (const auto& earlier : job().attempts()) {
      if (version.empty() && earlier.datasets_size() > 0) version = earlier.datasets(0).version();
    }
    auto results = parts_.cluster->StageDataset(spec, job().id(), members, version, *work_);
    if (!results.ok()) {
      AIST_RETURN_IF_ERROR(work_->Check());
      return FailStaging("dataset", results.status());
    }
    for (auto& result : *results) *attempt().add_datasets() = std::move(result);
    AIST_RETURN_IF_ERROR(Save(v1::JOB_STATE_PROBED, "the dataset is on all nodes"));
  }
  return Save(v1::JOB_STATE_STAGED, "image and dataset are on all nodes");
}

absl::Status Driver::Launch() {
  Tell("starting processes");
  AIST_ASSIGN_OR_RETURN(const v1::AllocationState state, parts_.allocator->State());
  std::map<std::string, std::string> models;
  for (const auto& node : state.inventory().nodes()) {
    for (const auto& card : node.cards()) models[card.id()] = card.model();
  }
  AIST_ASSIGN_OR_RETURN(const auto ranks, PlanRanks(job(), models, *parts_.catalogue));
  const std::vector<v1::Member> nodes = MembersOf(attempt().placement());
  util::Mutex mutex;
  absl::Status failure;
  std::string failed_node;
  ForEachNode(nodes, [&](size_t, const v1::Member& node) {
    v1::WatchRequest position;
    position.set_job(job().id());
    position.set_attempt(attempt().number());
    position.set_after_log_seq(UINT64_MAX);
    const auto now = parts_.cluster->launcher().Watch(node, position, *work_);
    absl::Status status = now.status();
    for (const auto& rank : ranks) {
      if (!status.ok() || rank.node.node() != node.node()) continue;
      v1::LaunchRequest request = rank.request;
      request.set_epoch(Epoch());
      status = parts_.cluster->launcher().Launch(node, request, *work_).status();
    }
    const util::MutexLock lock(mutex);
    if (now.ok()) log_positions_[node.node()] = now->log_seq();
    if (!status.ok() && failure.ok()) {
      failure = status;
      failed_node = node.node();
    }
  });
  if (!failure.ok()) {
    AIST_RETURN_IF_ERROR(work_->Check());
    if (util::Reason(failure) == "job.fenced") return failure;
    v1::ClassifyRequest signs = FrameOf(attempt());
    v1::LogLine& line = *signs.add_lines();
    line.set_source("launcher");
    line.set_node(failed_node);
    line.set_rank(-1);
    line.set_text(
        util::StrCat(absl::StatusCodeToString(failure.code()), " ", util::Message(failure)));
    v1::Verdict verdict = Classify(*parts_.rules, signs);
    verdict.set_sentence(util::StrCat(verdict.sentence(), ": ", util::Message(failure)));
    return FailAttempt(std::move(verdict));
  }
  attempt().set_running_unix_ns(parts_.clock->UnixNanos());
  return Save(v1::JOB_STATE_RUNNING,
              util::StrCat("attempt ", attempt().number(), ": ", ranks.size(), " processes run"));
}

absl::Status Driver::Watch() {
  Tell("running");
  const std::vector<v1::Member> nodes = MembersOf(attempt().placement());
  WatchLimits limits = parts_.limits;
  limits.since_unix_ns = attempt().started_unix_ns();
  if (job().spec().time_limit_ns() != 0) {
    const int64_t used = parts_.clock->UnixNanos() - attempt().running_unix_ns();
    limits.time_limit_ns =
        std::max<int64_t>(1, static_cast<int64_t>(job().spec().time_limit_ns()) - used);
  }
  AIST_ASSIGN_OR_RETURN(
      const AttemptOutcome outcome,
      WatchAttempt(parts_.cluster->launcher(), *parts_.rules, FrameOf(attempt()), job().id(),
                   attempt().number(), nodes, log_positions_, limits, *work_));
  *attempt().mutable_exit_status() = outcome.signs.exit_status();
  if (outcome.succeeded) {
    attempt().set_ended_unix_ns(parts_.clock->UnixNanos());
    return Finish(v1::JOB_STATE_SUCCEEDED, util::StrCat("all ", outcome.signs.exit_status_size(),
                                                        " processes ended with status 0"));
  }
  return FailAttempt(Classify(*parts_.rules, outcome.signs));
}

absl::Status Driver::FailStaging(std::string_view source, const absl::Status& status) {
  v1::ClassifyRequest signs;
  v1::LogLine& line = *signs.add_lines();
  line.set_source(std::string(source));
  line.set_rank(-1);
  line.set_text(util::StrCat(absl::StatusCodeToString(status.code()), " ", util::Message(status)));
  line.set_unix_ns(parts_.clock->UnixNanos());
  v1::Verdict verdict = Classify(*parts_.rules, signs);
  verdict.set_sentence(util::StrCat(verdict.sentence(), ": ", util::Message(status)));
  return FailAttempt(std::move(verdict));
}

absl::Status Driver::FailAttempt(v1::Verdict verdict) {
  attempt().set_ended_unix_ns(parts_.clock->UnixNanos());
  *attempt().mutable_verdict() = std::move(verdict);
  const v1::Verdict& v = attempt().verdict();
  AIST_RETURN_IF_ERROR(Audit("job.fault", job().id(), VerdictJson(v)));
  if (parts_.metrics != nullptr) {
    (void)parts_.metrics->CounterAdd("aistation_job_faults_total", "Attempts that failed.",
                                     {{"class", v.fault_class()}, {"rule", v.rule()}}, 1);
    monitor::Event event;
    event.module = "job";
    event.kind = "fault";
    event.severity = monitor::Severity::kError;
    event.message = v.sentence();
    event.fields = {{"job", job().id()}, {"node", v.node()}, {"card", v.card_id()}};
    parts_.metrics->Emit(std::move(event));
  }
  const NextStep next = DecideNext(job());
  if (!next.retry) return Finish(v1::JOB_STATE_FAILED, next.sentence);
  return Save(v1::JOB_STATE_FAILED_ATTEMPT,
              util::StrCat("attempt ", attempt().number(), " failed: ", v.sentence()));
}

// Ends the processes of the last attempt, keeps its culprit away, gives its cards back. All of it
// may be done twice.
absl::Status Driver::CleanUp() {
  if (job().attempts().empty() || attempt().placement().grant_id().empty()) return absl::OkStatus();
  util::OpControl control(util::RealClock().MonotonicNanos() + kCleanUpNs);
  v1::KillRequest request;
  request.set_job(job().id());
  request.set_grace_ns(kGraceNs);
  const std::vector<v1::Member> nodes = MembersOf(attempt().placement());
  util::Mutex mutex;
  std::vector<std::string> unproven;
  if (attempt().running_unix_ns() != 0 || job().state() == v1::JOB_STATE_STAGED ||
      attempt().has_verdict()) {
    ForEachNode(nodes, [&](size_t, const v1::Member& node) {
      const auto reply = parts_.cluster->launcher().Kill(node, request, control);
      if (reply.ok() && reply->all_dead()) return;
      const util::MutexLock lock(mutex);
      unproven.push_back(node.node());
    });
  }
  std::sort(unproven.begin(), unproven.end());
  attempt().clear_unproven_nodes();
  for (const auto& node : unproven) attempt().add_unproven_nodes(node);
  const v1::Verdict& verdict = attempt().verdict();
  if (ShouldCordon(verdict)) {
    const bool card =
        verdict.node_action() == "exclude_card" || verdict.node_action() == "reset_card";
    const std::string card_id = card ? verdict.card_id() : "";
    AIST_RETURN_IF_ERROR(
        parts_.allocator->Cordon(verdict.node(), card_id, true, verdict.sentence()));
    AIST_RETURN_IF_ERROR(Audit("node.cordon",
                               util::StrCat(verdict.node(), card_id.empty() ? "" : "/", card_id),
                               VerdictJson(verdict)));
  }
  const absl::Status released = parts_.allocator->Release(attempt().placement().grant_id());
  return absl::IsNotFound(released) ? absl::OkStatus() : released;
}

absl::Status Driver::NextAttempt() {
  AIST_RETURN_IF_ERROR(CleanUp());
  const NextStep next = DecideNext(job());
  const int64_t wait = attempt().ended_unix_ns() + next.delay_ns - parts_.clock->UnixNanos();
  if (wait > 0) {
    Tell(util::StrCat("waiting ", wait / 1'000'000, " ms before attempt ",
                      job().attempts_size() + 1));
    AIST_RETURN_IF_ERROR(work_->Sleep(wait));
  }
  AIST_RETURN_IF_ERROR(Audit("job.restart", job().id(), TextJson("why", next.sentence)));
  const Exclusions out = ExclusionsOf(job());
  std::string without = util::Join(out.nodes, ", ");
  if (!out.cards.empty()) {
    util::StrAppend(&without, without.empty() ? "" : ", ", util::Join(out.cards, ", "));
  }
  return Save(v1::JOB_STATE_QUEUED,
              util::StrCat("submitted again", without.empty() ? "" : " without ", without));
}

absl::Status Driver::Finish(v1::JobState state, const std::string& message) {
  AIST_RETURN_IF_ERROR(CleanUp());
  const int64_t now = parts_.clock->UnixNanos();
  if (job().attempts_size() > 0 && attempt().ended_unix_ns() == 0) {
    attempt().set_ended_unix_ns(now);
  }
  job().set_ended_unix_ns(now);
  AIST_RETURN_IF_ERROR(Audit(state == v1::JOB_STATE_SUCCEEDED   ? "job.succeeded"
                             : state == v1::JOB_STATE_CANCELLED ? "job.cancelled"
                                                                : "job.failed",
                             job().id(), TextJson("message", message)));
  return Save(state, message);
}

}  // namespace aistation::job
