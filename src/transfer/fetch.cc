// SPDX-License-Identifier: Apache-2.0
#include "transfer/fetch.h"

#include <algorithm>

#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "transfer/peer.h"
#include "util/clock.h"
#include "util/strings.h"
#include "util/thread.h"

namespace aistation::transfer {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
// A reader that cannot be reached, or stands still, is replaced after these times, multiplied by
// the place of the successor: the second in line waits twice as long as the first.
constexpr int64_t kUnreachablePatience = 3 * kSecond;
constexpr int64_t kStillPatience = 30 * kSecond;
constexpr int kSourceAttempts = 4;
// Asking around the tree earlier would load the links that make its parents late.
constexpr int kParentWaitMs = 15'000;

int64_t Now() { return util::RealClock().MonotonicNanos(); }

std::vector<v1::Member> WithSelf(std::span<const v1::Member> members, const std::string& self) {
  std::vector<v1::Member> all(members.begin(), members.end());
  for (const auto& member : all) {
    if (member.node() == self) return all;
  }
  all.emplace_back().set_node(self);
  return all;
}

uint64_t CountPresent(std::string_view digests) {
  static const std::string kNone(security::kSha256Size, '\0');
  uint64_t present = 0;
  for (size_t at = 0; at < digests.size(); at += security::kSha256Size) {
    if (digests.substr(at, security::kSha256Size) != kNone) ++present;
  }
  return present;
}

}  // namespace

FetchRun::FetchRun(const EngineOptions& options, net::RateLimiter& source_limiter,
                   const ObjectSpec& spec, Source& source, std::span<const v1::Member> members,
                   std::atomic<bool>& source_failed, util::OpControl& control)
    : options_(options),
      source_limiter_(source_limiter),
      spec_(spec),
      source_(source),
      plan_(spec.id, ChunkCount(spec.size, spec.chunk_bytes), WithSelf(members, options.self)),
      self_(plan_.Find(options.self)),
      source_failed_(source_failed),
      outer_(control),
      control_(control.deadline_ns()) {
  const util::MutexLock lock(mutex_);
  peers_.resize(plan_.members());
  supplier_.assign(plan_.chunks(), -1);
  stats_.set_bytes_total(spec.size);
}

uint64_t FetchRun::Length(uint64_t chunk) const {
  return std::min(spec_.chunk_bytes, spec_.size - chunk * spec_.chunk_bytes);
}

v1::TransferStats FetchRun::TakeStats() {
  const util::MutexLock lock(mutex_);
  return stats_;
}

void FetchRun::Fail(const absl::Status& status) {
  {
    const util::MutexLock lock(mutex_);
    if (failure_.ok()) failure_ = status;
  }
  stop_.store(true, std::memory_order_release);
  control_.Cancel();
}

void FetchRun::Quarantine(size_t peer, std::string_view why) {
  const util::MutexLock lock(mutex_);
  if (peers_[peer].quarantined) return;
  peers_[peer].quarantined = true;
  stats_.add_quarantined(plan_.member(peer).node());
  options_.log.Warning("transfer", util::StrCat(spec_.id, ": ", plan_.member(peer).node(),
                                                " is asked no more: ", why));
}

// What the others have already: a node that joins late must not read the source again.
void FetchRun::Survey() {
  std::vector<util::Thread> threads;
  for (size_t peer = 0; peer < plan_.members(); ++peer) {
    if (peer == self_) continue;
    threads.push_back(util::Thread::Start("aist-survey", [this, peer] {
      auto digests =
          FetchDigests(*options_.client, options_.identity, plan_.member(peer), spec_.id, control_);
      const util::MutexLock lock(mutex_);
      Peer& state = peers_[peer];
      if (!digests.ok()) {
        if (digests.status().code() == absl::StatusCode::kUnavailable ||
            digests.status().code() == absl::StatusCode::kUnauthenticated) {
          state.unreachable_since = Now();
        }
        return;
      }
      if (digests->size_bytes() != spec_.size || digests->chunk_bytes() != spec_.chunk_bytes)
        return;
      state.present = CountPresent(digests->sha256());
      state.complete = state.present == plan_.chunks();
      state.digests = std::move(*digests->mutable_sha256());
    }));
    if (threads.size() >= 32) threads.clear();  // joins; bounded
  }
}

