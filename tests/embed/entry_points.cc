// SPDX-License-Identifier: Apache-2.0
// Every entry point, called with nothing but NULL and zeros; the list comes from the headers
// (cmake/abi_spec.py throw-test). With EMBED_THROW, linked with the static archives, each is called
// again while something is thrown inside its guard.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <set>
#include <stdexcept>
#include <vector>

#include "entry_points.inc"
#include "host.h"

#ifdef EMBED_THROW
#include "api/guard.h"
#endif

namespace {

const char* hooked = nullptr;

// In a child, so that a crash names its function.
std::string InChild(const std::function<int()>& body) {
  std::fflush(stdout);
  int pipe_fds[2];
  if (pipe(pipe_fds) != 0) return "no pipe";
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(10);
    const int result = body();
    const char* name = hooked == nullptr ? "" : hooked;
    [[maybe_unused]] const ssize_t n = write(pipe_fds[1], name, std::string(name).size());
    _exit(result);
  }
  close(pipe_fds[1]);
  char buffer[256];
  const ssize_t size = read(pipe_fds[0], buffer, sizeof(buffer));
  close(pipe_fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return std::to_string(WEXITSTATUS(status)) + ":" +
         std::string(buffer, size > 0 ? static_cast<size_t>(size) : 0);
}

#ifdef EMBED_THROW
struct Thrown {
  const char* what;
  aist_status becomes;
  aistation::api::GuardHook hook;
};
const Thrown kThrown[] = {
    {"std::runtime_error", AIST_INTERNAL,
     [](const char* f) {
       hooked = f;
       throw std::runtime_error("thrown by a test");
     }},
    {"std::bad_alloc", AIST_RESOURCE_EXHAUSTED,
     [](const char* f) {
       hooked = f;
       throw std::bad_alloc();
     }},
    {"an int", AIST_INTERNAL,
     [](const char* f) {
       hooked = f;
       throw 42;
     }},
};
#endif

}  // namespace

int main() {
  size_t functions = 0, fallible = 0;
  for (const EntryPoint& entry : kEntryPoints) {
    ++functions;
    fallible += entry.fallible;
    const std::string result = InChild([&] { return entry.call(); });
    // 0: void, an accessor or success; INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION.
    const std::string status = result.substr(0, result.find(':'));
    const bool fine =
        status == "0" || (entry.fallible && (status == "3" || status == "5" || status == "9"));
    host::Check(fine || (!entry.fallible && status.find("signal") == std::string::npos),
                std::string(entry.name) + "(NULL, …)", result);
  }
  host::Check(functions > 100, "the list is whole",
              std::to_string(functions) + ", " + std::to_string(fallible) + " fallible");
#ifdef EMBED_THROW
  for (const Thrown& thrown : kThrown) {
    size_t reached = 0;
    for (const EntryPoint& entry : kEntryPoints) {
      const std::string result = InChild([&] {
        aistation::api::SetGuardHookForTest(thrown.hook);
        return entry.call();
      });
      const size_t colon = result.find(':');
      const std::string name = colon == std::string::npos ? "" : result.substr(colon + 1);
      const std::string status = result.substr(0, colon);
      if (name.empty() && colon != std::string::npos) continue;  // nothing guarded inside
      ++reached;
      const bool fine = colon != std::string::npos && name == entry.name &&
                        (!entry.fallible || status == std::to_string(thrown.becomes));
      if (!fine) host::Bad(std::string(entry.name) + " with " + thrown.what, result);
    }
    host::Check(reached >= fallible, std::string(thrown.what) + " inside each guarded function",
                std::to_string(reached) + " were reached");
  }
  // Every fallible function is guarded.
  for (const EntryPoint& entry : kEntryPoints) {
    if (!entry.fallible) continue;
    const std::string result = InChild([&] {
      aistation::api::SetGuardHookForTest(kThrown[0].hook);
      return entry.call();
    });
    if (result.find(entry.name) == std::string::npos)
      host::Bad(std::string(entry.name) + " is guarded", result);
  }
#endif
  return host::Finish();
}
