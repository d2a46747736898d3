// SPDX-License-Identifier: Apache-2.0
#include "transfer/engine.h"

#include <algorithm>
#include <map>

#include "net/rate_limiter.h"
#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "transfer/fetch.h"
#include "util/clock.h"
#include "util/mutex.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

constexpr std::string_view kChunks = "/aistation/v1/chunks/";
constexpr int64_t kMaxWaitMs = 30'000;
constexpr int64_t kSlice = 200'000'000;
constexpr uint64_t kServePiece = 256u << 10;

// The digest of "/v2/<name>/blobs/<digest>", "" when the path is another one.
std::string_view BlobDigest(std::string_view path) {
  if (path.substr(0, 4) != "/v2/") return {};
  const size_t at = path.rfind("/blobs/");
  return at == std::string_view::npos || at < 4 ? std::string_view() : path.substr(at + 7);
}

// A transfer that runs; others who want the same object wait for it.
struct Flight {
  std::atomic<bool> source_failed{false};
  bool ended = false;
};

}  // namespace

struct Engine::State {
  explicit State(EngineOptions o)
      : options(std::move(o)), source_limiter(options.source_rate_bytes) {}
  const EngineOptions options;
  net::RateLimiter source_limiter;
  util::Mutex mutex;
  util::CondVar changed;
  std::map<std::string, std::shared_ptr<Flight>, std::less<>> flights AIST_GUARDED_BY(mutex);
  std::map<std::string, uint64_t, std::less<>> sent AIST_GUARDED_BY(mutex);  // bytes by object
  v1::TransferStats totals AIST_GUARDED_BY(mutex);

  // Becomes the one who fetches, or waits until another one has: then null.
  absl::StatusOr<std::shared_ptr<Flight>> Board(const std::string& id, util::OpControl& control) {
    while (true) {
      AIST_RETURN_IF_ERROR(control.Check());
      const util::MutexLock lock(mutex);
      const auto found = flights.find(id);
      if (found == flights.end()) {
        return flights.emplace(id, std::make_shared<Flight>()).first->second;
      }
      const auto flight = found->second;
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
      while (!flight->ended && changed.WaitUntil(mutex, until)) {
      }
      if (flight->ended) return std::shared_ptr<Flight>();
    }
  }

  void Land(const std::string& id) {
    const util::MutexLock lock(mutex);
    const auto found = flights.find(id);
    found->second->ended = true;
    flights.erase(found);
    changed.NotifyAll();
  }

  uint64_t Sent(std::string_view id) {
    const util::MutexLock lock(mutex);
    const auto found = sent.find(id);
    return found == sent.end() ? 0 : found->second;
  }

  void Count(const v1::TransferStats& stats) {
    {
      const util::MutexLock lock(mutex);
      totals.set_bytes_total(totals.bytes_total() + stats.bytes_total());
      totals.set_bytes_source(totals.bytes_source() + stats.bytes_source());
      totals.set_bytes_peers(totals.bytes_peers() + stats.bytes_peers());
      totals.set_bytes_local(totals.bytes_local() + stats.bytes_local());
      totals.set_retries(totals.retries() + stats.retries());
    }
    if (options.metrics == nullptr) return;
    constexpr const char* kName = "aistation_transfer_received_bytes_total";
    constexpr const char* kHelp = "Bytes received, by where they came from.";
    (void)options.metrics->CounterAdd(kName, kHelp, {{"from", "source"}},
                                      static_cast<double>(stats.bytes_source()));
    (void)options.metrics->CounterAdd(kName, kHelp, {{"from", "peer"}},
                                      static_cast<double>(stats.bytes_peers()));
    for (const auto& peer : stats.quarantined()) {
      options.metrics->Emit({0,
                             0,
                             "transfer",
                             "quarantine",
                             monitor::Severity::kWarning,
                             util::StrCat(peer, " sent bad bytes"),
                             {{"peer", peer}}});
    }
  }

