// SPDX-License-Identifier: Apache-2.0
// New lines of a growing file (through rotation and truncation), or records of /dev/kmsg.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "util/file.h"

namespace aistation::job {

inline constexpr size_t kMaxLogLine = 4096;  // longer lines are cut

// One thread at a time.
class LogFollower {
 public:
  // Begins at the end of the file. A file that is not there yet is read from its start once it is.
  explicit LogFollower(std::string path);
  // Calls `sink` for each complete line that came since. At most 1 MiB a call.
  void Poll(const std::function<void(std::string_view line)>& sink);

 private:
  void Open(bool from_end);
  bool Replaced() const;
  void ReadRecords(const std::function<void(std::string_view)>& sink);

  const std::string path_;
  util::Fd fd_;
  bool device_ = false;
  uint64_t inode_ = 0;
  uint64_t offset_ = 0;
  std::string rest_;  // of an incomplete line
};

// "6,1234,5678,-;message" of /dev/kmsg gives "message"; other text is given back as it is.
std::string_view KmsgMessage(std::string_view record);

}  // namespace aistation::job