bool FetchRun::PeerHas(size_t peer, uint64_t chunk) {
  const util::MutexLock lock(mutex_);
  const Peer& state = peers_[peer];
  if (peer == self_ || state.quarantined || state.digests.empty()) return false;
  return CountPresent(std::string_view(state.digests)
                          .substr(chunk * security::kSha256Size, security::kSha256Size)) == 1;
}

bool FetchRun::Unreachable(size_t peer) {
  const util::MutexLock lock(mutex_);
  return peers_[peer].unreachable_since != 0;
}

bool FetchRun::TryPeer(size_t peer, uint64_t chunk, int wait_ms, bool* source_failed) {
  {
    const util::MutexLock lock(mutex_);
    if (peer == self_ || peers_[peer].quarantined) return false;
  }
  auto got = FetchChunk(*options_.client, options_.identity, plan_.member(peer), spec_.id, chunk,
                        Length(chunk), wait_ms, control_);
  absl::Status status = got.ok()
                            ? options_.store->WriteChunk(spec_.id, chunk, got->bytes, got->sha256)
                            : got.status();
  if (status.ok()) {
    const util::MutexLock lock(mutex_);
    supplier_[chunk] = static_cast<int32_t>(peer);
    stats_.set_bytes_peers(stats_.bytes_peers() + Length(chunk));
    peers_[peer].unreachable_since = 0;
    peers_[plan_.Reader(chunk)].last_progress_ns = Now();
    return true;
  }
  if (got.ok()) {  // our own disk
    Fail(status);
    return false;
  }
  if (util::Reason(status) == "transfer.bad_peer" || util::Reason(status) == "net.body_size") {
    Quarantine(peer, util::Message(status));
    return false;
  }
  const util::MutexLock lock(mutex_);
  Peer& state = peers_[peer];
  const std::string reason = util::Reason(status);
  if (reason == "transfer.source_failed") {
    *source_failed = true;
  } else if (reason == "transfer.no_object" || reason.substr(0, 4) == "net.") {
    if (state.unreachable_since == 0) state.unreachable_since = Now();
    stats_.set_retries(stats_.retries() + 1);
  } else {
    state.unreachable_since = 0;
  }
  return false;
}

// Whether it is this member's turn to read `chunk` from the source in place of its reader.
bool FetchRun::ReaderHasFailed(uint64_t chunk, bool source_failed_seen) {
  const size_t reader = plan_.Reader(chunk);
  const auto turn = static_cast<int64_t>(plan_.Succession(chunk, self_));
  {
    const util::MutexLock lock(mutex_);
    const Peer& state = peers_[reader];
    if (reader == self_ || state.quarantined) return true;
    if (source_failed_seen && turn == 1) return true;
    if (state.unreachable_since != 0 &&
        Now() - state.unreachable_since <= turn * kUnreachablePatience) {
      return false;
    }
  }
  // Asked once more before the source is: a full link looks like a dead peer for a while.
  const auto digests =
      FetchDigests(*options_.client, options_.identity, plan_.member(reader), spec_.id, control_);
  const util::MutexLock lock(mutex_);
  Peer& state = peers_[reader];
  if (!digests.ok()) {
    const bool again = state.unreachable_since != 0;
    if (!again) state.unreachable_since = Now();
    return again;
  }
  state.unreachable_since = 0;
  const uint64_t present = CountPresent(digests->sha256());
  if (present > state.present || state.last_progress_ns == 0) {
    state.present = present;
    state.last_progress_ns = Now();
  }
  const int64_t patience = source_failed_seen ? kUnreachablePatience : kStillPatience;
  return Now() - state.last_progress_ns > turn * patience;
}

