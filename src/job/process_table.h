// SPDX-License-Identifier: Apache-2.0
// What the launch service knows of its processes. Not thread-safe: its owner holds a lock.
#pragma once

#include <sys/types.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "aistation/v1/job.pb.h"
#include "util/file.h"

namespace aistation::job {

struct Process {
  v1::ProcessInfo info;  // without output_tail
  uint64_t epoch = 0;
  pid_t pid = -1;  // -1 once reaped
  util::Fd pidfd;
  util::Fd output;
  util::Fd file;      // where output is kept
  uint64_t kept = 0;  // bytes in the file
  std::string line;   // incomplete last line
  std::deque<std::string> tail;

  // Takes output bytes: file (bounded) and last lines.
  void Append(std::string_view bytes);
  v1::ProcessInfo Describe() const;
};

using ProcessKey = std::tuple<std::string, uint32_t, uint32_t>;  // job, attempt, rank

inline constexpr uint64_t kMaxOutputFile = 64u << 20;
inline constexpr size_t kTailLines = 40;
inline constexpr size_t kMaxOutputLine = 2048;
inline constexpr size_t kMaxProcesses = 1024;       // running
inline constexpr size_t kMaxEndedProcesses = 4096;  // remembered

class ProcessTable {
 public:
  std::map<ProcessKey, std::shared_ptr<Process>>& all() { return processes_; }
  std::shared_ptr<Process> Find(const ProcessKey& key);
  size_t Running() const;
  // Forgets the ended processes that ended first, beyond the bound.
  void Trim();
  // Highest epoch seen of a job; remembers `epoch` when it is higher.
  uint64_t RaiseEpoch(const std::string& job, uint64_t epoch);

 private:
  std::map<ProcessKey, std::shared_ptr<Process>> processes_;
  std::map<std::string, uint64_t> epochs_;
};

}  // namespace aistation::job
