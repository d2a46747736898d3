// SPDX-License-Identifier: Apache-2.0
#include "roce/probe.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "roce/echo.h"
#include "security/digest.h"
#include "util/clock.h"
#include "util/mutex.h"
#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::roce {
namespace {

constexpr int kMaxEndpoints = 1024;
constexpr size_t kMaxSessions = 64;
constexpr int64_t kLifetime = int64_t{60} * 1'000'000'000;
constexpr size_t kParallel = 16;

absl::StatusOr<v1::ProbeRequest> ParseRequest(std::string_view bytes) {
  AIST_ASSIGN_OR_RETURN(
      auto request, wire::Parse<v1::ProbeRequest>(wire::Format::kProtobuf, bytes, "probe request"));
  if (request.endpoints_size() > kMaxEndpoints || request.probe_id().size() != kSecretBytes) {
    return util::InvalidArgument("roce.request", "probe request: too many end points, or no id");
  }
  for (const uint32_t from : request.from()) {
    if (from >= static_cast<uint32_t>(request.endpoints_size())) {
      return util::InvalidArgument("roce.request", "probe request: from names no end point");
    }
  }
  return request;
}

struct Pair {
  uint32_t from;
  uint32_t to;
  bool udp;
};

v1::ProbeResult TryPair(const v1::ProbeRequest& request, const Pair& pair) {
  const auto& from = request.endpoints(static_cast<int>(pair.from));
  const auto& to = request.endpoints(static_cast<int>(pair.to));
  v1::ProbeResult result;
  result.set_from(pair.from);
  result.set_to(pair.to);
  result.set_method(pair.udp ? "udp" : "tcp");
  const uint32_t port = pair.udp ? to.udp_port() : to.tcp_port();
  if (port == 0) {
    result.set_error(util::StrCat(to.node(), " could not listen on ", to.address()));
    return result;
  }
  const EchoTarget target{from.address(), to.address(), static_cast<uint16_t>(port), pair.udp};
  const auto timeout = static_cast<int64_t>(request.timeout_ns());
  uint32_t good = 0;
  for (uint32_t i = 0; i < request.attempts(); ++i) {
    const auto rtt = EchoOnce(target, request.probe_id(), timeout);
    if (rtt.ok()) {
      ++good;
      if (result.rtt_ns() == 0 || *rtt < result.rtt_ns()) result.set_rtt_ns(*rtt);
    } else {
      result.set_error(util::Message(rtt.status()));
      if (good == 0 && i >= 1) break;  // dead; more time-outs would prove nothing
    }
  }
  // A lost datagram is no break of the path; a path that carries none is.
  result.set_ok(good > 0);
  if (result.ok()) result.clear_error();
  return result;
}

absl::StatusOr<v1::ProbeMatrix> ConnectAll(const v1::ProbeRequest& request,
                                           util::OpControl& control) {
  std::vector<Pair> pairs;
  for (const uint32_t from : request.from()) {
    for (uint32_t to = 0; to < static_cast<uint32_t>(request.endpoints_size()); ++to) {
      if (to == from) continue;
      for (const auto& method : request.methods()) pairs.push_back({from, to, method == "udp"});
    }
  }
  std::vector<v1::ProbeResult> results(pairs.size());
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> done{0};
  const auto work = [&] {
    for (size_t i = next++; i < pairs.size() && control.Check().ok(); i = next++) {
      results[i] = TryPair(request, pairs[i]);
      control.SetProgress(++done, pairs.size(), "probing");
    }
  };
  std::vector<util::Thread> threads;
  for (size_t i = 1; i < std::min(kParallel, pairs.size()); ++i) {
    auto thread = util::Thread::Start("aist-probe", work);
    if (thread.joinable()) threads.push_back(std::move(thread));
  }
  work();
  threads.clear();  // joins
  AIST_RETURN_IF_ERROR(control.Check());
  v1::ProbeMatrix matrix;
  for (auto& result : results) *matrix.add_results() = std::move(result);
  return matrix;
}

}  // namespace

struct ProbeService::State {
  util::Logger log;
  util::Mutex mutex;
  std::map<std::string, std::unique_ptr<EchoListeners>> sessions AIST_GUARDED_BY(mutex);

