// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "store/check.h"
#include "store/sqlite.h"
#include "util/file.h"
#include "util/mutex.h"

namespace aistation::store {

absl::Status SqliteError(sqlite3* db, std::string_view path, std::string_view doing) {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db);
  const std::string message = util::StrCat("store ", path, ": ", doing, ": ",
                                           db == nullptr ? "out of memory" : sqlite3_errmsg(db));
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_CANTOPEN:
      return util::Unavailable("store.busy", message);
    case SQLITE_NOTADB:
      return util::FailedPrecondition("store.format", message);
    case SQLITE_CORRUPT:
      return util::DataLoss("store.corrupt", message);
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return util::Error(absl::StatusCode::kResourceExhausted, "store.full", message);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return util::Error(absl::StatusCode::kPermissionDenied, "store.readonly", message);
    default:
      return util::Internal("store.sqlite", message);
  }
}

namespace {

constexpr int64_t kApplicationId = 0x41495354;  // "AIST"
constexpr int64_t kFormat = 1;
// How long a watcher may not see what another process wrote.
constexpr auto kPoll = std::chrono::milliseconds(30);

constexpr const char* kSchema = R"(
  CREATE TABLE state(revision INTEGER NOT NULL, next_lease INTEGER NOT NULL,
                     compacted INTEGER NOT NULL);
  INSERT INTO state VALUES(0, 1, 0);
  CREATE TABLE entries(key BLOB PRIMARY KEY, value BLOB NOT NULL, created INTEGER NOT NULL,
                       revision INTEGER NOT NULL, version INTEGER NOT NULL, lease INTEGER NOT NULL);
  CREATE INDEX entries_by_lease ON entries(lease) WHERE lease <> 0;
  CREATE TABLE leases(id INTEGER PRIMARY KEY, ttl INTEGER NOT NULL, expires INTEGER NOT NULL);
  CREATE TABLE changes(seq INTEGER PRIMARY KEY AUTOINCREMENT, deleted INTEGER NOT NULL,
                       key BLOB NOT NULL, value BLOB NOT NULL, created INTEGER NOT NULL,
                       revision INTEGER NOT NULL, version INTEGER NOT NULL,
                       lease INTEGER NOT NULL, changed INTEGER NOT NULL);
)";

// First key after all keys with the prefix; "" when there is none.
std::string PrefixEnd(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty())
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

Entry EntryAt(const Statement& row, int column) {
  Entry entry;
  entry.key = row.BlobAt(column);
  entry.value = row.BlobAt(column + 1);
  entry.create_revision = row.IntAt(column + 2);
  entry.revision = row.IntAt(column + 3);
  entry.version = row.IntAt(column + 4);
  entry.lease = row.IntAt(column + 5);
  return entry;
}

// The connection, shared by the store and its watches.
class Database {
 public:
  Database(std::string path, util::Clock& clock) : path_(std::move(path)), clock_(clock) {}
  ~Database() { sqlite3_close_v2(db_); }

