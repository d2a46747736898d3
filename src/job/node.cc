// SPDX-License-Identifier: Apache-2.0
#include "job/node.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "image/distribute.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "roce/probe.h"
#include "transfer/chunk_store.h"
#include "transfer/engine.h"
#include "transfer/peer.h"
#include "transfer/remote_op.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mutex.h"
#include "util/strings.h"
#include "util/thread.h"
#include "wire/wire.h"

namespace aistation::job {
namespace {

constexpr uint64_t kMaxPeerBody = wire::kMaxDocumentBytes;  // manifests of large datasets
constexpr const char* kProtobuf = "application/x-protobuf";
constexpr const char* kPrometheus = "text/plain; version=0.0.4";

bool IsLoopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address == "::1" || address == "localhost";
}

absl::Status Check(const NodeOptions& options) {
  if (!util::IsSafeName(options.name)) {
    return util::InvalidArgument("node.name",
                                 util::StrCat("name of the node: expected letters, digits, '.', "
                                              "'_', '-', got \"",
                                              util::Excerpt(options.name), "\""));
  }
  if (options.directory.empty()) {
    return util::InvalidArgument("node.directory", "the node needs a data directory");
  }
  if (options.identity == nullptr) {
    return util::InvalidArgument("node.tls", "the node needs a TLS identity");
  }
  const auto names = options.identity->names();
  if (std::find(names.begin(), names.end(), options.name) == names.end()) {
    return util::InvalidArgument(
        "node.name", util::StrCat("certificate ", options.identity->options().cert_file,
                                  " does not carry the name ", options.name,
                                  " of the node as a SAN; it has ", util::Join(names, ", ")));
  }
  if (options.chunk_bytes < (64u << 10) || options.chunk_bytes > (64u << 20)) {
    return util::InvalidArgument("node.chunk", util::StrCat("chunk size ", options.chunk_bytes,
                                                            ": expected 64 KiB to 64 MiB"));
  }
  if (!options.mirror_address.empty() && !options.mirror_any &&
      !IsLoopback(options.mirror_address)) {
    return util::FailedPrecondition(
        "node.not_loopback",
        util::StrCat("the mirror is plain HTTP and would listen on ", options.mirror_address,
                     "; use a loopback address, or allow any address explicitly"));
  }
  return absl::OkStatus();
}

}  // namespace

struct Node::State {
  explicit State(NodeOptions o) : options(std::move(o)) {}
  ~State();

  const NodeOptions options;
  const int64_t started_unix_ns = util::RealClock().UnixNanos();
  std::shared_ptr<net::HttpClient> client = std::make_shared<net::HttpClient>();
  std::shared_ptr<transfer::ChunkStore> store;
  std::shared_ptr<transfer::Engine> engine;
  std::unique_ptr<image::ImageService> images;
  std::unique_ptr<dataset::DatasetCache> datasets;
  util::Executor executor{64};
  std::unique_ptr<transfer::RemoteOps> ops;
  std::unique_ptr<roce::ProbeService> probes;
  std::unique_ptr<LaunchService> launches;
  std::unique_ptr<net::HttpServer> server;
  std::unique_ptr<net::HttpServer> mirror;

  util::Mutex mutex;
  util::CondVar stop_changed;
  bool stopping AIST_GUARDED_BY(mutex) = false;
  std::set<util::OpControl*> local AIST_GUARDED_BY(mutex);  // operations of this process
  util::Thread keeper;

  void Stop();
  template <class Body>
  auto Tracked(util::OpControl& control, Body&& body) -> decltype(body());
  absl::Status Start();
  absl::Status Serve();
  absl::Status HandlePeer(const net::ServerRequest& request, net::Responder& responder);
  absl::Status HandleMirror(const net::ServerRequest& request, net::Responder& responder);
  absl::Status HandleInfo(const net::ServerRequest& request, net::Responder& responder);
  v1::NodeStatus Describe();
  v1::NodeInventory Inventory();
  std::string Metrics();
  absl::Status EnforceLimit();
  void Keep();
};

