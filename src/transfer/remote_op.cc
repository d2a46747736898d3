// SPDX-License-Identifier: Apache-2.0
#include "transfer/remote_op.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "security/digest.h"
#include "transfer/peer.h"
#include "util/clock.h"
#include "util/json_writer.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

constexpr std::string_view kPrefix = "/aistation/v1/ops/";
constexpr size_t kMaxOps = 1000;
constexpr int64_t kKeep = int64_t{600} * 1'000'000'000;
constexpr int64_t kMaxPollMs = 20'000;
constexpr uint64_t kMaxResult = 64u << 20;

struct Running {
  std::shared_ptr<util::Op> op;
  std::vector<std::string> owner;  // SAN names of the peer that started it
  int64_t ended_ns = 0;
};

}  // namespace

struct RemoteOps::State {
  explicit State(util::Executor& e) : executor(e) {}
  util::Executor& executor;
  std::map<std::string, Method, std::less<>> methods;  // fixed once the server runs
  util::Mutex mutex;
  std::map<std::string, Running, std::less<>> ops AIST_GUARDED_BY(mutex);

  void SweepLocked() AIST_REQUIRES(mutex) {
    const int64_t now = util::RealClock().MonotonicNanos();
    for (auto it = ops.begin(); it != ops.end();) {
      if (it->second.op->done() && it->second.ended_ns == 0) it->second.ended_ns = now;
      if (it->second.ended_ns != 0 && now - it->second.ended_ns > kKeep) {
        it = ops.erase(it);
      } else {
        ++it;
      }
    }
  }

  absl::Status Start(const std::string& name, const net::ServerRequest& request,
                     net::Responder& responder) {
    const auto method = methods.find(name);
    if (method == methods.end()) {
      return util::NotFound("transfer.no_method",
                            util::StrCat("this node has no operation ", util::Excerpt(name)));
    }
    const auto timeout_ms = util::ParseInt<int64_t>(request.Query("timeout_ms"));
    {
      const util::MutexLock lock(mutex);
      SweepLocked();
      if (ops.size() >= kMaxOps) {
        return util::Error(absl::StatusCode::kResourceExhausted, "transfer.too_many_ops",
                           "this node has 1,000 operations already; try later");
      }
    }
    // The body must not need this object: the caller's part of the request is copied.
    auto peer = std::make_shared<net::ServerRequest>(request);
    AIST_ASSIGN_OR_RETURN(
        auto op, util::Op::Start(
                     executor,
                     std::clamp<int64_t>(timeout_ms.value_or(3'600'000), 1, 86'400'000) * 1'000'000,
                     [call = method->second,
                      peer](util::OpControl& control) -> absl::StatusOr<util::OpResult> {
                       AIST_ASSIGN_OR_RETURN(std::string result, call(*peer, peer->body, control));
                       return util::OpResult([r = std::move(result)](bool) { return r; });
                     }));
    const std::string id = security::RandomHex(16);
    {
      const util::MutexLock lock(mutex);
      ops.emplace(id, Running{std::move(op), request.peer_names, 0});
    }
    return responder.Send(200, "application/json", util::StrCat("{\"id\":\"", id, "\"}"));
  }

  absl::StatusOr<std::shared_ptr<util::Op>> Find(const std::string& id,
                                                 const net::ServerRequest& request) {
    const util::MutexLock lock(mutex);
    const auto found = ops.find(id);
    if (found == ops.end() || found->second.owner != request.peer_names) {
      return util::NotFound("transfer.no_op", "no such operation of yours on this node");
    }
    return found->second.op;
  }

  absl::Status Poll(const std::string& id, const net::ServerRequest& request,
                    net::Responder& responder) {
    AIST_ASSIGN_OR_RETURN(const auto op, Find(id, request));
    int64_t left_ms = std::clamp<int64_t>(
        util::ParseInt<int64_t>(request.Query("wait_ms")).value_or(0), 0, kMaxPollMs);
    while (!op->Wait(std::min<int64_t>(left_ms, 100) * 1'000'000) && left_ms > 0 &&
           !responder.stopping()) {
      left_ms -= 100;
    }
    if (op->done()) {
      AIST_ASSIGN_OR_RETURN(const auto result, op->result());
      return responder.Send(200, "application/x-protobuf", result(false),
                            {{"Aistation-Done", "1"}});
    }
    const util::Progress progress = op->progress();
    util::JsonWriter w;
    w.BeginObject();
    w.Field("done", progress.done);
    w.Field("total", progress.total);
    w.Field("phase", progress.phase);
    w.EndObject();
    return responder.Send(200, "application/json", w.Take());
  }
};

