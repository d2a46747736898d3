// SPDX-License-Identifier: Apache-2.0
// A directory of a test, gone afterwards.
#pragma once

#include <stdlib.h>

#include <string>

#include "util/file.h"

namespace aistation::testing {

class TempDir {
 public:
  TempDir() {
    const char* base = getenv("TMPDIR");
    path_ = std::string(base == nullptr ? "/tmp" : base) + "/aist-unit.XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) abort();
  }
  ~TempDir() { (void)util::RemoveTree(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file below and gives its path.
  std::string Write(const std::string& name, const std::string& content) const {
    const std::string path = path_ + "/" + name;
    const size_t slash = path.rfind('/');
    if (!util::MakeDirectories(path.substr(0, slash)).ok()) abort();
    if (!util::WriteFileDurably(path, content).ok()) abort();
    return path;
  }

 private:
  std::string path_;
};

}  // namespace aistation::testing
