// SPDX-License-Identifier: Apache-2.0
#include "job/process_table.h"

#include <unistd.h>

#include <algorithm>

#include "util/strings.h"

namespace aistation::job {

void Process::Append(std::string_view bytes) {
  if (file.valid() && kept < kMaxOutputFile) {
    const size_t n = static_cast<size_t>(std::min<uint64_t>(bytes.size(), kMaxOutputFile - kept));
    if (util::PwriteAll(file.get(), bytes.substr(0, n), kept, "output of a process").ok()) {
      kept += n;
    } else {
      file.Close();  // a full disk must not stop the process
    }
  }
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    line.append(part.substr(0, kMaxOutputLine - std::min(kMaxOutputLine, line.size())));
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    tail.push_back(std::move(line));
    line.clear();
    if (tail.size() > kTailLines) tail.pop_front();
  }
}

v1::ProcessInfo Process::Describe() const {
  v1::ProcessInfo out = info;
  for (const std::string& text : tail) out.add_output_tail(util::ToValidUtf8(text));
  if (!line.empty()) out.add_output_tail(util::ToValidUtf8(line));
  return out;
}

std::shared_ptr<Process> ProcessTable::Find(const ProcessKey& key) {
  const auto it = processes_.find(key);
  return it == processes_.end() ? nullptr : it->second;
}

size_t ProcessTable::Running() const {
  return static_cast<size_t>(std::count_if(processes_.begin(), processes_.end(),
                                           [](const auto& e) { return e.second->info.running(); }));
}

void ProcessTable::Trim() {
  size_t ended = processes_.size() - Running();
  while (ended > kMaxEndedProcesses) {
    auto oldest = processes_.end();
    for (auto it = processes_.begin(); it != processes_.end(); ++it) {
      if (it->second->info.running()) continue;
      if (oldest == processes_.end() ||
          it->second->info.ended_unix_ns() < oldest->second->info.ended_unix_ns()) {
        oldest = it;
      }
    }
    processes_.erase(oldest);
    --ended;
  }
}

uint64_t ProcessTable::RaiseEpoch(const std::string& job, uint64_t epoch) {
  // Bounded: jobs come one after the other; the names of the oldest go first (ids grow with time).
  if (epochs_.size() > 10'000 && epochs_.count(job) == 0) epochs_.erase(epochs_.begin());
  uint64_t& known = epochs_[job];
  known = std::max(known, epoch);
  return known;
}

}  // namespace aistation::job
