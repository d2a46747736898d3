// SPDX-License-Identifier: Apache-2.0
// Engines of several nodes in this process, each behind its own mutual TLS server.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "net/http_server.h"
#include "transfer/engine.h"
#include "unit/testing/certificates.h"
#include "unit/testing/temp.h"

namespace aistation::testing {

struct EngineNode {
  std::string name;
  TempDir directory;
  std::shared_ptr<security::TlsIdentity> identity;
  std::shared_ptr<net::HttpClient> client;
  std::shared_ptr<transfer::ChunkStore> store;
  std::shared_ptr<transfer::Engine> engine;
  std::unique_ptr<net::HttpServer> server;
  net::Handler filter;  // sees requests first when set

  ~EngineNode() {
    if (server != nullptr) server->Stop();
  }
  void Start(CertificateAuthority& ca) {
    identity = ca.Identity(name);
    client = std::make_shared<net::HttpClient>();
    Reopen();
    net::ServerOptions options;
    options.identity = identity;
    auto started =
        net::HttpServer::Start(options, [this](const net::ServerRequest& q, net::Responder& r) {
          if (filter) {
            const absl::Status status = filter(q, r);
            if (!status.ok() || r.started()) return status;
          }
          if (engine->Handles(q)) return engine->Handle(q, r);
          return util::NotFound("test.route", q.path);
        });
    if (!started.ok()) abort();
    server = std::move(*started);
  }
  // A new life on the same directory.
  void Reopen() {
    engine.reset();
    store.reset();
    auto opened = transfer::ChunkStore::Open(directory.path());
    if (!opened.ok()) abort();
    store = *opened;
    transfer::EngineOptions options;
    options.self = name;
    options.store = store;
    options.client = client;
    options.identity = identity;
    engine = std::make_shared<transfer::Engine>(options);
  }
  v1::Member member() const {
    v1::Member out;
    out.set_node(name);
    out.set_address("127.0.0.1");
    out.set_port(server->port());
    out.set_rack("r");
    return out;
  }
};

class EngineCluster {
 public:
  explicit EngineCluster(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<EngineNode>());
      nodes_.back()->name = "node" + std::to_string(i);
      nodes_.back()->Start(ca_);
    }
  }
  size_t size() const { return nodes_.size(); }
  EngineNode& operator[](size_t i) { return *nodes_[i]; }
  std::vector<v1::Member> members() const {
    std::vector<v1::Member> out;
    for (const auto& node : nodes_) out.push_back(node->member());
    return out;
  }
  CertificateAuthority& ca() { return ca_; }

 private:
  CertificateAuthority ca_;
  std::vector<std::unique_ptr<EngineNode>> nodes_;
};

}  // namespace aistation::testing
