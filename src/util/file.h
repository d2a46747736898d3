// SPDX-License-Identifier: Apache-2.0
// Files: bounded reads, durable writes, locks. All descriptors are close-on-exec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/status.h"

namespace aistation::util {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Close();

 private:
  int fd_ = -1;
};

inline constexpr uint64_t kMaxTextFile = 64u << 20;

absl::StatusOr<Fd> OpenFile(const std::string& path, int flags, uint32_t mode = 0600);
// The whole file; more than `max_bytes` is RESOURCE_EXHAUSTED. Works on /sys and /proc too.
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t max_bytes = kMaxTextFile);
// First line without the newline and blanks around it; nullopt-like "" when it cannot be read.
std::string ReadLineOr(const std::string& path, std::string_view otherwise);
// Content or nothing: temporary file beside it, fsync, rename, fsync of the directory.
absl::Status WriteFileDurably(const std::string& path, std::string_view content,
                              uint32_t mode = 0600);
absl::Status SyncDirectory(const std::string& path);
absl::Status MakeDirectories(const std::string& path, uint32_t mode = 0700);
// Names without "." and "..", sorted. More than `max_entries` is RESOURCE_EXHAUSTED.
absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path,
                                                       size_t max_entries = 1'000'000);
// Removes a tree; what is not there is no error. Does not follow links.
absl::Status RemoveTree(const std::string& path);
bool Exists(const std::string& path);
// All of it or an error. `pread`/`pwrite` that go on after short counts and EINTR.
absl::Status PwriteAll(int fd, std::string_view data, uint64_t offset, std::string_view name);
// Bytes read: fewer than size only at the end of the file.
absl::StatusOr<size_t> PreadFull(int fd, char* buffer, size_t size, uint64_t offset,
                                 std::string_view name);

// Exclusive lock of a file (made if absent) until destroyed. FAILED_PRECONDITION `file.locked` when
// another holder has it. Survives nothing: the kernel drops it with the process.
class FileLock {
 public:
  static absl::StatusOr<FileLock> Acquire(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// "a/b" from parts; no normalisation.
std::string JoinPath(std::string_view a, std::string_view b);

}  // namespace aistation::util