absl::Status FetchRun::GetFromPeers(uint64_t chunk) {
  // Those that had it at the start, each node beginning with another one.
  for (size_t i = 0; i < plan_.members(); ++i) {
    const size_t peer = (self_ + chunk + i) % plan_.members();
    bool ignored = false;
    if (PeerHas(peer, chunk) && TryPeer(peer, chunk, 0, &ignored)) return absl::OkStatus();
  }
  const size_t parent = plan_.Parent(chunk, self_);
  const size_t reader = plan_.Reader(chunk);
  int64_t pause = 20'000'000;
  while (!Stopped()) {
    AIST_RETURN_IF_ERROR(control_.Check());
    if (options_.store->HasChunk(spec_.id, chunk)) return absl::OkStatus();
    bool source_failed = false;
    if (parent != self_ &&
        TryPeer(parent, chunk, Unreachable(parent) ? 0 : kParentWaitMs, &source_failed))
      return absl::OkStatus();
    if (reader != parent && reader != self_ && TryPeer(reader, chunk, 1000, &source_failed)) {
      return absl::OkStatus();
    }
    for (size_t i = 1; i < plan_.members() && !Stopped(); ++i) {
      const size_t peer = (parent + i) % plan_.members();
      bool unreachable = false;
      {
        const util::MutexLock lock(mutex_);
        unreachable =
            peers_[peer].unreachable_since != 0 && Now() - peers_[peer].unreachable_since < kSecond;
      }
      if (peer != reader && !unreachable && TryPeer(peer, chunk, 0, &source_failed)) {
        return absl::OkStatus();
      }
    }
    if (ReaderHasFailed(chunk, source_failed)) return ReadSource(chunk, 1);
    AIST_RETURN_IF_ERROR(control_.Sleep(pause));
    pause = std::min<int64_t>(pause * 2, kSecond / 2);
  }
  return control_.Check();
}

absl::Status FetchRun::ReadSourceOnce(uint64_t first, uint64_t end) {
  std::string bytes;
  uint64_t chunk = first;
  const uint64_t offset = first * spec_.chunk_bytes;
  const uint64_t length = std::min(end * spec_.chunk_bytes, spec_.size) - offset;
  bytes.reserve(Length(first));
  return source_.Read(
      offset, length,
      [&](std::string_view piece) -> absl::Status {
        AIST_RETURN_IF_ERROR(control_.Sleep(source_limiter_.Reserve(piece.size(), Now())));
        {
          const util::MutexLock lock(mutex_);
          stats_.set_bytes_source(stats_.bytes_source() + piece.size());
        }
        while (!piece.empty()) {
          if (chunk >= end) {
            return util::DataLoss("transfer.source",
                                  util::StrCat(spec_.label, ": the source sent too many bytes"));
          }
          const size_t take = std::min<size_t>(piece.size(), Length(chunk) - bytes.size());
          bytes.append(piece.substr(0, take));
          piece.remove_prefix(take);
          if (bytes.size() < Length(chunk)) continue;
          AIST_RETURN_IF_ERROR(
              options_.store->WriteChunk(spec_.id, chunk, bytes, security::Sha256(bytes)));
          bytes.clear();
          ++chunk;
        }
        return absl::OkStatus();
      },
      control_);
}

absl::Status FetchRun::ReadSource(uint64_t first, uint64_t count) {
  const uint64_t end = std::min(first + count, plan_.chunks());
  absl::Status last;
  for (int attempt = 0; attempt < kSourceAttempts && !Stopped(); ++attempt) {
    if (attempt > 0) {
      AIST_RETURN_IF_ERROR(control_.Sleep(kSecond / 5 << attempt));
      const util::MutexLock lock(mutex_);
      stats_.set_retries(stats_.retries() + 1);
    }
    last = absl::OkStatus();
    for (uint64_t chunk = first; chunk < end && last.ok();) {
      if (options_.store->HasChunk(spec_.id, chunk)) {
        ++chunk;
        continue;
      }
      uint64_t gap_end = chunk;
      while (gap_end < end && !options_.store->HasChunk(spec_.id, gap_end)) ++gap_end;
      last = ReadSourceOnce(chunk, gap_end);
      if (last.ok() && !options_.store->HasChunk(spec_.id, chunk)) {
        last = util::DataLoss("transfer.source",
                              util::StrCat(spec_.label, ": the source sent too few bytes"));
      }
    }
    if (last.ok()) return last;
    AIST_RETURN_IF_ERROR(control_.Check());
    if (!util::Hints(last).retryable) break;
  }
  source_failed_.store(true, std::memory_order_release);
  return last;
}

