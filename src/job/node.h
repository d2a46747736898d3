// SPDX-License-Identifier: Apache-2.0
// One node: blob store, chunk engine, images, datasets, probes and processes behind one mutual TLS
// port, and a plain mirror for the container runtime.
//   GET /aistation/v1/status     NodeStatus (protobuf; JSON with Accept: application/json)
//   GET /aistation/v1/inventory  NodeInventory
//   GET /aistation/v1/metrics    Prometheus text; also /metrics on the mirror
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "aistation/v1/inventory.pb.h"
#include "aistation/v1/transfer.pb.h"
#include "dataset/cache.h"
#include "image/image_service.h"
#include "job/launch_service.h"
#include "monitor/registry.h"
#include "security/tls.h"
#include "util/log.h"
#include "util/op.h"

namespace aistation::job {

struct NodeOptions {
  std::string name;
  std::string directory;
  std::string listen_address = "127.0.0.1";
  uint16_t port = 0;
  std::shared_ptr<security::TlsIdentity> identity;
  std::string mirror_address;  // "" none
  uint16_t mirror_port = 0;
  bool mirror_any = false;
  std::string kernel_log;
  image::RegistryConfig registries;
  std::string source_ca_file;  // for https sources of datasets
  v1::NodeInventory inventory;
  bool allow_launch = false;
  uint64_t store_limit_bytes = 0;
  uint64_t source_rate_bytes = 0;  // bytes/s
  uint64_t peer_rate_bytes = 0;
  uint32_t chunk_bytes = 4u << 20;
  monitor::Registry* metrics = nullptr;  // required; outlives the node
  util::Logger log;
};

// Thread-safe.
class Node {
 public:
  // Errors: see aist_node_start().
  static absl::StatusOr<std::unique_ptr<Node>> Start(NodeOptions options);
  ~Node();  // as Stop()

  uint16_t port() const;
  uint16_t mirror_port() const;  // 0: none
  image::ImageService& images();
  dataset::DatasetCache& datasets();
  // Cancelled by Stop().
  absl::StatusOr<v1::ImageResult> Pull(const v1::ImagePullRequest& request,
                                       util::OpControl& control);
  absl::StatusOr<v1::DatasetResult> Cache(const v1::DatasetCacheRequest& request,
                                          util::OpControl& control);
  v1::NodeStatus Describe();
  // Evicts blobs, then datasets, until the store is below 90 % of its limit, if it is above it.
  // Also done every few seconds.
  absl::Status EnforceLimit();
  // Stops listening, cancels transfers, kills processes. What is on disk can still be read through
  // images() and datasets().
  void Stop();

 private:
  struct State;
  explicit Node(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Asks another node for its status. `name`: that its certificate must carry; "": the address.
absl::StatusOr<v1::NodeStatus> QueryNode(net::HttpClient& client,
                                         const std::shared_ptr<security::TlsIdentity>& identity,
                                         const std::string& address, uint16_t port,
                                         util::OpControl& control);

}  // namespace aistation::job
