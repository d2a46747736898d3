// SPDX-License-Identifier: Apache-2.0
// Progress of an operation on stderr: a bar with rate and time left on a terminal; elsewhere a
// plain line at each change of phase and at most one a second.
#pragma once

#include <cstdint>
#include <string>

#include "aistation/op.h"

namespace cli {

class Progress {
 public:
  Progress(std::string what, std::string unit, bool quiet);
  void Show(const aist_op_progress_info& info);
  void Note(const std::string& line);  // a line of its own
  void Finish(const aist_op_progress_info& info);

 private:
  std::string Line(const aist_op_progress_info& info) const;
  void Measure(const aist_op_progress_info& info);

  const std::string what_;
  const std::string unit_;
  const bool quiet_;
  const bool terminal_;
  bool drawn_ = false;
  std::string phase_;
  double rate_ = 0;  // units a second, smoothed
  uint64_t last_done_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t printed_ns_ = 0;
  uint64_t printed_done_ = 0;
};

}  // namespace cli