void FetchRun::Work(bool for_source) {
  while (!Stopped()) {
    uint64_t chunk = 0;
    bool own = false;
    {
      const util::MutexLock lock(mutex_);
      if (for_source && next_own_ < own_.size()) {
        chunk = own_[next_own_++];
        own = true;
      } else if (!for_source && next_other_ < others_.size()) {
        chunk = others_[next_other_++];
      } else {
        return;
      }
    }
    absl::Status status = own ? ReadSource(chunk, kRunChunks) : GetFromPeers(chunk);
    if (!status.ok() && own && plan_.members() > 1 && control_.Check().ok()) {
      // The source fails for us; it may not for the others, who read in our place then.
      options_.log.Warning("transfer", util::StrCat(spec_.label, ": ", util::Message(status)));
      const absl::Status source_error = status;
      status = absl::OkStatus();
      for (uint64_t c = chunk; c < std::min(chunk + kRunChunks, plan_.chunks()) && status.ok();
           ++c) {
        const int64_t give_up = Now() + 20 * kSecond;
        while (status.ok() && !options_.store->HasChunk(spec_.id, c)) {
          bool ignored = false;
          for (size_t i = 1; i < plan_.members(); ++i) {
            if (TryPeer((self_ + i) % plan_.members(), c, i == 1 ? 1000 : 0, &ignored)) break;
          }
          if (!options_.store->HasChunk(spec_.id, c)) {
            status = Now() > give_up ? source_error : control_.Sleep(kSecond / 10);
          }
        }
      }
    }
    if (!status.ok()) Fail(status);
  }
}

// What is here, what others hold already, what this node was elected to read.
void FetchRun::SortChunks() {
  std::vector<bool> held(plan_.chunks(), false);
  for (uint64_t chunk = 0; chunk < plan_.chunks(); ++chunk) {
    for (size_t peer = 0; peer < plan_.members() && !held[chunk]; ++peer) {
      held[chunk] = PeerHas(peer, chunk);
    }
  }
  const util::MutexLock lock(mutex_);
  for (uint64_t run = 0; run < plan_.chunks(); run += kRunChunks) {
    if (plan_.Reader(run) != self_) continue;
    bool missing = false;
    for (uint64_t c = run; c < std::min(run + kRunChunks, plan_.chunks()); ++c) {
      if (options_.store->HasChunk(spec_.id, c)) continue;
      if (held[c]) {
        others_.push_back(c);
      } else {
        missing = true;
      }
    }
    if (missing) own_.push_back(run);
  }
  for (const uint64_t chunk : plan_.FetchOrder(self_)) {
    if (!options_.store->HasChunk(spec_.id, chunk)) others_.push_back(chunk);
  }
}

absl::Status FetchRun::Transfer() {
  {
    const util::MutexLock lock(mutex_);
    for (uint64_t chunk = 0; chunk < plan_.chunks(); ++chunk) {
      if (options_.store->HasChunk(spec_.id, chunk)) {
        stats_.set_bytes_local(stats_.bytes_local() + Length(chunk));
      }
    }
  }
  outer_.SetProgress(0, spec_.size, spec_.label);
  if (plan_.members() > 1) Survey();
  SortChunks();
  const uint32_t readers = std::max(1u, options_.parallel_chunks / 4);
  std::vector<util::Thread> threads;
  for (uint32_t i = 0; i < readers + options_.parallel_chunks; ++i) {
    const bool for_source = i < readers;
    auto thread = util::Thread::Start("aist-fetch", [this, for_source] {
      try {
        Work(for_source);
      } catch (const std::exception& e) {
        Fail(util::Internal("transfer.worker", e.what()));
      }
    });
    if (thread.joinable()) threads.push_back(std::move(thread));
  }
  if (threads.size() < readers + options_.parallel_chunks) {
    Fail(util::Error(absl::StatusCode::kResourceExhausted, "transfer.thread",
                     "the system has no thread left for a transfer"));
  }
  const uint64_t hook = outer_.OnCancel([this] { control_.Cancel(); });
  std::atomic<bool> finished{false};
  auto reporter = util::Thread::Start("aist-progress", [&] {
    while (!finished.load()) {
      {
        const util::MutexLock lock(mutex_);
        outer_.SetProgress(
            std::min(stats_.bytes_local() + stats_.bytes_peers() + stats_.bytes_source(),
                     spec_.size),
            spec_.size, spec_.label);
      }
      util::RealClock().SleepNanos(50'000'000);
    }
  });
  threads.clear();  // joins
  finished.store(true);
  reporter.Join();
  outer_.RemoveCancelHook(hook);
  AIST_RETURN_IF_ERROR(outer_.Check());
  const util::MutexLock lock(mutex_);
  return failure_;
}

