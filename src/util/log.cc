// SPDX-License-Identifier: Apache-2.0
#include "util/log.h"

namespace aistation::util {
namespace {
constinit thread_local int callback_depth = 0;
}  // namespace

bool InCallback() { return callback_depth > 0; }
CallbackScope::CallbackScope() { ++callback_depth; }
CallbackScope::~CallbackScope() { --callback_depth; }

void Logger::Log(LogLevel level, const char* module, const std::string& message) const {
  if (!Enabled(level)) return;
  CallbackScope scope;
  hook_(level, module, message.c_str());
}

}  // namespace aistation::util
