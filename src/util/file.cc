// SPDX-License-Identifier: Apache-2.0
#include "util/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>

#include "util/strings.h"

namespace aistation::util {

void Fd::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

absl::StatusOr<Fd> OpenFile(const std::string& path, int flags, uint32_t mode) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode));
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return ErrnoError(errno, "file.open", StrCat("cannot open ", path));
  return Fd(fd);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  AIST_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_RDONLY));
  std::string out;
  // Sizes of /sys and /proc files are not true, so read until the end.
  size_t step = 4096;
  while (true) {
    const size_t at = out.size();
    out.resize(at + step);
    const ssize_t n = read(fd.get(), out.data() + at, step);
    if (n < 0 && errno == EINTR) {
      out.resize(at);
      continue;
    }
    if (n < 0) return ErrnoError(errno, "file.read", StrCat("cannot read ", path));
    out.resize(at + static_cast<size_t>(n));
    if (n == 0) return out;
    if (out.size() > max_bytes) {
      return Error(absl::StatusCode::kResourceExhausted, "file.too_large",
                   StrCat(path, " is larger than ", FormatBytes(max_bytes), ", the most accepted"));
    }
    step = std::min<size_t>(step * 2, 1 << 20);
  }
}

std::string ReadLineOr(const std::string& path, std::string_view otherwise) {
  auto text = ReadFile(path, 1 << 16);
  if (!text.ok()) return std::string(otherwise);
  return std::string(Trim(Split(*text, '\n').front()));
}

absl::Status SyncDirectory(const std::string& path) {
  AIST_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (fsync(fd.get()) != 0) return ErrnoError(errno, "file.sync", StrCat("cannot sync ", path));
  return absl::OkStatus();
}

absl::Status WriteFileDurably(const std::string& path, std::string_view content, uint32_t mode) {
  static constinit std::atomic<uint64_t> counter{0};
  const std::string temporary = StrCat(path, ".tmp.", getpid(), ".", counter.fetch_add(1));
  absl::Status status = [&]() -> absl::Status {
    AIST_ASSIGN_OR_RETURN(Fd fd, OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode));
    AIST_RETURN_IF_ERROR(PwriteAll(fd.get(), content, 0, temporary));
    if (fsync(fd.get()) != 0) {
      return ErrnoError(errno, "file.sync", StrCat("cannot sync ", temporary));
    }
    if (rename(temporary.c_str(), path.c_str()) != 0) {
      return ErrnoError(errno, "file.rename", StrCat("cannot rename ", temporary, " to ", path));
    }
    return absl::OkStatus();
  }();
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  const size_t slash = path.rfind('/');
  return SyncDirectory(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
}

absl::Status MakeDirectories(const std::string& path, uint32_t mode) {
  for (size_t i = 1; i <= path.size(); ++i) {
    if (i != path.size() && path[i] != '/') continue;
    const std::string part = path.substr(0, i);
    if (mkdir(part.c_str(), static_cast<mode_t>(mode)) != 0 && errno != EEXIST) {
      return ErrnoError(errno, "file.mkdir", StrCat("cannot make directory ", part));
    }
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return InvalidArgument("file.not_a_directory", StrCat(path, " is not a directory"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path,
                                                       size_t max_entries) {
  std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(path.c_str()), closedir);
  if (dir == nullptr) return ErrnoError(errno, "file.list", StrCat("cannot list ", path));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() >= max_entries) {
      return Error(absl::StatusCode::kResourceExhausted, "file.too_many",
                   StrCat(path, " has more than ", max_entries, " entries, the most accepted"));
    }
    names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return ErrnoError(errno, "file.list", StrCat("cannot list ", path));
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status RemoveTree(const std::string& path) {
  // An explicit stack: the depth of a tree must not decide about ours.
  std::vector<std::pair<std::string, bool>> stack{{path, false}};
  while (!stack.empty()) {
    const auto [current, emptied] = stack.back();
    stack.pop_back();
    struct stat info {};
    if (lstat(current.c_str(), &info) != 0) {
      if (errno == ENOENT) continue;
      return ErrnoError(errno, "file.remove", StrCat("cannot look at ", current));
    }
    if (S_ISDIR(info.st_mode) && !emptied) {
      stack.emplace_back(current, true);
      AIST_ASSIGN_OR_RETURN(auto names, ListDirectory(current));
      for (const auto& name : names) stack.emplace_back(JoinPath(current, name), false);
      continue;
    }
    const int result = S_ISDIR(info.st_mode) ? rmdir(current.c_str()) : unlink(current.c_str());
    if (result != 0 && errno != ENOENT) {
      return ErrnoError(errno, "file.remove", StrCat("cannot remove ", current));
    }
  }
  return absl::OkStatus();
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

absl::Status PwriteAll(int fd, std::string_view data, uint64_t offset, std::string_view name) {
  while (!data.empty()) {
    const ssize_t n = pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError(errno, "file.write", StrCat("cannot write ", name));
    data.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> PreadFull(int fd, char* buffer, size_t size, uint64_t offset,
                                 std::string_view name) {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd, buffer + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError(errno, "file.read", StrCat("cannot read ", name));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

absl::StatusOr<FileLock> FileLock::Acquire(const std::string& path) {
  AIST_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_RDWR | O_CREAT));
  // flock belongs to the open file: it excludes other handles of this process too, and a child that
  // merely forked does not count as a second holder.
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return FailedPrecondition("file.locked", StrCat(path, " is locked by another holder"));
    }
    return ErrnoError(errno, "file.lock", StrCat("cannot lock ", path));
  }
  return FileLock(std::move(fd));
}

std::string JoinPath(std::string_view a, std::string_view b) {
  if (a.empty()) return std::string(b);
  return a.back() == '/' ? StrCat(a, b) : StrCat(a, "/", b);
}

}  // namespace aistation::util
