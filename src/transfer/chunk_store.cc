// SPDX-License-Identifier: Apache-2.0
#include "transfer/chunk_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "util/mutex.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

constexpr size_t kPiece = 1u << 20;

struct Object {
  Object(std::string i, uint64_t s, uint64_t c) : id(std::move(i)), size(s), chunk_bytes(c) {
    digests.resize(ChunkCount(s, c));
  }
  const std::string id;
  const uint64_t size;
  const uint64_t chunk_bytes;
  util::Mutex mutex;
  util::CondVar changed;
  std::vector<std::string> digests AIST_GUARDED_BY(mutex);
  uint64_t present AIST_GUARDED_BY(mutex) = 0;  // chunks
  bool complete AIST_GUARDED_BY(mutex) = false;
  bool dropped AIST_GUARDED_BY(mutex) = false;
  std::set<std::string, std::less<>> pins AIST_GUARDED_BY(mutex);
  int64_t last_used AIST_GUARDED_BY(mutex) = 0;
  uint64_t journal_end AIST_GUARDED_BY(mutex) = 0;
  util::Fd data;     // open for reading and, while partial, writing
  util::Fd journal;  // while partial
  std::shared_ptr<int> users = std::make_shared<int>(0);  // use_count() - 1 are in use

  uint64_t ChunkLength(uint64_t chunk) const {
    return std::min(chunk_bytes, size - chunk * chunk_bytes);
  }
};
using ObjectPtr = std::shared_ptr<Object>;

absl::Status Missing(std::string_view id) {
  return util::NotFound("transfer.no_object", util::StrCat("object ", id, " is not on this node"));
}

class DiskStore final : public ChunkStore {
 public:
  DiskStore(std::string directory, util::FileLock lock, util::Clock& clock)
      : directory_(std::move(directory)), lock_(std::move(lock)), clock_(clock) {}

  absl::Status Recover() {
    for (const char* sub : {"partial", "objects", "pins"}) {
      AIST_RETURN_IF_ERROR(util::MakeDirectories(util::JoinPath(directory_, sub)));
    }
    AIST_RETURN_IF_ERROR(RecoverComplete());
    return RecoverPartial();
  }

  absl::Status Begin(std::string_view id, uint64_t size, uint64_t chunk_bytes) override {
    AIST_RETURN_IF_ERROR(CheckId(id));
    AIST_RETURN_IF_ERROR(CheckGeometry(id, size, chunk_bytes));
    const util::MutexLock lock(mutex_);
    if (const auto found = objects_.find(id); found != objects_.end()) {
      const Object& object = *found->second;
      if (object.size == size && object.chunk_bytes == chunk_bytes) return absl::OkStatus();
      const util::MutexLock object_lock(found->second->mutex);
      if (found->second->complete && object.size == size) return absl::OkStatus();
      return util::FailedPrecondition(
          "transfer.geometry",
          util::StrCat("object ", id, " is here with ", object.size, " bytes in chunks of ",
                       object.chunk_bytes, ", not ", size, " in chunks of ", chunk_bytes,
                       "; remove it first"));
    }
    auto object = std::make_shared<Object>(std::string(id), size, chunk_bytes);
    AIST_ASSIGN_OR_RETURN(object->data, util::OpenFile(Partial(id), O_RDWR | O_CREAT | O_TRUNC));
    if (ftruncate(object->data.get(), static_cast<off_t>(size)) != 0) {
      return util::ErrnoError(errno, "transfer.disk", util::StrCat("cannot size ", Partial(id)));
    }
    const std::string header = JournalHeader(size, chunk_bytes);
    AIST_RETURN_IF_ERROR(util::WriteFileDurably(PartialJournal(id), header));
    AIST_ASSIGN_OR_RETURN(object->journal, util::OpenFile(PartialJournal(id), O_RDWR));
    {
      const util::MutexLock object_lock(object->mutex);
      object->journal_end = header.size();
      object->last_used = clock_.UnixNanos();
    }
    objects_.emplace(std::string(id), std::move(object));
    return absl::OkStatus();
  }