  absl::Status Open() {
    // So that the file never exists with a wider mode.
    if (!util::Exists(path_)) {
      const auto made = util::OpenFile(path_, O_RDWR | O_CREAT, 0600);
      if (!made.ok()) return util::Annotate(made.status(), "store");
    }
    const util::MutexLock lock(mutex_);
    if (sqlite3_open_v2(path_.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX,
                        nullptr) != SQLITE_OK) {
      return SqliteError(db_, path_, "cannot open");
    }
    sqlite3_busy_timeout(db_, 10'000);
    AIST_RETURN_IF_ERROR(Execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"));
    return WithWrite([&]() -> absl::Status { return CheckFormat(); });
  }

  Statement Query(std::string_view sql) AIST_REQUIRES(mutex_) { return Statement(db_, path_, sql); }

  absl::Status Execute(const char* sql) AIST_REQUIRES(mutex_) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return absl::OkStatus();
    return SqliteError(db_, path_, "cannot be used");
  }

  // One write transaction: all of `body` or nothing, durable when this returns.
  template <class Body>
  absl::Status WithWrite(Body&& body) AIST_REQUIRES(mutex_) {
    AIST_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
    absl::Status status = body();
    if (status.ok()) status = Execute("COMMIT");
    if (!status.ok()) (void)Execute("ROLLBACK");
    if (status.ok()) changed_.NotifyAll();
    return status;
  }

  absl::StatusOr<int64_t> Number(std::string_view sql) AIST_REQUIRES(mutex_) {
    Statement query = Query(sql);
    AIST_ASSIGN_OR_RETURN(const bool row, query.Step());
    return row ? query.IntAt(0) : 0;
  }

  absl::StatusOr<int64_t> NextRevision() AIST_REQUIRES(mutex_) {
    AIST_RETURN_IF_ERROR(Execute("UPDATE state SET revision = revision + 1"));
    return Number("SELECT revision FROM state");
  }

  absl::Status Append(bool deleted, const Entry& entry, int64_t revision) AIST_REQUIRES(mutex_) {
    return Query(
               "INSERT INTO changes(deleted,key,value,created,revision,version,lease,changed) "
               "VALUES(?,?,?,?,?,?,?,?)")
        .Int(deleted ? 1 : 0)
        .Blob(entry.key)
        .Blob(entry.value)
        .Int(entry.create_revision)
        .Int(entry.revision)
        .Int(entry.version)
        .Int(entry.lease)
        .Int(revision)
        .Run();
  }

  // Expired leases go before anything else is read or decided.
  absl::Status Expire() AIST_REQUIRES(mutex_) {
    const int64_t now = clock_.UnixNanos();
    bool any = false;
    {
      Statement query = Query("SELECT 1 FROM leases WHERE expires <= ? LIMIT 1");
      AIST_ASSIGN_OR_RETURN(any, query.Int(now).Step());
    }
    if (!any) return absl::OkStatus();
    return WithWrite([&]() -> absl::Status {
      std::vector<int64_t> gone;
      Statement query = Query("SELECT id FROM leases WHERE expires <= ?");
      query.Int(now);
      while (true) {
        AIST_ASSIGN_OR_RETURN(const bool row, query.Step());
        if (!row) break;
        gone.push_back(query.IntAt(0));
      }
      for (const int64_t lease : gone) AIST_RETURN_IF_ERROR(DropLease(lease));
      return absl::OkStatus();
    });
  }

  absl::Status DropLease(int64_t lease) AIST_REQUIRES(mutex_) {
    AIST_RETURN_IF_ERROR(Query("DELETE FROM leases WHERE id = ?").Int(lease).Run());
    std::vector<Entry> gone;
    {
      Statement query = Query(
          "SELECT key,value,created,revision,version,lease FROM entries WHERE lease = ? ORDER BY "
          "key");
      query.Int(lease);
      while (true) {
        AIST_ASSIGN_OR_RETURN(const bool row, query.Step());
        if (!row) break;
        gone.push_back(EntryAt(query, 0));
      }
    }
    if (gone.empty()) return absl::OkStatus();
    AIST_ASSIGN_OR_RETURN(const int64_t revision, NextRevision());
    for (const auto& entry : gone) AIST_RETURN_IF_ERROR(Append(true, entry, revision));
    return Query("DELETE FROM entries WHERE lease = ?").Int(lease).Run();
  }

  absl::Status Compact() AIST_REQUIRES(mutex_) {
    AIST_ASSIGN_OR_RETURN(const int64_t last, Number("SELECT max(seq) FROM changes"));
    AIST_ASSIGN_OR_RETURN(const int64_t first, Number("SELECT min(seq) FROM changes"));
    if (last - first < 2 * kKeptChanges) return absl::OkStatus();  // seldom, then many at once
    const int64_t keep_from = last - kKeptChanges;
    AIST_RETURN_IF_ERROR(Query("UPDATE state SET compacted = (SELECT changed FROM changes WHERE "
                               "seq = ?)")
                             .Int(keep_from)
                             .Run());
    return Query("DELETE FROM changes WHERE seq <= ?").Int(keep_from).Run();
  }

  util::Mutex& mutex() { return mutex_; }
  util::CondVar& changed() { return changed_; }
  util::Clock& clock() { return clock_; }
  std::string_view path() const { return path_; }

 private:
  absl::Status CheckFormat() AIST_REQUIRES(mutex_) {
    AIST_ASSIGN_OR_RETURN(const int64_t id, Number("PRAGMA application_id"));
    AIST_ASSIGN_OR_RETURN(const int64_t format, Number("PRAGMA user_version"));
    AIST_ASSIGN_OR_RETURN(const int64_t tables, Number("SELECT count(*) FROM sqlite_master"));
    if (id == 0 && format == 0 && tables == 0) {
      AIST_RETURN_IF_ERROR(Execute(kSchema));
      return Execute(
          util::StrCat("PRAGMA application_id=", kApplicationId, "; PRAGMA user_version=", kFormat)
              .c_str());
    }
    if (id != kApplicationId) {
      return util::FailedPrecondition("store.format",
                                      util::StrCat("store ", path_,
                                                   ": this SQLite file is not a store of "
                                                   "aistation; give the path of a new file"));
    }
    if (format != kFormat) {
      return util::FailedPrecondition(
          "store.format",
          util::StrCat("store ", path_, ": format ", format, ", this library reads ", kFormat,
                       "; use the library that wrote it"));
    }
    return absl::OkStatus();
  }

  const std::string path_;
  util::Clock& clock_;
  util::Mutex mutex_;
  util::CondVar changed_;
  sqlite3* db_ AIST_GUARDED_BY(mutex_) = nullptr;
};

class SqliteWatch final : public Watch {
 public:
  SqliteWatch(std::shared_ptr<Database> db, std::string prefix, int64_t seq)
      : db_(std::move(db)), prefix_(prefix), end_(PrefixEnd(std::move(prefix))), seq_(seq) {}

