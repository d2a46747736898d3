// SPDX-License-Identifier: Apache-2.0
#include "job/log_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace aistation::job {

std::string_view KmsgMessage(std::string_view record) {
  const size_t semicolon = record.find(';');
  if (semicolon == std::string_view::npos || semicolon > 128) return record;
  for (const char c : record.substr(0, semicolon)) {
    const bool known = (c >= '0' && c <= '9') || c == ',' || c == '-' || c == 'c' || c == '+';
    if (!known) return record;
  }
  record.remove_prefix(semicolon + 1);
  return record.substr(0, record.find('\n'));  // continuation lines are key=value pairs
}

LogFollower::LogFollower(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) Open(/*from_end=*/true);
}

void LogFollower::Open(bool from_end) {
  fd_ = util::Fd(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  rest_.clear();
  offset_ = 0;
  struct stat st {};
  if (!fd_.valid() || fstat(fd_.get(), &st) != 0) {
    fd_.Close();
    return;
  }
  device_ = S_ISCHR(st.st_mode);
  if (!device_ && !S_ISREG(st.st_mode)) {
    fd_.Close();
    return;
  }
  inode_ = st.st_ino;
  if (device_) {
    if (from_end) lseek(fd_.get(), 0, SEEK_END);
  } else if (from_end) {
    offset_ = static_cast<uint64_t>(st.st_size);
  }
}

bool LogFollower::Replaced() const {
  struct stat st {};
  return stat(path_.c_str(), &st) == 0 && st.st_ino != inode_;
}

void LogFollower::ReadRecords(const std::function<void(std::string_view)>& sink) {
  char record[kMaxLogLine * 2];
  for (int i = 0; i < 1000; ++i) {
    const ssize_t n = read(fd_.get(), record, sizeof(record));
    if (n < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: records were overwritten
    if (n <= 0) return;
    sink(KmsgMessage(std::string_view(record, static_cast<size_t>(n))).substr(0, kMaxLogLine));
  }
}

void LogFollower::Poll(const std::function<void(std::string_view)>& sink) {
  if (path_.empty()) return;
  if (!fd_.valid()) {
    Open(/*from_end=*/false);
    if (!fd_.valid()) return;
  }
  if (device_) return ReadRecords(sink);
  struct stat st {};
  if (fstat(fd_.get(), &st) == 0 && static_cast<uint64_t>(st.st_size) < offset_) {
    offset_ = 0;  // truncated in place
    rest_.clear();
  }
  char buffer[8192];
  for (size_t total = 0; total < (1u << 20);) {
    const ssize_t n = pread(fd_.get(), buffer, sizeof(buffer), static_cast<off_t>(offset_));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      // What the old file still had is read; go on in its successor.
      if (Replaced()) {
        Open(/*from_end=*/false);
        if (fd_.valid() && !device_) continue;
      }
      return;
    }
    offset_ += static_cast<uint64_t>(n);
    total += static_cast<size_t>(n);
    for (const char c : std::string_view(buffer, static_cast<size_t>(n))) {
      if (c == '\n') {
        sink(rest_);
        rest_.clear();
      } else if (rest_.size() < kMaxLogLine) {
        rest_.push_back(c);
      }
    }
  }
}

}  // namespace aistation::job