  absl::StatusOr<std::string> Listen(std::string_view bytes) {
    AIST_ASSIGN_OR_RETURN(auto request, ParseRequest(bytes));
    std::vector<std::string> addresses;
    for (const uint32_t i : request.from()) {
      addresses.push_back(request.endpoints(static_cast<int>(i)).address());
    }
    auto listeners =
        std::make_unique<EchoListeners>(std::move(addresses), request.probe_id(), kLifetime);
    for (int i = 0; i < request.from_size(); ++i) {
      auto* endpoint = request.mutable_endpoints(static_cast<int>(request.from(i)));
      const auto& ports = listeners->ports()[static_cast<size_t>(i)];
      endpoint->set_tcp_port(ports.tcp);
      endpoint->set_udp_port(ports.udp);
      if (!ports.error.empty()) log.Warning("roce", "probe: " + ports.error);
    }
    const util::MutexLock lock(mutex);
    std::erase_if(sessions, [](const auto& entry) { return entry.second->expired(); });
    if (sessions.size() >= kMaxSessions) {
      return util::Error(absl::StatusCode::kResourceExhausted, "roce.too_many_probes",
                         "64 probes run on this node already; try later");
    }
    sessions[request.probe_id()] = std::move(listeners);
    return wire::Serialize(request);
  }

  void Close(const std::string& id) {
    std::unique_ptr<EchoListeners> listeners;  // joined without the lock
    const util::MutexLock lock(mutex);
    if (const auto found = sessions.find(id); found != sessions.end()) {
      listeners = std::move(found->second);
      sessions.erase(found);
    }
  }
};

ProbeService::ProbeService(util::Logger log) : state_(std::make_shared<State>()) {
  state_->log = std::move(log);
}
ProbeService::~ProbeService() = default;

void ProbeService::Register(transfer::RemoteOps& ops) {
  ops.Register("probe-listen", [state = state_](const net::ServerRequest&, std::string_view bytes,
                                                util::OpControl&) { return state->Listen(bytes); });
  ops.Register("probe-connect",
               [](const net::ServerRequest&, std::string_view bytes,
                  util::OpControl& control) -> absl::StatusOr<std::string> {
                 AIST_ASSIGN_OR_RETURN(const auto request, ParseRequest(bytes));
                 AIST_ASSIGN_OR_RETURN(const auto matrix, ConnectAll(request, control));
                 return wire::Serialize(matrix);
               });
  ops.Register("probe-close",
               [state = state_](const net::ServerRequest&, std::string_view bytes,
                                util::OpControl&) -> absl::StatusOr<std::string> {
                 AIST_ASSIGN_OR_RETURN(const auto request, ParseRequest(bytes));
                 state->Close(request.probe_id());
                 return std::string();
               });
}

namespace {

// One probe, seen from the coordinator.
class Coordinator {
 public:
  Coordinator(net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
              v1::ProbeRequest request, util::OpControl& control)
      : client_(client), identity_(identity), request_(std::move(request)), control_(control) {
    std::map<std::string, size_t> known;
    for (int i = 0; i < request_.endpoints_size(); ++i) {
      const auto& endpoint = request_.endpoints(i);
      const auto [found, fresh] = known.emplace(endpoint.node(), members_.size());
      if (fresh) {
        auto& member = members_.emplace_back();
        member.set_node(endpoint.node());
        member.set_address(endpoint.agent_address());
        member.set_port(endpoint.agent_port());
        of_member_.emplace_back();
      }
      of_member_[found->second].push_back(static_cast<uint32_t>(i));
    }
    failures_.resize(members_.size());
  }

