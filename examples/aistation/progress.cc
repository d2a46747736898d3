// SPDX-License-Identifier: Apache-2.0
#include "aistation/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "aistation/cli.h"

namespace cli {

Progress::Progress(std::string what, std::string unit, bool quiet)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::Measure(const aist_op_progress_info& info) {
  if (info.done < last_done_ || last_ns_ == 0) {
    last_done_ = info.done;
    last_ns_ = info.elapsed_ns;
    return;
  }
  const double seconds = static_cast<double>(info.elapsed_ns - last_ns_) / 1e9;
  if (seconds < 0.25) return;
  const double now = static_cast<double>(info.done - last_done_) / seconds;
  rate_ = rate_ == 0 ? now : 0.6 * rate_ + 0.4 * now;
  last_done_ = info.done;
  last_ns_ = info.elapsed_ns;
}

std::string Progress::Line(const aist_op_progress_info& info) const {
  const bool bytes = unit_ == "B";
  const auto amount = [&](uint64_t n) { return bytes ? Bytes(n) : std::to_string(n); };
  std::string line = what_;
  if (info.phase[0] != '\0') line += ": " + std::string(info.phase);
  if (info.total != 0) {
    const uint64_t percent = std::min<uint64_t>(100, info.done * 100 / info.total);
    if (terminal_) {
      const size_t filled = static_cast<size_t>(percent / 4);
      line += " [" + std::string(filled, '#') + std::string(25 - filled, '.') + "]";
    }
    line += " " + std::to_string(percent) + "% " + amount(info.done) + " of " + amount(info.total) +
            (bytes ? "" : " " + unit_);
    if (rate_ > 0) {
      line += ", " + amount(static_cast<uint64_t>(rate_)) + (bytes ? "/s" : " " + unit_ + "/s");
      if (info.total > info.done) {
        line += ", " + Seconds(static_cast<double>(info.total - info.done) / rate_) + " left";
      }
    }
  } else if (info.done != 0) {
    line += " " + amount(info.done);
  }
  return line + " (" + Seconds(static_cast<double>(info.elapsed_ns) / 1e9) + ")";
}

void Progress::Show(const aist_op_progress_info& info) {
  if (quiet_) return;
  Measure(info);
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", Line(info).c_str());
    drawn_ = true;
    return;
  }
  const bool new_phase = phase_ != info.phase;
  const bool moved = info.done != printed_done_ && info.elapsed_ns - printed_ns_ >= 1'000'000'000;
  if (!new_phase && !moved) return;
  phase_ = info.phase;
  printed_ns_ = info.elapsed_ns;
  printed_done_ = info.done;
  std::fprintf(stderr, "%s\n", Line(info).c_str());
}

void Progress::Note(const std::string& line) {
  if (quiet_) return;
  std::fprintf(stderr, "%s%s\n", terminal_ && drawn_ ? "\r\033[K" : "", line.c_str());
  drawn_ = false;
}

void Progress::Finish(const aist_op_progress_info& info) {
  if (quiet_ || info.total == 0) {
    if (drawn_) std::fputs("\r\033[K", stderr);
    return;
  }
  Note(Line(info));
}

}  // namespace cli
