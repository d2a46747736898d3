// SPDX-License-Identifier: Apache-2.0
// The chunk engine: an object (an image's blob, a whole dataset) gets to all members while its
// source is read once. Chunks of a fixed size; each has one elected reader and a tree of relays,
// given by a pure plan that every member computes alike.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "aistation/v1/transfer.pb.h"
#include "monitor/registry.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "security/tls.h"
#include "transfer/chunk_store.h"
#include "util/log.h"
#include "util/op.h"

namespace aistation::transfer {

struct ObjectSpec {
  std::string id;     // "sha256:<hex>" of a blob; "dataset:<hex>" of a dataset version
  uint64_t size = 0;  // bytes; 0 is allowed
  uint64_t chunk_bytes = 4u << 20;
  std::string expected_digest;  // "sha256:<hex>" of the whole content; "" for datasets, where the
                                // digests of the chunks come from their elected readers
  std::string label;            // for people: "layer 2 of registry/name:tag"
};

// Where the bytes come from at first. Called for ranges that this node was elected to read, from
// several threads at once.
class Source {
 public:
  virtual ~Source() = default;
  // Delivers exactly `length` bytes from `offset`, in order. Several calls of `sink`.
  virtual absl::Status Read(uint64_t offset, uint64_t length,
                            const std::function<absl::Status(std::string_view)>& sink,
                            util::OpControl& control) = 0;
};

struct EngineOptions {
  std::string self;  // name of this node, as in the members
  std::shared_ptr<ChunkStore> store;
  std::shared_ptr<net::HttpClient> client;
  std::shared_ptr<security::TlsIdentity> identity;
  monitor::Registry* metrics = nullptr;
  util::Logger log;
  uint64_t source_rate_bytes = 0;  // bytes/s over all objects; 0: no limit
  uint32_t parallel_chunks = 8;    // in flight per object
};

// Thread-safe.
class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();

  // Gets the whole object into the store: verified, committed. `members` empty or only self: reads
  // all from the source. Several calls for the same object at once share one transfer. Resumes what
  // an earlier life of the process had. Stats are those of this node. DATA_LOSS `transfer.digest`;
  // UNAVAILABLE `transfer.no_peer` when neither peers nor source deliver.
  absl::StatusOr<v1::TransferStats> Fetch(const ObjectSpec& spec, Source& source,
                                          std::span<const v1::Member> members,
                                          util::OpControl& control);

  // Peer routes: GET/HEAD /v2/<name>/blobs/<digest> (Range; waits for bytes that have not arrived),
  // GET /aistation/v1/chunks/<id> (digests). Returns false when the path is not one of these.
  bool Handles(const net::ServerRequest& request) const;
  absl::Status Handle(const net::ServerRequest& request, net::Responder& responder);

  ChunkStore& store();
  // Sums since start.
  v1::TransferStats totals() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace aistation::transfer
