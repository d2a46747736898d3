// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace aistation::api {

// Number of live handles of the process; see aist_debug_live_objects().
std::atomic<uint64_t>& LiveObjects();

// Counts itself. Each handle struct derives from it.
struct Counted {
  Counted() { LiveObjects().fetch_add(1, std::memory_order_relaxed); }
  ~Counted() { LiveObjects().fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

}  // namespace aistation::api