  absl::StatusOr<v1::ProbeMatrix> Run() {
    v1::ProbeMatrix matrix;
    matrix.set_started_unix_ns(util::RealClock().UnixNanos());
    control_.SetProgress(0, 0, "opening listeners");
    Listen();
    control_.SetProgress(0, 0, "probing");
    Connect(&matrix);
    util::OpControl closing(util::RealClock().MonotonicNanos() + 3'000'000'000);
    Call("probe-close", closing);
    AIST_RETURN_IF_ERROR(control_.Check());
    for (auto& endpoint : *request_.mutable_endpoints()) {
      endpoint.clear_tcp_port();
      endpoint.clear_udp_port();
      *matrix.add_endpoints() = endpoint;
    }
    Judge(&matrix);
    matrix.set_ended_unix_ns(util::RealClock().UnixNanos());
    return matrix;
  }

 private:
  std::vector<absl::StatusOr<std::string>> Call(std::string_view method, util::OpControl& control) {
    std::vector<std::string> requests;
    for (const auto& mine : of_member_) {
      v1::ProbeRequest one = request_;
      one.clear_from();
      for (const uint32_t i : mine) one.add_from(i);
      requests.push_back(wire::Serialize(one));
    }
    return transfer::CallAll(client_, identity_, members_, method, requests, true, control);
  }

  void Listen() {
    const auto answers = Call("probe-listen", control_);
    for (size_t m = 0; m < answers.size(); ++m) {
      if (!answers[m].ok()) {
        failures_[m] = util::Message(answers[m].status());
        continue;
      }
      const auto answer =
          wire::Parse<v1::ProbeRequest>(wire::Format::kProtobuf, *answers[m], "probe answer");
      if (!answer.ok() || answer->endpoints_size() != request_.endpoints_size()) {
        failures_[m] = "its answer could not be read";
        continue;
      }
      for (const uint32_t i : of_member_[m]) {
        auto* endpoint = request_.mutable_endpoints(static_cast<int>(i));
        endpoint->set_tcp_port(answer->endpoints(static_cast<int>(i)).tcp_port());
        endpoint->set_udp_port(answer->endpoints(static_cast<int>(i)).udp_port());
      }
    }
  }

  void Connect(v1::ProbeMatrix* matrix) {
    const auto answers = Call("probe-connect", control_);
    for (size_t m = 0; m < answers.size(); ++m) {
      absl::StatusOr<v1::ProbeMatrix> part =
          answers[m].ok()
              ? wire::Parse<v1::ProbeMatrix>(wire::Format::kProtobuf, *answers[m], "probe answer")
              : answers[m].status();
      if (part.ok()) {
        for (auto& result : *part->mutable_results()) *matrix->add_results() = std::move(result);
        continue;
      }
      if (failures_[m].empty()) failures_[m] = util::Message(part.status());
      // A node that cannot be asked reaches nobody, as far as anybody knows.
      for (const uint32_t from : of_member_[m]) {
        for (uint32_t to = 0; to < static_cast<uint32_t>(request_.endpoints_size()); ++to) {
          for (const auto& method : request_.methods()) {
            if (to == from) continue;
            auto* result = matrix->add_results();
            result->set_from(from);
            result->set_to(to);
            result->set_method(method);
            result->set_error(members_[m].node() + " could not be asked: " + failures_[m]);
          }
        }
      }
    }
  }

  std::string Name(uint32_t i) const {
    const auto& endpoint = request_.endpoints(static_cast<int>(i));
    return util::StrCat(endpoint.node(), "/", endpoint.nic_id(), " (", endpoint.address(), ")");
  }

  void Judge(v1::ProbeMatrix* matrix) {
    std::string done;
    for (const auto& method : request_.methods()) {
      util::StrAppend(&done, done.empty() ? "" : "+", method);
    }
    matrix->set_method(done + " (no verbs were used: this version probes by sockets)");
    bool all = matrix->results_size() > 0 || request_.endpoints_size() <= 1;
    std::map<uint32_t, uint32_t> failed_to, tried_to;
    std::vector<std::string> sentences;
    for (const auto& result : matrix->results()) {
      ++tried_to[result.to()];
      if (result.ok()) continue;
      all = false;
      ++failed_to[result.to()];
      if (sentences.size() < 64) {
        sentences.push_back(util::StrCat(Name(result.from()), " does not reach ", Name(result.to()),
                                         " by ", result.method(), ": ", result.error()));
      }
    }
    for (size_t m = 0; m < members_.size(); ++m) {
      if (!failures_[m].empty()) {
        matrix->add_findings(
            util::StrCat("node ", members_[m].node(), " could not be asked: ", failures_[m]));
        all = false;
      }
    }
    for (const auto& [to, count] : failed_to) {
      if (count == tried_to[to]) matrix->add_findings("nobody reaches " + Name(to));
    }
    for (auto& sentence : sentences) matrix->add_findings(std::move(sentence));
    matrix->set_all_ok(all);
  }

  net::HttpClient& client_;
  const std::shared_ptr<security::TlsIdentity>& identity_;
  v1::ProbeRequest request_;
  util::OpControl& control_;
  std::vector<v1::Member> members_;
  std::vector<std::vector<uint32_t>> of_member_;
  std::vector<std::string> failures_;
};

}  // namespace

absl::StatusOr<v1::ProbeMatrix> Probe(net::HttpClient& client,
                                      const std::shared_ptr<security::TlsIdentity>& identity,
                                      const v1::ProbeRequest& request, util::OpControl& control) {
  v1::ProbeRequest complete = request;
  if (request.endpoints().empty() || request.endpoints_size() > kMaxEndpoints) {
    return util::InvalidArgument(
        "roce.endpoints",
        util::StrCat("endpoints: ", request.endpoints_size(), "; expected 1 to ", kMaxEndpoints));
  }
  for (const auto& method : request.methods()) {
    if (method != "tcp" && method != "udp") {
      return util::InvalidArgument("roce.method", util::StrCat("methods: \"", util::Excerpt(method),
                                                               "\"; expected tcp or udp"));
    }
  }
  if (complete.methods().empty()) {
    complete.add_methods("tcp");
    complete.add_methods("udp");
  }
  if (complete.attempts() == 0) complete.set_attempts(3);
  if (complete.timeout_ns() == 0) complete.set_timeout_ns(1'000'000'000);
  if (complete.attempts() > 100 || complete.timeout_ns() > 60'000'000'000) {
    return util::InvalidArgument("roce.request", "expected at most 100 attempts of at most 60 s");
  }
  complete.set_probe_id(security::RandomHex(kSecretBytes / 2));
  return Coordinator(client, identity, std::move(complete), control).Run();
}

}  // namespace aistation::roce