  absl::StatusOr<Change> Next(int64_t timeout_ns) override {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::nanoseconds(std::max<int64_t>(timeout_ns, 0));
    const util::MutexLock lock(db_->mutex());
    while (true) {
      if (cancelled_) return WatchCancelled();
      AIST_RETURN_IF_ERROR(db_->Expire());
      AIST_ASSIGN_OR_RETURN(auto change, Find());
      if (change.has_value()) return *std::move(change);
      const auto now = std::chrono::steady_clock::now();
      if (timeout_ns >= 0 && now >= end) return NoEvent();
      (void)db_->changed().WaitUntil(db_->mutex(),
                                     timeout_ns >= 0 ? std::min(now + kPoll, end) : now + kPoll);
    }
  }

  void Cancel() override {
    const util::MutexLock lock(db_->mutex());
    cancelled_ = true;
    db_->changed().NotifyAll();
  }

 private:
  absl::StatusOr<std::optional<Change>> Find() AIST_REQUIRES(db_->mutex()) {
    AIST_ASSIGN_OR_RETURN(const int64_t first, db_->Number("SELECT min(seq) FROM changes"));
    if (first > seq_ + 1 && seq_ >= 0) {
      AIST_ASSIGN_OR_RETURN(const int64_t compacted, db_->Number("SELECT compacted FROM state"));
      if (compacted > 0) return Compacted(compacted);
    }
    Statement query = db_->Query(
        "SELECT seq,deleted,changed,key,value,created,revision,version,lease FROM changes WHERE "
        "seq > ? AND key >= ? AND (length(?3) = 0 OR key < ?3) ORDER BY seq LIMIT 1");
    query.Int(seq_).Blob(prefix_).Blob(end_);
    AIST_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return std::optional<Change>();
    seq_ = query.IntAt(0);
    Change change;
    change.deleted = query.IntAt(1) != 0;
    change.revision = query.IntAt(2);
    change.entry = EntryAt(query, 3);
    return std::optional<Change>(std::move(change));
  }

  const std::shared_ptr<Database> db_;
  const std::string prefix_;
  const std::string end_;
  int64_t seq_ AIST_GUARDED_BY(db_->mutex());
  bool cancelled_ AIST_GUARDED_BY(db_->mutex()) = false;
};

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(std::shared_ptr<Database> db) : db_(std::move(db)) {}