// Datasets have no digest of the whole: what relays gave is compared with what each chunk's reader
// has. What differs is read again from the source, and the relay is asked no more.
absl::Status FetchRun::CompareWithReaders() {
  std::vector<int32_t> suppliers;
  {
    const util::MutexLock lock(mutex_);
    suppliers = supplier_;
  }
  for (size_t reader = 0; reader < plan_.members(); ++reader) {
    if (reader == self_) continue;
    bool needed = false;
    for (uint64_t chunk = 0; chunk < plan_.chunks() && !needed; ++chunk) {
      needed = plan_.Reader(chunk) == reader && suppliers[chunk] >= 0 &&
               static_cast<size_t>(suppliers[chunk]) != reader;
    }
    if (!needed) continue;
    const auto digests =
        FetchDigests(*options_.client, options_.identity, plan_.member(reader), spec_.id, control_);
    if (!digests.ok() || digests->sha256().size() != plan_.chunks() * security::kSha256Size)
      continue;
    for (uint64_t chunk = 0; chunk < plan_.chunks(); ++chunk) {
      if (plan_.Reader(chunk) != reader || suppliers[chunk] < 0) continue;
      const std::string theirs =
          digests->sha256().substr(chunk * security::kSha256Size, security::kSha256Size);
      if (CountPresent(theirs) == 0 || options_.store->ChunkDigest(spec_.id, chunk) == theirs)
        continue;
      Quarantine(static_cast<size_t>(suppliers[chunk]), "a chunk differs from its reader's");
      AIST_RETURN_IF_ERROR(options_.store->DropChunk(spec_.id, chunk));
      AIST_RETURN_IF_ERROR(ReadSource(chunk, 1));
    }
  }
  return absl::OkStatus();
}

// The whole does not have its digest: somebody lied about a chunk. Everything that came from peers
// is compared with the source.
absl::Status FetchRun::Repair() {
  options_.log.Warning("transfer", util::StrCat(spec_.label,
                                                ": the content does not have its "
                                                "digest; comparing with the source"));
  for (uint64_t chunk = 0; chunk < plan_.chunks(); ++chunk) {
    int32_t supplier = -1;
    {
      const util::MutexLock lock(mutex_);
      supplier = supplier_[chunk];
    }
    const auto before = options_.store->ChunkDigest(spec_.id, chunk);
    AIST_RETURN_IF_ERROR(options_.store->DropChunk(spec_.id, chunk));
    AIST_RETURN_IF_ERROR(ReadSource(chunk, 1));
    if (supplier >= 0 && options_.store->ChunkDigest(spec_.id, chunk) != before) {
      Quarantine(static_cast<size_t>(supplier), "it sent bytes that the source does not have");
    }
  }
  return absl::OkStatus();
}

absl::Status FetchRun::Run() {
  AIST_RETURN_IF_ERROR(options_.store->Begin(spec_.id, spec_.size, spec_.chunk_bytes));
  const auto use = options_.store->Use(spec_.id);
  AIST_RETURN_IF_ERROR(Transfer());
  if (spec_.expected_digest.empty() && plan_.members() > 1) {
    AIST_RETURN_IF_ERROR(CompareWithReaders());
  }
  outer_.SetProgress(spec_.size, spec_.size, "verifying " + spec_.label);
  absl::Status status = options_.store->Commit(spec_.id, spec_.expected_digest, outer_);
  if (util::Reason(status) == "transfer.digest") {
    AIST_RETURN_IF_ERROR(Repair());
    status = options_.store->Commit(spec_.id, spec_.expected_digest, outer_);
  }
  if (util::Reason(status) == "transfer.digest") {
    (void)options_.store->Remove(spec_.id);  // nothing of it can be trusted
  }
  return status;
}

}  // namespace aistation::transfer
