// SPDX-License-Identifier: Apache-2.0
// pthread_cancel() of a thread inside the library: the call finishes, then the host's thread ends.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "host.h"

namespace {

struct Blocked {
  std::string name;
  std::function<aist_status()> call;  // blocks for about 300 ms
  std::atomic<int> status{-1};
  std::atomic<bool> entered{false};
  std::atomic<bool> past{false};
};

void* Run(void* argument) {
  auto* blocked = static_cast<Blocked*>(argument);
  blocked->entered = true;
  blocked->status = blocked->call();
  pthread_testcancel();
  blocked->past = true;
  return nullptr;
}

void CancelInside(const std::string& name, aist_status wanted, std::function<aist_status()> call) {
  Blocked blocked;
  blocked.name = name;
  blocked.call = std::move(call);
  pthread_t thread;
  pthread_create(&thread, nullptr, Run, &blocked);
  while (!blocked.entered) usleep(1000);
  usleep(60'000);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  host::Check(blocked.status == wanted, name + " finishes although its thread is cancelled",
              std::string("status ") + aist_status_name(blocked.status));
  host::Check(result == PTHREAD_CANCELED && !blocked.past, name + ": then the thread ends");
}

constexpr int64_t kBlock = 300'000'000;

// A whole tour with the cancellation pending from the start: no call may act on it.
void* PendingTour(void* argument) {
  pthread_cancel(pthread_self());
  host::TourOptions options;
  options.tag = "pending";
  *static_cast<std::string*>(argument) = host::Tour(options);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  pthread_testcancel();
  return nullptr;
}

}  // namespace

int main() {
  aist_error* error = nullptr;
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_store_watch* watch = nullptr;
  aist_monitor_events* events = nullptr;
  aist_store_opts opts = AIST_STORE_OPTS_INIT;
  host::Check(aist_context_create(nullptr, &context, &error) == AIST_OK &&
                  aist_store_open(context, &opts, &store, &error) == AIST_OK &&
                  aist_store_watch_create(store, "quiet/", 6, 0, &watch, &error) == AIST_OK &&
                  aist_monitor_subscribe(context, &events, &error) == AIST_OK,
              "set up", aist_error_message(error));
  const std::string inventory = host::ReadFile(AIST_SOURCE_DIR "/examples/data/cluster.json");
  aist_allocator_state* alloc = nullptr;
  aist_job_manager* manager = nullptr;
  aist_job_manager_opts job = AIST_JOB_MANAGER_OPTS_INIT;
  job.store = store;
  host::Check(aist_alloc_open(context, store, AIST_FORMAT_JSON, inventory.data(), inventory.size(),
                              &alloc, &error) == AIST_OK,
              "ledger", aist_error_message(error));
  job.alloc = alloc;
  host::Check(aist_job_manager_create(context, &job, &manager, &error) == AIST_OK, "manager",
              aist_error_message(error));

  CancelInside("aist_store_watch_next", AIST_DEADLINE_EXCEEDED, [&] {
    aist_bytes* out = nullptr;
    return aist_store_watch_next(watch, kBlock, AIST_FORMAT_JSON, &out, nullptr);
  });
  CancelInside("aist_monitor_events_next", AIST_DEADLINE_EXCEEDED, [&] {
    aist_bytes* out = nullptr;
    return aist_monitor_events_next(events, kBlock, &out, nullptr);
  });
  CancelInside("aist_job_events", AIST_DEADLINE_EXCEEDED, [&] {
    aist_bytes* out = nullptr;
    return aist_job_events(manager, "", 0, UINT64_MAX / 4, kBlock, AIST_FORMAT_JSON, &out, nullptr);
  });
  // An operation that lasts: a probe of an address that never answers.
  aist_op* op = nullptr;
  aist_dataset_index_opts index = AIST_DATASET_INDEX_OPTS_INIT;
  index.name = host::Str("slow");
  const std::string slow =
      "http://127.0.0.1:" + host::ReadFile(host::Work() + "/silent.port") + "/";
  index.source = host::Str(slow);
  host::Check(aist_dataset_index(context, &index, &op, &error) == AIST_OK,
              "an operation that lasts", aist_error_message(error));
  CancelInside("aist_op_wait", AIST_DEADLINE_EXCEEDED,
               [&] { return aist_op_wait(op, kBlock, nullptr); });
  host::Check(aist_op_cancel(op, nullptr) == AIST_OK &&
                  aist_op_wait(op, 5'000'000'000, nullptr) == AIST_CANCELLED,
              "the operation itself can be cancelled");
  aist_op_free(op);

  std::string problem = "it did not come to its end";
  pthread_t thread;
  pthread_create(&thread, nullptr, PendingTour, &problem);
  void* result = nullptr;
  pthread_join(thread, &result);
  host::Check(problem.empty(), "the whole tour with a cancellation pending", problem);
  host::Check(result == PTHREAD_CANCELED, "and the thread ends after it");

  aist_job_manager_free(manager);
  aist_alloc_free(alloc);
  aist_monitor_events_free(events);
  aist_store_watch_free(watch);
  aist_store_free(store);
  aist_context_free(context);
  return host::Finish();
}
