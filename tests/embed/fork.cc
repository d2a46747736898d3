// SPDX-License-Identifier: Apache-2.0
// A child forked while threads of the library are busy gets an error, never a hang. Frees are
// allowed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "host.h"

namespace {

struct Parent {
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_monitor_events* events = nullptr;
};

bool Refused(aist_status status, aist_error** error) {
  const bool good = status == AIST_FAILED_PRECONDITION &&
                    std::strcmp(aist_error_reason(*error), "base.forked_child") == 0;
  aist_error_free(*error);
  *error = nullptr;
  return good;
}

// In the child: 0 good, else the number of what was wrong.
int Child(const Parent& parent) {
  alarm(10);  // a hang ends by SIGALRM
  aist_error* error = nullptr;
  aist_bytes* bytes = nullptr;
  aist_context* context = nullptr;
  if (!Refused(aist_context_create(nullptr, &context, &error), &error)) return 1;
  if (!Refused(aist_store_put(parent.store, "k", 1, "v", 1, 0, nullptr, &error), &error)) return 2;
  if (!Refused(aist_monitor_prometheus(parent.context, &bytes, &error), &error)) return 3;
  if (!Refused(aist_monitor_events_next(parent.events, 1000, &bytes, &error), &error)) return 4;
  if (!Refused(aist_accel_discover(parent.context, nullptr, AIST_FORMAT_JSON, &bytes, &error),
               &error)) {
    return 5;
  }
  if (aist_version() == 0 || std::strlen(aist_status_name(AIST_NOT_FOUND)) == 0) return 6;
  // As the garbage collector of a binding would.
  aist_monitor_events_free(parent.events);
  aist_store_free(parent.store);
  aist_context_free(parent.context);
  // The exception: readers of datasets need nothing of the parent.
  aist_dataset* dataset = nullptr;
  if (aist_dataset_open("/nowhere", AIST_NUL_TERMINATED, &dataset, &error) != AIST_NOT_FOUND)
    return 7;
  aist_error_free(error);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 500;
  Parent parent;
  aist_error* error = nullptr;
  aist_store_opts opts = AIST_STORE_OPTS_INIT;
  const std::string path = host::Work() + "/fork.db";
  opts.path = host::Str(path);
  host::Check(aist_context_create(nullptr, &parent.context, &error) == AIST_OK, "context");
  host::Check(aist_store_open(parent.context, &opts, &parent.store, &error) == AIST_OK, "store");
  host::Check(aist_monitor_subscribe(parent.context, &parent.events, &error) == AIST_OK, "events");
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  busy.emplace_back([&] {
    while (!stop) {
      aist_bytes* out = nullptr;
      aist_monitor_gauge_set(parent.context, "busy", AIST_NUL_TERMINATED, "Busy.",
                             AIST_NUL_TERMINATED, "", 0, 1, nullptr);
      aist_monitor_prometheus(parent.context, &out, nullptr);
      aist_bytes_free(out);
      aist_error* e = nullptr;
      aist_store_get(parent.store, "absent", 6, nullptr, nullptr, &e);
      aist_error_free(e);
    }
  });
  busy.emplace_back([&] {
    while (!stop) {
      aist_store_put(parent.store, "b", 1, "v", 1, 0, nullptr, nullptr);
      aist_op* op = nullptr;
      aist_dataset_index_opts index = AIST_DATASET_INDEX_OPTS_INIT;
      index.name = host::Str("none");
      index.source = host::Str("/nowhere");
      if (aist_dataset_index(parent.context, &index, &op, nullptr) == AIST_OK) {
        aist_op_wait(op, 1'000'000'000, nullptr);
      }
      aist_op_free(op);
    }
  });
  int hangs = 0, wrong = 0, crashes = 0, last = 0;
  for (int i = 0; i < rounds; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(Child(parent));
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) {
      (WTERMSIG(status) == SIGALRM ? hangs : crashes) += 1;
      last = WTERMSIG(status);
    } else if (WEXITSTATUS(status) != 0) {
      ++wrong;
      last = WEXITSTATUS(status);
    }
    if (hangs + crashes + wrong > 3) break;
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
  const std::string n = std::to_string(rounds) + " forks: ";
  host::Check(hangs == 0, n + "no hang", std::to_string(hangs));
  host::Check(crashes == 0, n + "no crash",
              std::to_string(crashes) + ", signal " + std::to_string(last));
  host::Check(wrong == 0, n + "every call is refused with base.forked_child",
              std::to_string(wrong) + ", step " + std::to_string(last));
  host::Check(aist_store_put(parent.store, "after", 5, "v", 1, 0, nullptr, &error) == AIST_OK,
              "the parent goes on", aist_error_message(error));
  aist_error_free(error);
  aist_monitor_events_free(parent.events);
  aist_store_free(parent.store);
  aist_context_free(parent.context);
  host::Check(aist_debug_live_objects() == 0, "no handle is left");
  return host::Finish();
}