  void CountSent(const std::string& id, uint64_t bytes) {
    {
      const util::MutexLock lock(mutex);
      totals.set_bytes_sent(totals.bytes_sent() + bytes);
      if (sent.size() > 100'000) sent.clear();  // bounded; only a statistic
      sent[id] += bytes;
    }
    if (options.metrics != nullptr) {
      (void)options.metrics->CounterAdd("aistation_transfer_sent_bytes_total",
                                        "Bytes sent to other nodes and to the container runtime.",
                                        {}, static_cast<double>(bytes));
    }
  }

  absl::Status ServeDigests(std::string_view id, net::Responder& responder) {
    AIST_ASSIGN_OR_RETURN(const ObjectInfo info, options.store->Info(id));
    v1::ChunkDigests digests;
    digests.set_blob(info.id);
    digests.set_size_bytes(info.size);
    digests.set_chunk_bytes(info.chunk_bytes);
    digests.set_verified(info.complete);
    const std::string none(security::kSha256Size, '\0');
    for (uint64_t i = 0; i < ChunkCount(info.size, info.chunk_bytes); ++i) {
      digests.mutable_sha256()->append(options.store->ChunkDigest(id, i).value_or(none));
    }
    return responder.Send(200, "application/x-protobuf", digests.SerializeAsString());
  }

  // Waits until the chunk is here, the time is over, or the source has failed for this node.
  absl::Status WaitFor(std::string_view id, uint64_t chunk, int64_t wait_ms,
                       const net::Responder& responder) {
    const int64_t until = util::RealClock().MonotonicNanos() + wait_ms * 1'000'000;
    while (true) {
      const int64_t left = until - util::RealClock().MonotonicNanos();
      const absl::Status status =
          options.store->WaitChunk(id, chunk, std::clamp<int64_t>(left, 0, kSlice));
      const bool waits = status.code() == absl::StatusCode::kDeadlineExceeded ||
                         status.code() == absl::StatusCode::kNotFound;
      if (status.ok() || !waits) return status;
      {
        const util::MutexLock lock(mutex);
        const auto flight = flights.find(id);
        if (flight != flights.end() && flight->second->source_failed.load()) {
          return util::Unavailable("transfer.source_failed",
                                   util::StrCat(id, ": the source fails for this node"));
        }
      }
      if (left <= 0 || responder.stopping()) return status;
      // Not begun yet: this node has not been told so far.
      if (status.code() == absl::StatusCode::kNotFound) util::RealClock().SleepNanos(20'000'000);
    }
  }

  absl::Status ServeRange(const std::string& id, uint64_t offset, uint64_t length,
                          net::Responder& responder) {
    const auto use = options.store->Use(id);
    AIST_ASSIGN_OR_RETURN(const ObjectInfo info, options.store->Info(id));
    if (info.complete) {
      AIST_ASSIGN_OR_RETURN(const util::Fd fd, options.store->OpenObject(id));
      AIST_RETURN_IF_ERROR(responder.WriteFile(fd.get(), offset, length));
      CountSent(id, length);
      return absl::OkStatus();
    }
    while (length > 0) {
      const uint64_t chunk = offset / info.chunk_bytes;
      AIST_RETURN_IF_ERROR(WaitFor(id, chunk, kMaxWaitMs, responder));
      const uint64_t piece =
          std::min({kServePiece, length, (chunk + 1) * info.chunk_bytes - offset});
      AIST_ASSIGN_OR_RETURN(const std::string bytes, options.store->Read(id, offset, piece));
      AIST_RETURN_IF_ERROR(responder.Write(bytes));
      CountSent(id, piece);
      offset += piece;
      length -= piece;
    }
    return absl::OkStatus();
  }

  absl::Status ServeChunk(std::string_view rest, const net::ServerRequest& request,
                          net::Responder& responder) {
    const size_t slash = rest.find('/');
    const std::string id(rest.substr(0, slash));
    const auto chunk = util::ParseInt<uint64_t>(rest.substr(slash + 1));
    const auto wait = util::ParseInt<int64_t>(request.Query("wait_ms"));
    if (!chunk.has_value()) {
      return util::InvalidArgument("transfer.path",
                                   util::StrCat(request.path, ": expected a chunk number"));
    }
    AIST_RETURN_IF_ERROR(
        WaitFor(id, *chunk, std::clamp<int64_t>(wait.value_or(0), 0, kMaxWaitMs), responder));
    AIST_ASSIGN_OR_RETURN(const ObjectInfo info, options.store->Info(id));
    const auto digest = options.store->ChunkDigest(id, *chunk);
    if (!digest.has_value()) {
      return util::NotFound("transfer.no_chunk", util::StrCat(id, ": the chunk went meanwhile"));
    }
    const uint64_t offset = *chunk * info.chunk_bytes;
    const uint64_t length = std::min(info.chunk_bytes, info.size - offset);
    AIST_RETURN_IF_ERROR(responder.Start(200,
                                         {{"Content-Type", "application/octet-stream"},
                                          {"Aistation-Sha256", util::HexEncode(*digest)}},
                                         length));
    return ServeRange(id, offset, length, responder);
  }

  absl::Status ServeBlob(const std::string& digest, const net::ServerRequest& request,
                         net::Responder& responder) {
    AIST_RETURN_IF_ERROR(security::ParseDigest(digest).status());
    AIST_ASSIGN_OR_RETURN(const ObjectInfo info, options.store->Info(digest));
    AIST_ASSIGN_OR_RETURN(const auto range,
                          net::ParseRange(net::FindHeader(request.headers, "Range"), info.size));
    const net::ByteRange span = range.value_or(net::ByteRange{0, info.size});
    net::Headers headers = {{"Content-Type", "application/octet-stream"},
                            {"Docker-Content-Digest", digest},
                            {"Accept-Ranges", "bytes"}};
    if (range.has_value()) {
      headers.emplace_back(
          "Content-Range",
          util::StrCat("bytes ", span.offset, "-", span.offset + span.length - 1, "/", info.size));
    }
    AIST_RETURN_IF_ERROR(responder.Start(range.has_value() ? 206 : 200, headers, span.length));
    if (request.method == "HEAD") return absl::OkStatus();
    return ServeRange(digest, span.offset, span.length, responder);
  }
};

Engine::Engine(EngineOptions options) : state_(std::make_shared<State>(std::move(options))) {}
Engine::~Engine() = default;
ChunkStore& Engine::store() { return *state_->options.store; }

v1::TransferStats Engine::totals() const {
  const util::MutexLock lock(state_->mutex);
  return state_->totals;
}

absl::StatusOr<v1::TransferStats> Engine::Fetch(const ObjectSpec& spec, Source& source,
                                                std::span<const v1::Member> members,
                                                util::OpControl& control) {
  AIST_RETURN_IF_ERROR(CheckGeometry(spec.id, spec.size, spec.chunk_bytes));
  State& state = *state_;
  const int64_t started = util::RealClock().MonotonicNanos();
  const uint64_t sent_before = state.Sent(spec.id);
  v1::TransferStats stats;
  stats.set_bytes_total(spec.size);
  while (true) {
    if (!state.options.store->PathOf(spec.id).empty()) {
      state.options.store->Touch(spec.id);
      stats.set_bytes_local(spec.size);
      break;
    }
    AIST_ASSIGN_OR_RETURN(const auto flight, state.Board(spec.id, control));
    if (flight == nullptr) continue;  // somebody else has ended; look again
    struct Landing {
      State& state;
      const std::string& id;
      ~Landing() { state.Land(id); }
    } landing{state, spec.id};
    if (!state.options.store->PathOf(spec.id).empty()) continue;
    FetchRun run(state.options, state.source_limiter, spec, source, members, flight->source_failed,
                 control);
    const absl::Status status = run.Run();
    stats = run.TakeStats();
    state.Count(stats);
    if (!status.ok()) return util::Annotate(status, spec.label);
    break;
  }
  stats.set_bytes_sent(state.Sent(spec.id) - sent_before);
  stats.set_elapsed_ns(static_cast<uint64_t>(util::RealClock().MonotonicNanos() - started));
  return stats;
}

bool Engine::Handles(const net::ServerRequest& request) const {
  return request.path.starts_with(kChunks) || !BlobDigest(request.path).empty();
}

absl::Status Engine::Handle(const net::ServerRequest& request, net::Responder& responder) {
  if (request.method != "GET" && request.method != "HEAD") {
    return util::Error(absl::StatusCode::kUnimplemented, "transfer.method",
                       util::StrCat(request.method, " ", request.path, ": only GET and HEAD"));
  }
  if (request.path.starts_with(kChunks)) {
    const std::string_view rest = std::string_view(request.path).substr(kChunks.size());
    if (rest.find('/') == std::string_view::npos) return state_->ServeDigests(rest, responder);
    return state_->ServeChunk(rest, request, responder);
  }
  return state_->ServeBlob(std::string(BlobDigest(request.path)), request, responder);
}

}  // namespace aistation::transfer