  absl::StatusOr<ObjectInfo> Info(std::string_view id) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    return Describe(*object);
  }

  std::vector<ObjectInfo> List() override {
    std::vector<ObjectInfo> list;
    for (const auto& object : All()) list.push_back(Describe(*object));
    return list;
  }

  std::string PathOf(std::string_view id) override {
    const auto object = Find(id);
    if (!object.ok()) return "";
    const util::MutexLock lock((*object)->mutex);
    return (*object)->complete ? Complete(id) : "";
  }

  bool HasChunk(std::string_view id, uint64_t chunk) override {
    return ChunkDigest(id, chunk).has_value();
  }

  absl::Status WriteChunk(std::string_view id, uint64_t chunk, std::string_view bytes,
                          std::string_view sha256) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    if (chunk >= ChunkCount(object->size, object->chunk_bytes) ||
        bytes.size() != object->ChunkLength(chunk)) {
      return util::InvalidArgument(
          "transfer.chunk", util::StrCat("object ", id, ": chunk ", chunk, " of ", bytes.size(),
                                         " bytes does not belong to it"));
    }
    if (security::Sha256(bytes) != sha256) {
      return util::DataLoss("transfer.digest", util::StrCat("object ", id, ": chunk ", chunk,
                                                            " does not have its digest"));
    }
    {
      const util::MutexLock lock(object->mutex);
      if (object->dropped) return Missing(id);
      if (!object->digests[chunk].empty()) return absl::OkStatus();
    }
    AIST_RETURN_IF_ERROR(
        util::PwriteAll(object->data.get(), bytes, chunk * object->chunk_bytes, Partial(id)));
    const util::MutexLock lock(object->mutex);
    if (object->dropped) return Missing(id);
    if (!object->digests[chunk].empty()) return absl::OkStatus();
    AIST_RETURN_IF_ERROR(AppendRecord(*object, chunk, sha256));
    object->digests[chunk] = std::string(sha256);
    ++object->present;
    object->changed.NotifyAll();
    return absl::OkStatus();
  }

  absl::Status WaitChunk(std::string_view id, uint64_t chunk, int64_t timeout_ns) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
    const util::MutexLock lock(object->mutex);
    if (chunk >= object->digests.size()) {
      return util::Error(absl::StatusCode::kOutOfRange, "transfer.chunk",
                         util::StrCat("object ", id, " has no chunk ", chunk));
    }
    while (object->digests[chunk].empty() && !object->dropped) {
      if (!object->changed.WaitUntil(object->mutex, until)) {
        return util::Error(absl::StatusCode::kDeadlineExceeded, "transfer.no_chunk",
                           util::StrCat("object ", id, ": chunk ", chunk, " is not here yet"));
      }
    }
    return object->dropped ? Missing(id) : absl::OkStatus();
  }

  std::optional<std::string> ChunkDigest(std::string_view id, uint64_t chunk) override {
    const auto object = Find(id);
    if (!object.ok()) return std::nullopt;
    const util::MutexLock lock((*object)->mutex);
    if (chunk >= (*object)->digests.size() || (*object)->digests[chunk].empty()) {
      return std::nullopt;
    }
    return (*object)->digests[chunk];
  }

  absl::Status DropChunk(std::string_view id, uint64_t chunk) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    const util::MutexLock lock(object->mutex);
    if (object->complete) {
      return util::FailedPrecondition("transfer.complete",
                                      util::StrCat("object ", id, " is committed"));
    }
    if (chunk >= object->digests.size() || object->digests[chunk].empty()) return absl::OkStatus();
    AIST_RETURN_IF_ERROR(AppendRecord(*object, chunk, ""));
    object->digests[chunk].clear();
    --object->present;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Read(std::string_view id, uint64_t offset, uint64_t length) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    if (offset > object->size || length > object->size - offset || length > kMaxChunkBytes) {
      return util::Error(absl::StatusCode::kOutOfRange, "transfer.range",
                         util::StrCat("object ", id, " of ", object->size, " bytes: ", length,
                                      " bytes from ", offset, " cannot be read at once"));
    }
    if (length == 0) return std::string();
    {
      const util::MutexLock lock(object->mutex);
      const uint64_t last = (offset + length - 1) / object->chunk_bytes;
      for (uint64_t chunk = offset / object->chunk_bytes; chunk <= last; ++chunk) {
        if (object->dropped || object->digests[chunk].empty()) {
          return util::NotFound("transfer.no_chunk",
                                util::StrCat("object ", id, ": chunk ", chunk, " is not here yet"));
        }
      }
    }
    std::string bytes(length, '\0');
    AIST_ASSIGN_OR_RETURN(const size_t got, util::PreadFull(object->data.get(), bytes.data(),
                                                            length, offset, object->id));
    if (got != length) {
      return util::DataLoss("transfer.disk",
                            util::StrCat("object ", id, ": its file is too short"));
    }
    return bytes;
  }

  absl::StatusOr<util::Fd> OpenObject(std::string_view id) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    const util::MutexLock lock(object->mutex);
    if (!object->complete) {
      return util::FailedPrecondition("transfer.partial",
                                      util::StrCat("object ", id, " is not complete yet"));
    }
    object->last_used = clock_.UnixNanos();
    return util::OpenFile(Complete(id), O_RDONLY);
  }

  absl::Status Commit(std::string_view id, std::string_view expected_digest,
                      util::OpControl& control) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    {
      const util::MutexLock lock(object->mutex);
      if (object->complete) return absl::OkStatus();
      if (object->present != object->digests.size()) {
        return util::FailedPrecondition("transfer.partial",
                                        util::StrCat("object ", id, ": ", object->present, " of ",
                                                     object->digests.size(), " chunks are here"));
      }
    }
    if (!expected_digest.empty()) {
      AIST_RETURN_IF_ERROR(CheckContent(*object, expected_digest, control));
    }
    if (fsync(object->data.get()) != 0) {
      return util::ErrnoError(errno, "transfer.disk", util::StrCat("cannot sync ", Partial(id)));
    }
    const util::MutexLock lock(object->mutex);
    if (object->dropped) return Missing(id);
    AIST_RETURN_IF_ERROR(PublishLocked(*object));
    object->complete = true;
    object->journal.Close();
    object->last_used = clock_.UnixNanos();
    return absl::OkStatus();
  }

  absl::Status Remove(std::string_view id) override {
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    {
      const util::MutexLock lock(mutex_);
      objects_.erase(std::string(id));
    }
    const util::MutexLock lock(object->mutex);
    object->dropped = true;
    object->changed.NotifyAll();
    // The data first: a digest file without data is swept, data without digests is read again.
    for (const std::string& path :
         {Complete(id), CompleteDigests(id), Partial(id), PartialJournal(id), Pins(id)}) {
      if (unlink(path.c_str()) != 0 && errno != ENOENT) {
        return util::ErrnoError(errno, "transfer.disk", util::StrCat("cannot remove ", path));
      }
    }
    return absl::OkStatus();
  }

  absl::Status PutWhole(std::string_view id, std::string_view content) override {
    AIST_RETURN_IF_ERROR(Begin(id, content.size(), kMaxChunkBytes));
    AIST_ASSIGN_OR_RETURN(const ObjectInfo info, Info(id));
    if (info.complete) return absl::OkStatus();
    for (uint64_t at = 0, chunk = 0; at < content.size(); at += kMaxChunkBytes, ++chunk) {
      const std::string_view piece = content.substr(at, kMaxChunkBytes);
      AIST_RETURN_IF_ERROR(WriteChunk(id, chunk, piece, security::Sha256(piece)));
    }
    util::OpControl control;
    return Commit(id, id.substr(0, 3) == "sha" ? id : std::string_view(), control);
  }

  absl::Status Pin(std::string_view id, std::string_view owner, bool on) override {
    if (!util::IsSafeName(owner)) {
      return util::InvalidArgument(
          "transfer.pin",
          util::StrCat("pin owner \"", util::Excerpt(owner), "\": expected a plain name"));
    }
    AIST_ASSIGN_OR_RETURN(const ObjectPtr object, Find(id));
    const util::MutexLock lock(object->mutex);
    auto pins = object->pins;
    if (on) {
      pins.insert(std::string(owner));
    } else {
      pins.erase(std::string(owner));
    }
    if (pins == object->pins) return absl::OkStatus();
    const std::vector<std::string> lines(pins.begin(), pins.end());
    AIST_RETURN_IF_ERROR(util::WriteFileDurably(Pins(id), util::Join(lines, "\n")));
    object->pins = std::move(pins);
    return absl::OkStatus();
  }

  void Touch(std::string_view id) override {
    const auto object = Find(id);
    if (!object.ok()) return;
    const util::MutexLock lock((*object)->mutex);
    (*object)->last_used = clock_.UnixNanos();
    const int64_t now = (*object)->last_used;
    const timespec at{static_cast<time_t>(now / 1'000'000'000), now % 1'000'000'000};
    const timespec times[2] = {at, at};
    // Survives a restart; if it fails only the order of eviction suffers.
    (void)utimensat(AT_FDCWD, CompleteDigests(id).c_str(), times, 0);
  }

  absl::StatusOr<uint64_t> Evict(uint64_t target_bytes) override {
    struct Candidate {
      int64_t last_used;
      std::string id;
      uint64_t size;
    };
    std::vector<Candidate> candidates;
    uint64_t total = 0;
    for (const auto& object : All()) {
      const util::MutexLock lock(object->mutex);
      total += object->size;
      if (object->complete && object->pins.empty() && object->users.use_count() == 1) {
        candidates.push_back({object->last_used, object->id, object->size});
      }
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.last_used, a.id) < std::tie(b.last_used, b.id);
    });
    uint64_t freed = 0;
    for (const auto& candidate : candidates) {
      if (total - freed <= target_bytes) break;
      AIST_RETURN_IF_ERROR(Remove(candidate.id));
      freed += candidate.size;
    }
    return freed;
  }

  std::shared_ptr<void> Use(std::string_view id) override {
    const auto object = Find(id);
    return object.ok() ? (*object)->users : nullptr;
  }

  uint64_t total_bytes() override {
    uint64_t total = 0;
    for (const auto& object : All()) total += object->size;
    return total;
  }

 private:
  static absl::Status CheckId(std::string_view id) {
    const size_t colon = id.find(':');
    if (colon == std::string_view::npos || !util::IsSafeName(id.substr(0, colon), 32) ||
        !util::IsSafeName(id.substr(colon + 1), 160) ||
        id.substr(0, colon).find('-') != std::string_view::npos) {
      return util::InvalidArgument(
          "transfer.id", util::StrCat("object \"", util::Excerpt(id), "\": expected kind:name"));
    }
    return absl::OkStatus();
  }
  static std::string FileName(std::string_view id) {
    std::string name(id);
    if (const size_t colon = name.find(':'); colon != std::string::npos) name[colon] = '-';
    return name;
  }
  static std::string IdOf(std::string_view name) {
    std::string id(name);
    if (const size_t dash = id.find('-'); dash != std::string::npos) id[dash] = ':';
    return id;
  }
  std::string Partial(std::string_view id) const {
    return util::StrCat(directory_, "/partial/", FileName(id));
  }
  std::string PartialJournal(std::string_view id) const { return Partial(id) + ".chunks"; }
  std::string Complete(std::string_view id) const {
    return util::StrCat(directory_, "/objects/", FileName(id));
  }
  std::string CompleteDigests(std::string_view id) const { return Complete(id) + ".chunks"; }
  std::string Pins(std::string_view id) const {
    return util::StrCat(directory_, "/pins/", FileName(id));
  }

  absl::StatusOr<ObjectPtr> Find(std::string_view id) {
    const util::MutexLock lock(mutex_);
    const auto found = objects_.find(id);
    if (found == objects_.end()) return Missing(id);
    return found->second;
  }
  std::vector<ObjectPtr> All() {
    const util::MutexLock lock(mutex_);
    std::vector<ObjectPtr> all;
    for (const auto& [id, object] : objects_) all.push_back(object);
    return all;
  }

  static ObjectInfo Describe(Object& object) {
    const util::MutexLock lock(object.mutex);
    ObjectInfo info{object.id,
                    object.size,
                    object.chunk_bytes,
                    object.complete,
                    static_cast<uint32_t>(object.pins.size()),
                    object.last_used,
                    0};
    for (uint64_t i = 0; i < object.digests.size(); ++i) {
      if (!object.digests[i].empty()) info.bytes_present += object.ChunkLength(i);
    }
    return info;
  }

  static absl::Status AppendRecord(Object& object, uint64_t chunk, std::string_view sha256)
      AIST_REQUIRES(object.mutex) {
    if (object.complete || !object.journal.valid()) {
      return util::FailedPrecondition("transfer.complete",
                                      util::StrCat("object ", object.id, " is committed"));
    }
    const std::string record = JournalRecord(chunk, sha256);
    AIST_RETURN_IF_ERROR(
        util::PwriteAll(object.journal.get(), record, object.journal_end, object.id));
    object.journal_end += record.size();
    return absl::OkStatus();
  }

  static absl::Status CheckContent(Object& object, std::string_view expected,
                                   util::OpControl& control) {
    AIST_ASSIGN_OR_RETURN(const security::Digest digest, security::ParseDigest(expected));
    security::Hasher hasher(digest.algorithm);
    std::string piece(kPiece, '\0');
    for (uint64_t at = 0; at < object.size;) {
      AIST_RETURN_IF_ERROR(control.Check());
      const size_t want = std::min<uint64_t>(kPiece, object.size - at);
      AIST_ASSIGN_OR_RETURN(const size_t got,
                            util::PreadFull(object.data.get(), piece.data(), want, at, object.id));
      if (got == 0) break;
      hasher.Update(std::string_view(piece.data(), got));
      at += got;
    }
    const std::string actual = util::HexEncode(hasher.Finish());
    if (actual == digest.hex) return absl::OkStatus();
    return util::DataLoss("transfer.digest",
                          util::StrCat("object ", object.id, ": its content has the digest ",
                                       digest.algorithm, ":", actual, ", expected ", expected));
  }

  // From partial to complete. Each step leaves a state that Recover() understands.
  absl::Status PublishLocked(Object& object) AIST_REQUIRES(object.mutex) {
    std::string digests = JournalHeader(object.size, object.chunk_bytes);
    for (uint64_t i = 0; i < object.digests.size(); ++i) {
      digests += JournalRecord(i, object.digests[i]);
    }
    AIST_RETURN_IF_ERROR(util::WriteFileDurably(CompleteDigests(object.id), digests));
    if (rename(Partial(object.id).c_str(), Complete(object.id).c_str()) != 0) {
      return util::ErrnoError(errno, "transfer.disk",
                              util::StrCat("cannot commit ", Complete(object.id)));
    }
    AIST_RETURN_IF_ERROR(util::SyncDirectory(directory_ + "/objects"));
    (void)unlink(PartialJournal(object.id).c_str());  // swept at the next start if this fails
    return absl::OkStatus();
  }

  absl::Status RecoverComplete() {
    const std::string base = directory_ + "/objects";
    AIST_ASSIGN_OR_RETURN(const auto names, util::ListDirectory(base));
    for (const auto& name : names) {
      const std::string path = util::JoinPath(base, name);
      if (name.ends_with(".chunks")) {
        if (!util::Exists(path.substr(0, path.size() - 7))) (void)unlink(path.c_str());
        continue;
      }
      const std::string id = IdOf(name);
      const auto text = util::ReadFile(path + ".chunks", 128u << 20);
      auto journal = text.ok() ? ReadJournal(*text, path) : text.status();
      struct stat info {};
      if (!journal.ok() || !CheckId(id).ok() || stat(path.c_str(), &info) != 0 ||
          static_cast<uint64_t>(info.st_size) != journal->size ||
          std::count(journal->digests.begin(), journal->digests.end(), "") != 0) {
        (void)unlink(path.c_str());  // a torn temporary file, or one that nobody vouches for
        continue;
      }
      auto object = std::make_shared<Object>(id, journal->size, journal->chunk_bytes);
      AIST_ASSIGN_OR_RETURN(object->data, util::OpenFile(path, O_RDONLY));
      struct stat used {};
      (void)stat((path + ".chunks").c_str(), &used);
      const util::MutexLock lock(object->mutex);
      object->digests = std::move(journal->digests);
      object->present = object->digests.size();
      object->complete = true;
      object->last_used = int64_t{used.st_mtim.tv_sec} * 1'000'000'000 + used.st_mtim.tv_nsec;
      if (const auto pins = util::ReadFile(Pins(id), 1u << 20); pins.ok()) {
        for (const auto line : util::Split(*pins, '\n')) {
          if (!line.empty()) object->pins.insert(std::string(line));
        }
      }
      const util::MutexLock map_lock(mutex_);
      objects_.emplace(id, object);
    }
    return absl::OkStatus();
  }

  absl::Status RecoverPartial() {
    const std::string base = directory_ + "/partial";
    AIST_ASSIGN_OR_RETURN(const auto names, util::ListDirectory(base));
    for (const auto& name : names) {
      if (name.ends_with(".chunks")) continue;
      AIST_RETURN_IF_ERROR(RecoverOnePartial(util::JoinPath(base, name), IdOf(name)));
    }
    for (const auto& name : names) {  // journals whose data went
      const std::string path = util::JoinPath(base, name);
      if (name.ends_with(".chunks") && !util::Exists(path.substr(0, path.size() - 7))) {
        (void)unlink(path.c_str());
      }
    }
    return absl::OkStatus();
  }

  absl::Status RecoverOnePartial(const std::string& path, const std::string& id) {
    const auto text = util::ReadFile(path + ".chunks", 128u << 20);
    auto journal = text.ok() ? ReadJournal(*text, path) : text.status();
    if (!journal.ok() || !CheckId(id).ok() || objects_.contains(id)) {
      (void)unlink(path.c_str());
      return absl::OkStatus();
    }
    auto object = std::make_shared<Object>(id, journal->size, journal->chunk_bytes);
    AIST_ASSIGN_OR_RETURN(object->data, util::OpenFile(path, O_RDWR));
    if (ftruncate(object->data.get(), static_cast<off_t>(object->size)) != 0) {
      return util::ErrnoError(errno, "transfer.disk", util::StrCat("cannot size ", path));
    }
    // The journal is written anew from what the disk really holds.
    std::string kept = JournalHeader(object->size, object->chunk_bytes);
    const util::MutexLock lock(object->mutex);
    std::string bytes;
    for (uint64_t i = 0; i < journal->digests.size(); ++i) {
      if (journal->digests[i].empty()) continue;
      bytes.resize(object->ChunkLength(i));
      const auto got = util::PreadFull(object->data.get(), bytes.data(), bytes.size(),
                                       i * object->chunk_bytes, path);
      if (!got.ok() || *got != bytes.size() || security::Sha256(bytes) != journal->digests[i]) {
        continue;
      }
      object->digests[i] = journal->digests[i];
      ++object->present;
      kept += JournalRecord(i, object->digests[i]);
    }
    AIST_RETURN_IF_ERROR(util::WriteFileDurably(path + ".chunks", kept));
    AIST_ASSIGN_OR_RETURN(object->journal, util::OpenFile(path + ".chunks", O_RDWR));
    object->journal_end = kept.size();
    object->last_used = clock_.UnixNanos();
    const util::MutexLock map_lock(mutex_);
    objects_.emplace(id, object);
    return absl::OkStatus();
  }

  const std::string directory_;
  const util::FileLock lock_;
  util::Clock& clock_;
  util::Mutex mutex_;
  std::map<std::string, ObjectPtr, std::less<>> objects_ AIST_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::shared_ptr<ChunkStore>> ChunkStore::Open(const std::string& directory,
                                                             util::Clock& clock) {
  AIST_RETURN_IF_ERROR(util::MakeDirectories(directory));
  AIST_ASSIGN_OR_RETURN(auto lock, util::FileLock::Acquire(util::JoinPath(directory, "lock")));
  auto store = std::make_shared<DiskStore>(directory, std::move(lock), clock);
  AIST_RETURN_IF_ERROR(store->Recover());
  return std::shared_ptr<ChunkStore>(std::move(store));
}

}  // namespace aistation::transfer
