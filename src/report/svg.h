// SPDX-License-Identifier: Apache-2.0
// Pictures of a report as inline SVG. Pure.
#pragma once

#include <string>
#include <string_view>

#include "aistation/v1/report.pb.h"

namespace aistation::report {

// Text for HTML and SVG, also inside attributes.
std::string Escape(std::string_view text);
std::string ClockTime(int64_t unix_ns);  // "2026-12-01 15:04:05 UTC"

std::string Timeline(const v1::Report& report);        // attempts of jobs over time
std::string CardsByNode(const v1::Report& report);     // a square a card
std::string Transfers(const v1::Attempt& attempt);     // bytes by node and origin
std::string ProbeGrid(const v1::ProbeMatrix& matrix);  // who reaches whom

}  // namespace aistation::report