  absl::StatusOr<Entry> Get(std::string_view key) override {
    AIST_RETURN_IF_ERROR(CheckKey(key));
    const util::MutexLock lock(db_->mutex());
    AIST_RETURN_IF_ERROR(db_->Expire());
    AIST_ASSIGN_OR_RETURN(auto entry, Find(key));
    if (!entry.has_value()) return NoKey(key);
    return *std::move(entry);
  }

  absl::StatusOr<RangeResult> Range(std::string_view prefix, uint32_t limit) override {
    const util::MutexLock lock(db_->mutex());
    AIST_RETURN_IF_ERROR(db_->Expire());
    const std::string end = PrefixEnd(std::string(prefix));
    RangeResult result;
    Statement query = db_->Query(
        "SELECT key,value,created,revision,version,lease,(SELECT revision FROM state) FROM entries "
        "WHERE key >= ?1 AND (length(?2) = 0 OR key < ?2) ORDER BY key LIMIT ?3");
    query.Blob(prefix).Blob(end).Int(int64_t{limit} + 1);
    while (true) {
      AIST_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      result.revision = query.IntAt(6);
      if (result.entries.size() >= limit) {
        result.more = true;
        break;
      }
      result.entries.push_back(EntryAt(query, 0));
    }
    if (result.entries.empty()) {
      AIST_ASSIGN_OR_RETURN(result.revision, db_->Number("SELECT revision FROM state"));
    }
    return result;
  }

  absl::StatusOr<int64_t> Txn(const std::vector<Condition>& conditions,
                              const std::vector<Write>& writes) override {
    AIST_RETURN_IF_ERROR(CheckTxn(conditions, writes));
    const util::MutexLock lock(db_->mutex());
    AIST_RETURN_IF_ERROR(db_->Expire());
    int64_t revision = 0;
    const absl::Status status = db_->WithWrite([&]() -> absl::Status {
      AIST_RETURN_IF_ERROR(CheckConditions(conditions, writes));
      AIST_ASSIGN_OR_RETURN(revision, db_->NextRevision());
      for (const auto& write : writes) AIST_RETURN_IF_ERROR(Apply(write, revision));
      return db_->Compact();
    });
    if (!status.ok()) return status;
    return revision;
  }

  absl::StatusOr<int64_t> GrantLease(int64_t ttl_ns) override {
    AIST_RETURN_IF_ERROR(CheckTtl(ttl_ns));
    const util::MutexLock lock(db_->mutex());
    int64_t id = 0;
    const absl::Status status = db_->WithWrite([&]() -> absl::Status {
      AIST_ASSIGN_OR_RETURN(id, db_->Number("SELECT next_lease FROM state"));
      AIST_RETURN_IF_ERROR(db_->Execute("UPDATE state SET next_lease = next_lease + 1"));
      return db_->Query("INSERT INTO leases VALUES(?,?,?)")
          .Int(id)
          .Int(ttl_ns)
          .Int(db_->clock().UnixNanos() + ttl_ns)
          .Run();
    });
    if (!status.ok()) return status;
    return id;
  }

  absl::Status KeepAlive(int64_t lease) override {
    const util::MutexLock lock(db_->mutex());
    AIST_RETURN_IF_ERROR(db_->Expire());
    return db_->WithWrite([&]() -> absl::Status {
      AIST_RETURN_IF_ERROR(CheckLease(lease));
      return db_->Query("UPDATE leases SET expires = ? + ttl WHERE id = ?")
          .Int(db_->clock().UnixNanos())
          .Int(lease)
          .Run();
    });
  }

  absl::Status RevokeLease(int64_t lease) override {
    const util::MutexLock lock(db_->mutex());
    AIST_RETURN_IF_ERROR(db_->Expire());
    return db_->WithWrite([&]() -> absl::Status {
      AIST_RETURN_IF_ERROR(CheckLease(lease));
      return db_->DropLease(lease);
    });
  }

