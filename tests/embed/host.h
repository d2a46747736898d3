// SPDX-License-Identifier: Apache-2.0
// What the host programs of these tests share: checks, and a tour through the whole C interface.
#pragma once

#include <aistation/aistation.h>

#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace host {

inline int failures = 0;

inline void Ok(const std::string& what) { std::printf("ok %s\n", what.c_str()); }
inline void Bad(const std::string& what, const std::string& why) {
  std::printf("FAIL %s: %s\n", what.c_str(), why.c_str());
  ++failures;
}
inline void Check(bool good, const std::string& what, const std::string& why = "it does not hold") {
  if (good) {
    Ok(what);
  } else {
    Bad(what, why);
  }
}
inline int Finish() {
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

// "" or what went wrong. Frees the error.
inline std::string Outcome(const char* call, aist_status status, aist_error** error) {
  std::string text;
  if (status != AIST_OK) {
    text = std::string(call) + ": " + aist_status_name(status) + " " + aist_error_reason(*error) +
           " " + aist_error_message(*error);
  }
  aist_error_free(*error);
  *error = nullptr;
  return text;
}

inline std::string Take(aist_bytes* bytes) {
  std::string text;
  if (bytes != nullptr) {
    text.assign(static_cast<const char*>(aist_bytes_data(bytes)), aist_bytes_size(bytes));
  }
  aist_bytes_free(bytes);
  return text;
}

inline std::string ReadFile(const std::string& path) {
  // A test may have a cancellation pending; it is for the library, not for this.
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  std::string text;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file != nullptr) {
    char buffer[4096];
    for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) text.append(buffer, n);
    std::fclose(file);
  }
  pthread_setcancelstate(before, nullptr);
  return text;
}

// Directory made by tests/embed/run, with tls/{ca,host}.pem and tls/host.key, and a small data set
// in source/.
inline std::string Work() {
  const char* work = std::getenv("AIST_EMBED_WORK");
  if (work == nullptr) {
    std::printf(
        "FAIL environment: AIST_EMBED_WORK is not set; start this through tests/embed/run\n");
    std::exit(1);
  }
  return work;
}

inline aist_str Str(const char* text) { return {text, AIST_NUL_TERMINATED}; }
inline aist_str Str(const std::string& text) { return {text.data(), text.size()}; }

// Linux: entries of /proc/self/fd and /proc/self/task.
int CountFds();
int CountThreads();
// Waits up to a second for a count to come back to what it was.
bool Settles(const std::function<int()>& count, int wanted);
// A field of /proc/self/status, for example "SigCgt".
std::string ProcStatus(const std::string& field);

struct TourOptions {
  bool with_node = true;  // TLS identity, node, query, dataset cache
  std::string tag = "0";  // makes files of this tour distinct
  // Receives documents with numbers, for comparison under another locale.
  std::function<void(const std::string& name, const std::string& document)> document;
};
// Uses every part of the library once and frees everything. "" or the first thing that went wrong.
std::string Tour(const TourOptions& options);

}  // namespace host
