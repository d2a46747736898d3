// SPDX-License-Identifier: Apache-2.0
// Command lines: strict, described by tables from which the help is made.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

struct Option {
  std::string name;   // without "--"
  std::string value;  // name of the value in the help; empty: a switch
  std::string help;
  bool repeat = false;
};

struct Spec {
  std::string name;       // "pull"
  std::string arguments;  // "REFERENCE"
  std::string summary;    // one line
  size_t min_arguments = 0;
  size_t max_arguments = 0;
  std::vector<Option> options;
  std::vector<std::string> examples;
  std::string notes;
};

// The command line is wrong; the message says what was expected.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Args {
 public:
  // `--name value`, `--name=value`, `--` ends the options. `common`: options of all commands.
  static Args Parse(const Spec& spec, const std::vector<Option>& common,
                    const std::vector<std::string>& words);

  bool Has(const std::string& name) const { return values_.count(name) != 0; }
  std::string Get(const std::string& name, const std::string& fallback = "") const;
  // The value, else the environment variable, else "".
  std::string GetOrEnv(const std::string& name, const char* variable) const;
  std::string Require(const std::string& name) const;
  std::vector<std::string> All(const std::string& name) const;
  uint64_t Number(const std::string& name, uint64_t fallback, uint64_t most = UINT64_MAX) const;
  // "64M", "2G", "4096": powers of 1024.
  uint64_t Size(const std::string& name, uint64_t fallback) const;
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> positional_;
};

std::string Help(const std::string& program, const Spec& spec, const std::vector<Option>& common);

// The whole file; throws aist::Error (NOT_FOUND, or INVALID_ARGUMENT when larger than 64 MiB).
std::string ReadFile(const std::string& path);
// Complete or not there at all; throws aist::Error.
void WriteFile(const std::string& path, std::string_view content);
// "127.0.0.1:5000" or "[::1]:5000"; throws UsageError.
std::pair<std::string, uint16_t> HostPort(const std::string& text);

}  // namespace examples