RemoteOps::RemoteOps(util::Executor& executor) : state_(std::make_shared<State>(executor)) {}

RemoteOps::~RemoteOps() {
  std::vector<std::shared_ptr<util::Op>> all;
  {
    const util::MutexLock lock(state_->mutex);
    for (const auto& [id, running] : state_->ops) all.push_back(running.op);
  }
  for (const auto& op : all) op->Cancel();
  // What runs uses objects that are about to go.
  for (const auto& op : all) op->Wait(-1);
}

void RemoteOps::Register(std::string name, Method method) {
  state_->methods.emplace(std::move(name), std::move(method));
}

bool RemoteOps::Handles(const net::ServerRequest& request) const {
  return request.path.starts_with(kPrefix);
}

absl::Status RemoteOps::Handle(const net::ServerRequest& request, net::Responder& responder) {
  const std::string rest = request.path.substr(kPrefix.size());
  if (request.method == "POST") return state_->Start(rest, request, responder);
  if (request.method == "GET") return state_->Poll(rest, request, responder);
  if (request.method == "DELETE") {
    AIST_ASSIGN_OR_RETURN(const auto op, state_->Find(rest, request));
    op->Cancel();
    return responder.Send(200, "application/json", "{}");
  }
  return util::Error(absl::StatusCode::kUnimplemented, "transfer.method",
                     util::StrCat(request.method, ": only POST, GET and DELETE"));
}

namespace {

// One remote operation from start to end, seen from the caller.
class Call {
 public:
  Call(net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
       const v1::Member& member, util::OpControl& control)
      : client_(client), identity_(identity), member_(member), control_(control) {}

  absl::StatusOr<std::string> Run(
      std::string_view method, const std::string& request,
      const std::function<void(uint64_t, uint64_t, std::string)>& report) {
    const int64_t left_ns = control_.deadline_ns() == INT64_MAX
                                ? int64_t{3'600'000} * 1'000'000
                                : control_.deadline_ns() - util::RealClock().MonotonicNanos();
    AIST_ASSIGN_OR_RETURN(const std::string id,
                          Begin(util::StrCat(kPrefix, method, "?timeout_ms=",
                                             std::max<int64_t>(left_ns / 1'000'000, 1)),
                                request, method));
    auto result = Await(id, method, report);
    if (!result.ok() && !control_.Check().ok()) CancelRemote(id);
    return result;
  }

 private:
  absl::StatusOr<std::string> Begin(const std::string& path, const std::string& body,
                                    std::string_view method) {
    auto request = PeerRequest(member_, path, identity_);
    request.method = "POST";
    request.body = body;
    request.headers.emplace_back("Content-Type", "application/x-protobuf");
    auto fetched = client_.Fetch(request, control_);
    // A busy node may take its time for the handshake. Nothing has started when there was no
    // connection, so asking again cannot start it twice.
    for (int tries = 1; tries < 3 && util::Reason(fetched.status()) == "net.connect"; ++tries) {
      AIST_RETURN_IF_ERROR(control_.Sleep(int64_t{300'000'000} * tries));
      fetched = client_.Fetch(request, control_);
    }
    AIST_ASSIGN_OR_RETURN(const auto response, std::move(fetched));
    if (response.status != 200) return net::ErrorFromResponse(response, What(method));
    const auto json = nlohmann::json::parse(response.body, nullptr, false);
    if (!json.is_object() || !json.contains("id") || !json["id"].is_string()) {
      return util::DataLoss("transfer.bad_peer", What(method) + ": no operation id in the answer");
    }
    return json["id"].get<std::string>();
  }

  absl::StatusOr<std::string> Await(
      const std::string& id, std::string_view method,
      const std::function<void(uint64_t, uint64_t, std::string)>& report) {
    int failures = 0;
    while (true) {
      auto request = PeerRequest(member_, util::StrCat(kPrefix, id, "?wait_ms=500"), identity_);
      request.max_body_bytes = kMaxResult;
      auto response = client_.Fetch(request, control_);
      AIST_RETURN_IF_ERROR(control_.Check());
      if (!response.ok()) {
        // The node goes on without us; a short loss of the network is no failure.
        if (!util::Hints(response.status()).retryable || ++failures > 5) {
          return util::Annotate(response.status(), What(method));
        }
        AIST_RETURN_IF_ERROR(control_.Sleep(int64_t{200'000'000} << failures));
        continue;
      }
      failures = 0;
      if (response->status != 200) return net::ErrorFromResponse(*response, What(method));
      if (!net::FindHeader(response->headers, "Aistation-Done").empty()) {
        return std::move(response->body);
      }
      const auto json = nlohmann::json::parse(response->body, nullptr, false);
      if (!json.is_object()) return util::DataLoss("transfer.bad_peer", What(method));
      report(json.value("done", uint64_t{0}), json.value("total", uint64_t{0}),
             json.value("phase", std::string()));
    }
  }