Node::State::~State() { Stop(); }

void Node::State::Stop() {
  {
    const util::MutexLock lock(mutex);
    if (stopping) return;
    stopping = true;
    stop_changed.NotifyAll();
    for (util::OpControl* control : local) control->Cancel();
  }
  keeper.Join();
  if (launches != nullptr) launches->Stop();
  if (mirror != nullptr) mirror->Stop();
  if (server != nullptr) server->Stop();
  ops.reset();
}

template <class Body>
auto Node::State::Tracked(util::OpControl& control, Body&& body) -> decltype(body()) {
  {
    const util::MutexLock lock(mutex);
    if (stopping) return util::FailedPrecondition("node.stopped", "the node has been stopped");
    local.insert(&control);
  }
  auto result = body();
  const util::MutexLock lock(mutex);
  local.erase(&control);
  return result;
}

absl::Status Node::State::Start() {
  AIST_RETURN_IF_ERROR(Check(options));
  AIST_RETURN_IF_ERROR(util::MakeDirectories(options.directory, 0755));
  auto opened = transfer::ChunkStore::Open(util::JoinPath(options.directory, "blobs"));
  if (!opened.ok()) {
    if (util::Reason(opened.status()) != "file.locked") return opened.status();
    return util::FailedPrecondition(
        "node.directory_in_use",
        util::StrCat("data directory ", options.directory, " is used by another node process"));
  }
  store = std::move(*opened);
  transfer::EngineOptions engine_options;
  engine_options.self = options.name;
  engine_options.store = store;
  engine_options.client = client;
  engine_options.identity = options.identity;
  engine_options.metrics = options.metrics;
  engine_options.log = options.log;
  engine_options.source_rate_bytes = options.source_rate_bytes;
  engine = std::make_shared<transfer::Engine>(std::move(engine_options));

  image::ImageOptions image_options;
  image_options.directory = options.directory;
  image_options.self = options.name;
  image_options.engine = engine;
  image_options.client = client;
  image_options.identity = options.identity;
  image_options.registries = options.registries;
  image_options.chunk_bytes = options.chunk_bytes;
  image_options.log = options.log;
  AIST_ASSIGN_OR_RETURN(images, image::ImageService::Open(std::move(image_options)));

  dataset::CacheOptions cache_options;
  cache_options.directory = options.directory;
  cache_options.engine = engine;
  cache_options.client = client;
  cache_options.source_ca_file = options.source_ca_file;
  cache_options.limit_bytes = options.store_limit_bytes;
  AIST_ASSIGN_OR_RETURN(datasets, dataset::DatasetCache::Open(std::move(cache_options)));

  LaunchOptions launch_options;
  launch_options.node = options.name;
  launch_options.work_directory = util::JoinPath(options.directory, "work");
  launch_options.kernel_log = options.kernel_log;
  launch_options.allow_launch = options.allow_launch;
  launch_options.log = options.log;
  AIST_ASSIGN_OR_RETURN(launches, LaunchService::Start(std::move(launch_options)));

  ops = std::make_unique<transfer::RemoteOps>(executor);
  image::Register(*ops, *images);
  dataset::Register(*ops, *datasets);
  probes = std::make_unique<roce::ProbeService>(options.log);
  probes->Register(*ops);
  return Serve();
}

