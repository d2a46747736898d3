// SPDX-License-Identifier: Apache-2.0
// After everything is freed the process is as before: threads, descriptors, handles, signals,
// locale, directory, environment; and nothing was written to the terminal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstring>

#include "host.h"

extern char** environ;

namespace {

std::string Environment() {
  std::string all;
  for (char** e = environ; *e != nullptr; ++e) all += std::string(*e) + "\n";
  return all;
}

std::string Directory() {
  char buffer[4096];
  return getcwd(buffer, sizeof(buffer)) == nullptr ? "" : buffer;
}

// Handlers of the process; glibc's own for threads (32 and 33) come with the first thread.
std::string Caught() {
  const unsigned long long mask = std::strtoull(host::ProcStatus("SigCgt").c_str(), nullptr, 16);
  return std::to_string(mask & ~(3ULL << 31));
}

struct Snapshot {
  int fds = host::CountFds();
  int threads = host::CountThreads();
  std::string caught = Caught();
  std::string ignored = host::ProcStatus("SigIgn");
  std::string blocked = host::ProcStatus("SigBlk");
  std::string cpus = host::ProcStatus("Cpus_allowed");
  std::string locale = std::setlocale(LC_ALL, nullptr);
  std::string directory = Directory();
  std::string environment = Environment();
  mode_t mask = umask(022);
};

}  // namespace

int main() {
  umask(022);
  // The first tour opens what stays open on purpose (OpenSSL, curl: one time each).
  host::TourOptions options;
  options.tag = "first";
  const Snapshot fresh;
  // Output of the library would go to the terminal: catch it.
  const std::string capture = host::Work() + "/output";
  const int keep_out = dup(1), keep_err = dup(2);
  const int file = open(capture.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
  std::fflush(stdout);
  dup2(file, 1);
  dup2(file, 2);
  std::string problem = host::Tour(options);
  const bool back = host::Settles(host::CountThreads, fresh.threads);
  const int warm_fds = host::CountFds();
  for (int i = 0; i < 3 && problem.empty(); ++i) {
    options.tag = "again" + std::to_string(i);
    problem = host::Tour(options);
  }
  std::fflush(stdout);
  dup2(keep_out, 1);
  dup2(keep_err, 2);
  close(keep_out);
  close(keep_err);
  close(file);
  host::Check(problem.empty(), "the tour through the library", problem);
  host::Check(host::ReadFile(capture).empty(), "nothing written to the terminal",
              host::ReadFile(capture).substr(0, 200));
  host::Check(back, "threads are back after the first tour");
  host::Check(
      host::Settles(host::CountThreads, fresh.threads), "threads are back after four",
      std::to_string(host::CountThreads()) + " instead of " + std::to_string(fresh.threads));
  host::Check(host::Settles(host::CountFds, warm_fds - 3),
              "descriptors do not grow from tour to tour",
              std::to_string(host::CountFds()) + " instead of " + std::to_string(warm_fds - 3));
  host::Check(host::CountFds() <= fresh.fds, "descriptors are back to the start",
              std::to_string(host::CountFds()) + " instead of " + std::to_string(fresh.fds));
  host::Check(aist_debug_live_objects() == 0, "no handle is left",
              std::to_string(aist_debug_live_objects()) + " are");
  const Snapshot now;
  host::Check(now.caught == fresh.caught, "no signal handler",
              now.caught + " after " + fresh.caught);
  host::Check(now.ignored == fresh.ignored, "no signal ignored");
  host::Check(now.blocked == fresh.blocked, "no signal blocked");
  host::Check(now.cpus == fresh.cpus, "same processors");
  host::Check(now.locale == fresh.locale, "same locale");
  host::Check(now.directory == fresh.directory, "same directory");
  host::Check(now.environment == fresh.environment, "same environment");
  host::Check(now.mask == fresh.mask, "same umask");
  return host::Finish();
}
