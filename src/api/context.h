// SPDX-License-Identifier: Apache-2.0
// What all handles of one context share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "aistation/aistation.h"
#include "api/counted.h"
#include "monitor/registry.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/op.h"

namespace aistation::api {

// Lives as long as any handle made from the context. Operations do not hold it: its destructor
// cancels them and joins their threads.
struct Core {
  ~Core();

  std::string name;
  void* log_user = nullptr;
  void (*log_drop)(void*) = nullptr;
  util::Logger log;
  util::Clock* clock = &util::RealClock();
  // Null: malloc. Buffers share it, so that they may outlive the context.
  std::shared_ptr<const aist_allocator> allocator;
  int64_t default_deadline_ns = 0;
  monitor::Registry metrics;
  std::unique_ptr<util::Executor> executor;  // last: joined before anything above goes
};

}  // namespace aistation::api

struct aist_context : aistation::api::Counted {
  explicit aist_context(std::shared_ptr<aistation::api::Core> c) : core(std::move(c)) {}
  std::shared_ptr<aistation::api::Core> core;
};