absl::Status Node::State::Serve() {
  net::ServerOptions peer;
  peer.address = options.listen_address.empty() ? "127.0.0.1" : options.listen_address;
  peer.port = options.port;
  peer.identity = options.identity;
  peer.max_body_bytes = kMaxPeerBody;
  peer.max_rate_bytes = options.peer_rate_bytes;
  peer.log = options.log;
  AIST_ASSIGN_OR_RETURN(server, net::HttpServer::Start(peer, [this](const auto& q, auto& r) {
                          return HandlePeer(q, r);
                        }));
  if (!options.mirror_address.empty()) {
    net::ServerOptions plain;
    plain.address = options.mirror_address;
    plain.port = options.mirror_port;
    plain.max_body_bytes = 0;
    plain.log = options.log;
    AIST_ASSIGN_OR_RETURN(mirror, net::HttpServer::Start(plain, [this](const auto& q, auto& r) {
                            return HandleMirror(q, r);
                          }));
  }
  if (options.store_limit_bytes != 0) {
    keeper = util::Thread::Start("aist-keeper", [this] { Keep(); });
    if (!keeper.joinable()) {
      return util::Error(absl::StatusCode::kResourceExhausted, "node.thread",
                         "cannot start a thread");
    }
  }
  return absl::OkStatus();
}

absl::Status Node::State::HandlePeer(const net::ServerRequest& request, net::Responder& responder) {
  if (engine->Handles(request)) return engine->Handle(request, responder);
  if (images->Handles(request)) return images->Handle(request, responder);
  if (launches->Handles(request)) return launches->Handle(request, responder);
  if (ops->Handles(request)) return ops->Handle(request, responder);
  return HandleInfo(request, responder);
}

absl::Status Node::State::HandleMirror(const net::ServerRequest& request,
                                       net::Responder& responder) {
  if (request.path == "/metrics") return responder.Send(200, kPrometheus, Metrics());
  // Read only, and nothing but blobs and manifests: no digests of partial objects, no control.
  if (request.path.rfind("/v2/", 0) == 0 || request.path == "/v2") {
    if (engine->Handles(request)) return engine->Handle(request, responder);
    if (images->Handles(request)) return images->Handle(request, responder);
  }
  return util::NotFound("node.route", util::StrCat(util::Excerpt(request.path), " is not here"));
}

absl::Status Node::State::HandleInfo(const net::ServerRequest& request, net::Responder& responder) {
  const bool json = net::FindHeader(request.headers, "accept") == "application/json";
  const auto send = [&](const auto& message) {
    return json ? responder.Send(200, "application/json", wire::ToJson(message))
                : responder.Send(200, kProtobuf, wire::Serialize(message));
  };
  if (request.method == "GET" || request.method == "HEAD") {
    if (request.path == "/aistation/v1/status") return send(Describe());
    if (request.path == "/aistation/v1/inventory") return send(Inventory());
    if (request.path == "/aistation/v1/metrics") return responder.Send(200, kPrometheus, Metrics());
  }
  return util::NotFound(
      "node.route", util::StrCat(request.method, " ", util::Excerpt(request.path), " is not here"));
}

v1::NodeInventory Node::State::Inventory() {
  v1::NodeInventory out = options.inventory;
  out.set_name(options.name);
  out.set_address(server->address());
  out.set_port(server->port());
  return out;
}

v1::NodeStatus Node::State::Describe() {
  v1::NodeStatus out;
  out.set_name(options.name);
  out.set_address(server->address());
  out.set_port(server->port());
  out.set_mirror_port(mirror == nullptr ? 0 : mirror->port());
  out.set_store_bytes(store->total_bytes());
  const v1::TransferStats totals = engine->totals();
  out.set_bytes_source(totals.bytes_source());
  out.set_bytes_peers(totals.bytes_peers());
  out.set_bytes_sent(totals.bytes_sent());
  if (const auto list = images->List(); list.ok()) {
    for (const auto& image : list->images()) {
      out.add_images(util::StrCat(image.reference(), " ", image.digest()));
    }
  }
  if (const auto list = datasets->List(); list.ok()) {
    for (const auto& d : list->datasets()) out.add_datasets(d.name() + "@" + d.version());
  }
  for (const auto& line : launches->Describe()) out.add_processes(line);
  out.set_started_unix_ns(started_unix_ns);
  return out;
}

