// SPDX-License-Identifier: Apache-2.0
// Log records go to the host's hook or nowhere: a library does not write to stderr.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "util/mutex.h"

namespace aistation::util {

enum class LogLevel : uint32_t { kDebug = 1, kInfo = 2, kWarning = 3, kError = 4 };

// Thread-safe. No lock is held while the hook runs.
class Logger {
 public:
  using Hook = std::function<void(LogLevel, const char* module, const char* message)>;

  Logger() = default;
  Logger(Hook hook, LogLevel least) : hook_(std::move(hook)), least_(least) {}
  bool Enabled(LogLevel level) const { return hook_ && level >= least_; }
  // Never pass a secret.
  void Log(LogLevel level, const char* module, const std::string& message) const;
  void Info(const char* module, const std::string& m) const { Log(LogLevel::kInfo, module, m); }
  void Warning(const char* module, const std::string& m) const {
    Log(LogLevel::kWarning, module, m);
  }
  void Error(const char* module, const std::string& m) const { Log(LogLevel::kError, module, m); }
  void Debug(const char* module, const std::string& m) const { Log(LogLevel::kDebug, module, m); }

 private:
  Hook hook_;
  LogLevel least_ = LogLevel::kInfo;
};

// True while a callback of the host runs on this thread.
bool InCallback();
class CallbackScope {
 public:
  CallbackScope();
  ~CallbackScope();
};

}  // namespace aistation::util
