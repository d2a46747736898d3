// SPDX-License-Identifier: Apache-2.0
#include "common/args.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/aist.hpp"

namespace examples {
namespace {

constexpr size_t kMaxFileBytes = 64u << 20;

const Option* Find(const std::vector<Option>& options, std::string_view name) {
  for (const Option& option : options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

uint64_t ParseNumber(const std::string& name, std::string_view text) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    throw UsageError("--" + name + ": expected a whole number, got '" + std::string(text) + "'");
  }
  return value;
}

void AppendOptions(std::string* out, const std::vector<Option>& options) {
  for (const Option& option : options) {
    std::string left = "  --" + option.name;
    if (!option.value.empty()) left += " " + option.value;
    if (left.size() < 28) left.resize(28, ' ');
    *out +=
        left + "  " + option.help + (option.repeat ? " (may be given several times)" : "") + "\n";
  }
}

[[noreturn]] void ThrowErrno(const char* what, const std::string& path) {
  const int error = errno;
  const aist_status code = error == ENOENT                     ? AIST_NOT_FOUND
                           : error == EACCES || error == EPERM ? AIST_PERMISSION_DENIED
                                                               : AIST_UNAVAILABLE;
  throw aist::Error(code, "cli.file", path + ": " + what + ": " + std::strerror(error));
}

}  // namespace

Args Args::Parse(const Spec& spec, const std::vector<Option>& common,
                 const std::vector<std::string>& words) {
  Args args;
  bool options_end = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (options_end || word.size() < 2 || word[0] != '-') {
      args.positional_.push_back(word);
      continue;
    }
    if (word == "--") {
      options_end = true;
      continue;
    }
    std::string name = word;
    if (word == "-h") name = "--help";
    if (word == "-o") name = "--output";
    if (name.rfind("--", 0) != 0) throw UsageError("unknown option '" + word + "'");
    name.erase(0, 2);
    std::string value;
    const size_t equals = name.find('=');
    const bool inline_value = equals != std::string::npos;
    if (inline_value) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const Option* option = Find(spec.options, name);
    if (option == nullptr) option = Find(common, name);
    if (option == nullptr) throw UsageError("unknown option '--" + name + "'");
    if (option->value.empty()) {
      if (inline_value) throw UsageError("--" + name + " takes no value");
      value = "1";
    } else if (!inline_value) {
      if (++i == words.size()) throw UsageError("--" + name + ": expected " + option->value);
      value = words[i];
    }
    auto& values = args.values_[name];
    if (!values.empty() && !option->repeat) throw UsageError("--" + name + " is given twice");
    values.push_back(value);
  }
  if (args.Has("help")) return args;
  if (args.positional_.size() < spec.min_arguments) {
    throw UsageError("expected " + spec.arguments);
  }
  if (args.positional_.size() > spec.max_arguments) {
    throw UsageError("unexpected argument '" + args.positional_[spec.max_arguments] + "'");
  }
  return args;
}

std::string Args::Get(const std::string& name, const std::string& fallback) const {
  const auto it = values_.find(name);
  return it == values_.end() ? fallback : it->second.back();
}

std::string Args::GetOrEnv(const std::string& name, const char* variable) const {
  if (Has(name)) return Get(name);
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::string Args::Require(const std::string& name) const {
  if (!Has(name)) throw UsageError("--" + name + " is required");
  return Get(name);
}

std::vector<std::string> Args::All(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

uint64_t Args::Number(const std::string& name, uint64_t fallback, uint64_t most) const {
  if (!Has(name)) return fallback;
  const uint64_t value = ParseNumber(name, Get(name));
  if (value > most) throw UsageError("--" + name + ": at most " + std::to_string(most));
  return value;
}

uint64_t Args::Size(const std::string& name, uint64_t fallback) const {
  if (!Has(name)) return fallback;
  std::string text = Get(name);
  uint64_t unit = 1;
  if (!text.empty()) {
    const size_t place = std::string_view("KMGT").find(text.back());
    if (place != std::string_view::npos) {
      unit = uint64_t{1} << (10 * (place + 1));
      text.pop_back();
    }
  }
  const uint64_t value = ParseNumber(name, text);
  if (value > UINT64_MAX / unit) throw UsageError("--" + name + ": too large");
  return value * unit;
}

std::string Help(const std::string& program, const Spec& spec, const std::vector<Option>& common) {
  std::string out = program + (spec.name.empty() ? "" : " " + spec.name) + ": " + spec.summary +
                    "\n\nusage: " + program + (spec.name.empty() ? "" : " " + spec.name) +
                    " [options]" + (spec.arguments.empty() ? "" : " " + spec.arguments) + "\n";
  if (!spec.options.empty()) {
    out += "\noptions:\n";
    AppendOptions(&out, spec.options);
  }
  if (!common.empty()) {
    out += "\ncommon options:\n";
    AppendOptions(&out, common);
  }
  if (!spec.notes.empty()) out += "\n" + spec.notes + "\n";
  if (!spec.examples.empty()) {
    out += "\nexamples:\n";
    for (const std::string& example : spec.examples) out += "  " + example + "\n";
  }
  return out;
}

std::string ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) ThrowErrno("cannot be opened", path);
  std::string content;
  std::string buffer(1 << 16, '\0');
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      close(fd);
      errno = error;
      ThrowErrno("cannot be read", path);
    }
    if (n == 0) break;
    content.append(buffer.data(), static_cast<size_t>(n));
    if (content.size() > kMaxFileBytes) {
      close(fd);
      throw aist::Error(AIST_INVALID_ARGUMENT, "cli.file", path + ": larger than 64 MiB");
    }
  }
  close(fd);
  return content;
}

void WriteFile(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp." + std::to_string(getpid());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) ThrowErrno("cannot be created", temporary);
  size_t done = 0;
  bool good = true;
  while (good && done < content.size()) {
    const ssize_t n = write(fd, content.data() + done, content.size() - done);
    if (n >= 0) done += static_cast<size_t>(n);
    good = n >= 0 || errno == EINTR;
  }
  good = good && fsync(fd) == 0;
  int error = errno;
  close(fd);
  if (good && rename(temporary.c_str(), path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return;
  unlink(temporary.c_str());
  errno = error;
  ThrowErrno("cannot be written", path);
}

std::pair<std::string, uint16_t> HostPort(const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto fail = [&]() -> UsageError {
    return UsageError("'" + text + "': expected ADDRESS:PORT, for example 127.0.0.11:7000");
  };
  if (colon == std::string::npos || colon == 0) throw fail();
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data() + colon + 1, end, port);
  if (code != std::errc() || stop != end || port == 0) throw fail();
  return {host, port};
}

}  // namespace examples