  void CancelRemote(const std::string& id) {
    util::OpControl own(util::RealClock().MonotonicNanos() + 2'000'000'000);
    auto request = PeerRequest(member_, util::StrCat(kPrefix, id), identity_);
    request.method = "DELETE";
    (void)client_.Fetch(request, own);
  }

  std::string What(std::string_view method) const {
    return util::StrCat(method, " on ", member_.node());
  }

  net::HttpClient& client_;
  const std::shared_ptr<security::TlsIdentity>& identity_;
  const v1::Member& member_;
  util::OpControl& control_;
};

// Sum over all members, for the caller's progress.
class Sum {
 public:
  Sum(size_t members, util::OpControl& out) : parts_(members), out_(out) {}
  void Report(size_t member, uint64_t done, uint64_t total, const std::string& phase) {
    const util::MutexLock lock(mutex_);
    parts_[member] = {done, total};
    uint64_t all_done = 0;
    uint64_t all_total = 0;
    for (const auto& [d, t] : parts_) {
      all_done += d;
      all_total += t;
    }
    out_.SetProgress(all_done, all_total, phase);
  }

 private:
  util::Mutex mutex_;
  std::vector<std::pair<uint64_t, uint64_t>> parts_ AIST_GUARDED_BY(mutex_);
  util::OpControl& out_;
};

}  // namespace

std::vector<absl::StatusOr<std::string>> CallAll(
    net::HttpClient& client, const std::shared_ptr<security::TlsIdentity>& identity,
    std::span<const v1::Member> members, std::string_view method,
    std::span<const std::string> requests, bool keep_going, util::OpControl& control) {
  std::vector<absl::StatusOr<std::string>> results(
      members.size(), util::Error(absl::StatusCode::kCancelled, "transfer.not_called",
                                  "not called: another member failed first"));
  util::OpControl inner(control.deadline_ns());
  const uint64_t hook = control.OnCancel([&inner] { inner.Cancel(); });
  Sum sum(members.size(), control);
  util::Mutex mutex;
  size_t next = 0;
  bool failed = false;
  const auto work = [&] {
    while (true) {
      size_t i = 0;
      {
        const util::MutexLock lock(mutex);
        if (next >= members.size() || (failed && !keep_going)) return;
        i = next++;
      }
      Call call(client, identity, members[i], inner);
      results[i] = call.Run(method, requests[std::min(i, requests.size() - 1)],
                            [&sum, i](uint64_t done, uint64_t total, const std::string& phase) {
                              sum.Report(i, done, total, phase);
                            });
      if (results[i].ok() || keep_going) continue;
      {
        const util::MutexLock lock(mutex);
        failed = true;
      }
      inner.Cancel();
    }
  };
  std::vector<util::Thread> threads;
  for (size_t i = 1; i < std::min<size_t>(members.size(), 64); ++i) {
    auto thread = util::Thread::Start("aist-call", work);
    if (thread.joinable()) threads.push_back(std::move(thread));
  }
  work();
  threads.clear();  // joins
  control.RemoveCancelHook(hook);
  return results;
}

absl::StatusOr<std::string> CallOne(net::HttpClient& client,
                                    const std::shared_ptr<security::TlsIdentity>& identity,
                                    const v1::Member& member, std::string_view path,
                                    std::string_view body, int64_t timeout_ns,
                                    util::OpControl& control) {
  auto request = PeerRequest(member, path, identity);
  request.method = "POST";
  request.body = std::string(body);
  request.headers.emplace_back("Content-Type", "application/x-protobuf");
  request.max_body_bytes = 8u << 20;
  request.idle_timeout_ns = timeout_ns;
  AIST_ASSIGN_OR_RETURN(auto response, client.Fetch(request, control));
  if (response.status != 200) {
    return net::ErrorFromResponse(response, util::StrCat(path, " on ", member.node()));
  }
  return std::move(response.body);
}

}  // namespace aistation::transfer
