// SPDX-License-Identifier: Apache-2.0
// A thread as a library may make it inside somebody else's process.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace aistation::util {

// Blocks all signals (the host's handlers run on the host's threads), has a 1 MiB stack, cannot be
// cancelled. Joined by Join() or by the destructor, unless the thread destroys itself: then it is
// detached. If the system has no thread left, Start() returns an empty thread.
class Thread {
 public:
  Thread();
  ~Thread();
  Thread(Thread&& other) noexcept;
  Thread& operator=(Thread&& other) noexcept;

  // `name`: at most 15 bytes are shown by the system.
  static Thread Start(const std::string& name, std::function<void()> body);
  bool joinable() const { return state_ != nullptr; }
  bool IsCurrent() const;
  void Join();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aistation::util
