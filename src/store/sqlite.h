// SPDX-License-Identifier: Apache-2.0
// The little of SQLite that the store needs. Not thread-safe: the store holds its lock.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "util/status.h"

namespace aistation::store {

// Error of the connection: busy and locked are retryable, corruption is DATA_LOSS.
absl::Status SqliteError(sqlite3* db, std::string_view path, std::string_view doing);

// One statement: bind in order, Step() until it says there is no row, then read columns.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view path, std::string_view sql) : db_(db), path_(path) {
    ok_ = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr) ==
          SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Int(int64_t value) {
    if (ok_) ok_ = sqlite3_bind_int64(statement_, ++bound_, value) == SQLITE_OK;
    return *this;
  }
  // The bytes must live until the last Step().
  Statement& Blob(std::string_view bytes) {
    if (ok_) {
      ok_ = sqlite3_bind_blob64(statement_, ++bound_, bytes.data() == nullptr ? "" : bytes.data(),
                                bytes.size(), SQLITE_STATIC) == SQLITE_OK;
    }
    return *this;
  }
  // True: a row is there.
  absl::StatusOr<bool> Step() {
    if (ok_) {
      const int code = sqlite3_step(statement_);
      if (code == SQLITE_ROW) return true;
      if (code == SQLITE_DONE) return false;
    }
    return SqliteError(db_, path_, "the statement failed");
  }
  absl::Status Run() { return Step().status(); }
  int64_t IntAt(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string BlobAt(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string() : std::string(data, size);
  }

 private:
  sqlite3* db_;
  std::string_view path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  bool ok_ = false;
};

}  // namespace aistation::store