std::string Node::State::Metrics() {
  const monitor::Labels labels = {{"node", options.name}};
  // Only full registries refuse, and then the text still has all that was there before.
  (void)options.metrics->GaugeSet("aistation_store_bytes", "Bytes in the blob store.", labels,
                                  static_cast<double>(store->total_bytes()));
  (void)options.metrics->GaugeSet("aistation_processes", "Running processes of jobs.", labels,
                                  static_cast<double>(launches->Describe().size()));
  return options.metrics->Prometheus();
}

absl::Status Node::State::EnforceLimit() {
  const uint64_t limit = options.store_limit_bytes;
  if (limit == 0 || store->total_bytes() <= limit) return absl::OkStatus();
  const uint64_t target = limit / 10 * 9;
  AIST_ASSIGN_OR_RETURN(uint64_t freed, store->Evict(target));
  if (store->total_bytes() > target) {
    uint64_t cached = 0;
    AIST_ASSIGN_OR_RETURN(const auto list, datasets->List());
    for (const auto& d : list.datasets()) cached += d.cached_bytes();
    const uint64_t excess = store->total_bytes() - target;
    AIST_ASSIGN_OR_RETURN(const uint64_t more,
                          datasets->Evict(cached > excess ? cached - excess : 0));
    freed += more;
  }
  options.log.Info("node", util::StrCat("evicted ", freed, " bytes; ", store->total_bytes(), " of ",
                                        limit, " are used"));
  return absl::OkStatus();
}

void Node::State::Keep() {
  const util::MutexLock lock(mutex);
  while (!stopping) {
    stop_changed.WaitUntil(mutex, std::chrono::steady_clock::now() + std::chrono::seconds(2));
    if (stopping) return;
    mutex.Unlock();
    const absl::Status status = EnforceLimit();
    if (!status.ok()) options.log.Error("node", "eviction: " + util::Message(status));
    mutex.Lock();
  }
}

Node::Node(std::unique_ptr<State> state) : state_(std::move(state)) {}
Node::~Node() = default;

absl::StatusOr<std::unique_ptr<Node>> Node::Start(NodeOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  AIST_RETURN_IF_ERROR(state->Start());
  return std::unique_ptr<Node>(new Node(std::move(state)));
}

uint16_t Node::port() const { return state_->server->port(); }
uint16_t Node::mirror_port() const {
  return state_->mirror == nullptr ? uint16_t{0} : state_->mirror->port();
}
image::ImageService& Node::images() { return *state_->images; }
dataset::DatasetCache& Node::datasets() { return *state_->datasets; }
absl::StatusOr<v1::ImageResult> Node::Pull(const v1::ImagePullRequest& request,
                                           util::OpControl& control) {
  return state_->Tracked(control, [&] { return state_->images->Pull(request, control); });
}
absl::StatusOr<v1::DatasetResult> Node::Cache(const v1::DatasetCacheRequest& request,
                                              util::OpControl& control) {
  return state_->Tracked(control, [&] { return state_->datasets->Cache(request, control); });
}
void Node::Stop() { state_->Stop(); }
v1::NodeStatus Node::Describe() { return state_->Describe(); }
absl::Status Node::EnforceLimit() { return state_->EnforceLimit(); }

absl::StatusOr<v1::NodeStatus> QueryNode(net::HttpClient& client,
                                         const std::shared_ptr<security::TlsIdentity>& identity,
                                         const std::string& address, uint16_t port,
                                         util::OpControl& control) {
  v1::Member member;
  member.set_address(address);
  member.set_port(port);
  net::HttpRequest request = transfer::PeerRequest(member, "/aistation/v1/status", identity);
  AIST_ASSIGN_OR_RETURN(const net::HttpResponse response, client.Fetch(request, control));
  if (response.status != 200) {
    return net::ErrorFromResponse(response, util::StrCat("status of ", address, ":", port));
  }
  return wire::Parse<v1::NodeStatus>(wire::Format::kProtobuf, response.body, "status of a node");
}

}  // namespace aistation::job