  absl::StatusOr<std::unique_ptr<Watch>> WatchPrefix(std::string_view prefix,
                                                     int64_t after_revision) override {
    const util::MutexLock lock(db_->mutex());
    AIST_RETURN_IF_ERROR(db_->Expire());
    int64_t seq = 0;
    if (after_revision > 0) {
      AIST_ASSIGN_OR_RETURN(const int64_t compacted, db_->Number("SELECT compacted FROM state"));
      if (after_revision < compacted) return Compacted(after_revision);
      Statement query = db_->Query("SELECT max(seq) FROM changes WHERE changed <= ?");
      AIST_ASSIGN_OR_RETURN(const bool row, query.Int(after_revision).Step());
      seq = row ? query.IntAt(0) : 0;
      if (seq == 0) {
        AIST_ASSIGN_OR_RETURN(const int64_t first, db_->Number("SELECT min(seq) FROM changes"));
        seq = std::max<int64_t>(first - 1, 0);
      }
    } else {
      AIST_ASSIGN_OR_RETURN(seq, db_->Number("SELECT max(seq) FROM changes"));
    }
    return std::unique_ptr<Watch>(std::make_unique<SqliteWatch>(db_, std::string(prefix), seq));
  }

 private:
  absl::StatusOr<std::optional<Entry>> Find(std::string_view key) AIST_REQUIRES(db_->mutex()) {
    Statement query =
        db_->Query("SELECT key,value,created,revision,version,lease FROM entries WHERE key = ?");
    AIST_ASSIGN_OR_RETURN(const bool row, query.Blob(key).Step());
    if (!row) return std::optional<Entry>();
    return std::optional<Entry>(EntryAt(query, 0));
  }

  absl::Status CheckLease(int64_t lease) AIST_REQUIRES(db_->mutex()) {
    Statement query = db_->Query("SELECT 1 FROM leases WHERE id = ?");
    AIST_ASSIGN_OR_RETURN(const bool row, query.Int(lease).Step());
    return row ? absl::OkStatus() : NoLease(lease);
  }

  absl::Status CheckConditions(const std::vector<Condition>& conditions,
                               const std::vector<Write>& writes) AIST_REQUIRES(db_->mutex()) {
    for (const auto& condition : conditions) {
      AIST_ASSIGN_OR_RETURN(const auto entry, Find(condition.key));
      const int64_t actual = entry.has_value() ? entry->revision : 0;
      if (actual != condition.revision) return Mismatch(condition.key, condition.revision, actual);
    }
    for (const auto& write : writes) {
      if (write.lease != 0) AIST_RETURN_IF_ERROR(CheckLease(write.lease));
    }
    return absl::OkStatus();
  }

  absl::Status Apply(const Write& write, int64_t revision) AIST_REQUIRES(db_->mutex()) {
    AIST_ASSIGN_OR_RETURN(auto old, Find(write.key));
    if (!write.value.has_value()) {
      if (!old.has_value()) return absl::OkStatus();
      AIST_RETURN_IF_ERROR(db_->Append(true, *old, revision));
      return db_->Query("DELETE FROM entries WHERE key = ?").Blob(write.key).Run();
    }
    Entry entry = old.value_or(Entry{});
    entry.key = write.key;
    entry.value = *write.value;
    if (entry.version == 0) entry.create_revision = revision;
    entry.revision = revision;
    ++entry.version;
    entry.lease = write.lease;
    AIST_RETURN_IF_ERROR(db_->Append(false, entry, revision));
    return db_->Query("INSERT OR REPLACE INTO entries VALUES(?,?,?,?,?,?)")
        .Blob(entry.key)
        .Blob(entry.value)
        .Int(entry.create_revision)
        .Int(entry.revision)
        .Int(entry.version)
        .Int(entry.lease)
        .Run();
  }

  const std::shared_ptr<Database> db_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Store>> OpenSqliteStore(const std::string& path,
                                                       util::Clock& clock) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return util::InvalidArgument("store.path", "the SQLite store needs the path of a file");
  }
  auto db = std::make_shared<Database>(path, clock);
  AIST_RETURN_IF_ERROR(db->Open());
  return std::shared_ptr<Store>(std::make_shared<SqliteStore>(std::move(db)));
}

}  // namespace aistation::store
