// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <dirent.h>
#include <unistd.h>

#include <sstream>
#include <vector>

namespace host {
namespace {

int CountEntries(const char* directory) {
  DIR* dir = opendir(directory);
  if (dir == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = readdir(dir)) count += entry->d_name[0] != '.';
  closedir(dir);
  return count;
}

// Handles that are freed at the end of the tour, whatever happened.
struct Handles {
  ~Handles() {
    aist_op_free(op);
    aist_dataset_free(dataset);
    aist_job_manager_free(manager);
    aist_node_free(node);
    aist_monitor_events_free(events);
    aist_store_watch_free(watch);
    aist_topology_free(topology);
    aist_context_free(context);  // not last on purpose: the order must not matter
    aist_alloc_free(alloc);
    aist_tls_free(tls);
    aist_store_free(store);
  }
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_store_watch* watch = nullptr;
  aist_allocator_state* alloc = nullptr;
  aist_topology* topology = nullptr;
  aist_monitor_events* events = nullptr;
  aist_tls* tls = nullptr;
  aist_node* node = nullptr;
  aist_job_manager* manager = nullptr;
  aist_dataset* dataset = nullptr;
  aist_op* op = nullptr;
};

class Walker {
 public:
  explicit Walker(const TourOptions& options) : options_(options) {}
  std::string Go();

 private:
  using Step = std::string (Walker::*)();
  std::string State();
  std::string Cards();
  std::string Placement();
  std::string Metrics();
  std::string Nodes();
  std::string Data();
  std::string Jobs();
  std::string Result(const char* call, aist_bytes** out);
  void Show(const char* name, const std::string& document) {
    if (options_.document) options_.document(name, document);
  }

  const TourOptions& options_;
  Handles h_;
  aist_error* error_ = nullptr;
};

#define TRY(call, ...)                                                                   \
  do {                                                                                   \
    const std::string try_problem = Outcome(#call, call(__VA_ARGS__, &error_), &error_); \
    if (!try_problem.empty()) return try_problem;                                        \
  } while (false)

std::string Walker::State() {
  const std::string path = Work() + "/tour-" + options_.tag + ".db";
  aist_store_opts opts = AIST_STORE_OPTS_INIT;
  opts.path = Str(path);
  TRY(aist_store_open, h_.context, &opts, &h_.store);
  TRY(aist_store_watch_create, h_.store, "tour/", AIST_NUL_TERMINATED, 0, &h_.watch);
  int64_t revision = 0;
  TRY(aist_store_put, h_.store, "tour/a", 6, "one", 3, 0, &revision);
  TRY(aist_store_cas, h_.store, "tour/a", 6, revision, "two", 3, &revision);
  aist_bytes* out = nullptr;
  TRY(aist_store_watch_next, h_.watch, 2'000'000'000, AIST_FORMAT_JSON, &out);
  aist_bytes_free(out);
  out = nullptr;
  TRY(aist_store_range, h_.store, "tour/", 5, 0, AIST_FORMAT_JSON, &out);
  aist_bytes_free(out);
  int64_t lease = 0;
  TRY(aist_store_lease_grant, h_.store, 60'000'000'000, &lease);
  TRY(aist_store_lease_revoke, h_.store, lease);
  TRY(aist_audit_append, h_.store, "tour", 4, "look", 4, "store", 5, "{\"n\": 1.5}",
      AIST_NUL_TERMINATED, nullptr);
  out = nullptr;
  TRY(aist_audit_verify, h_.store, AIST_FORMAT_JSON, &out);
  aist_bytes_free(out);
  return "";
}

std::string Walker::Cards() {
  aist_bytes* out = nullptr;
  TRY(aist_accel_discover, h_.context, nullptr, AIST_FORMAT_JSON, &out);
  aist_bytes_free(out);
  aist_topology_opts opts = AIST_TOPOLOGY_OPTS_INIT;
  opts.path = Str(AIST_SOURCE_DIR "/examples/data/node11.json");
  TRY(aist_topology_load, h_.context, &opts, &h_.topology);
  out = nullptr;
  TRY(aist_topology_describe, h_.topology, AIST_FORMAT_JSON, &out);
  Show("topology", Take(out));
  out = nullptr;
  TRY(aist_roce_choose, h_.topology, AIST_FORMAT_JSON, &out);
  Show("nics", Take(out));
  return "";
}

std::string Walker::Placement() {
  const std::string inventory = ReadFile(AIST_SOURCE_DIR "/examples/data/cluster.json");
  TRY(aist_alloc_open, h_.context, h_.store, AIST_FORMAT_JSON, inventory.data(), inventory.size(),
      &h_.alloc);
  const std::string request = "{\"cards\": 16, \"need_nics\": true}";
  aist_bytes* out = nullptr;
  TRY(aist_alloc_plan, h_.alloc, AIST_FORMAT_JSON, request.data(), request.size(), &out);
  const std::string placement = Take(out);
  Show("placement", placement);
  out = nullptr;
  TRY(aist_roce_environment, h_.context, AIST_FORMAT_JSON, placement.data(), placement.size(),
      &out);
  Show("environment", Take(out));
  return "";
}

std::string Walker::Metrics() {
  TRY(aist_monitor_subscribe, h_.context, &h_.events);
  TRY(aist_monitor_counter_add, h_.context, "tour_seconds_total", AIST_NUL_TERMINATED,
      "Of the tour.", AIST_NUL_TERMINATED, "part=\"a\"", AIST_NUL_TERMINATED, 1234.5);
  TRY(aist_monitor_gauge_set, h_.context, "tour_ratio", AIST_NUL_TERMINATED, "Of the tour.",
      AIST_NUL_TERMINATED, "", 0, 0.125);
  aist_bytes* out = nullptr;
  TRY(aist_monitor_prometheus, h_.context, &out);
  Show("metrics", Take(out));
  return "";
}

std::string Walker::Result(const char* call, aist_bytes** out) {
  std::string problem = Outcome(call, aist_op_wait(h_.op, 30'000'000'000, &error_), &error_);
  if (problem.empty()) {
    problem = Outcome(call, aist_op_result(h_.op, AIST_FORMAT_JSON, out, &error_), &error_);
  }
  aist_op_free(h_.op);
  h_.op = nullptr;
  return problem;
}

std::string Walker::Nodes() {
  const std::string work = Work();
  const std::string ca = work + "/tls/ca.pem", cert = work + "/tls/host.pem",
                    key = work + "/tls/host.key", data = work + "/node-" + options_.tag;
  aist_tls_opts tls = AIST_TLS_OPTS_INIT;
  tls.ca_file = Str(ca);
  tls.cert_file = Str(cert);
  tls.key_file = Str(key);
  TRY(aist_tls_load, h_.context, &tls, &h_.tls);
  aist_node_opts node = AIST_NODE_OPTS_INIT;
  node.name = Str("host");
  node.data_directory = Str(data);
  node.mirror_address = Str("127.0.0.1");
  node.tls = h_.tls;
  TRY(aist_node_start, h_.context, &node, &h_.node);
  TRY(aist_node_query, h_.context, h_.tls, "127.0.0.1", AIST_NUL_TERMINATED,
      aist_node_port(h_.node), &h_.op);
  aist_bytes* out = nullptr;
  const std::string problem = Result("aist_node_query", &out);
  if (!problem.empty()) return problem;
  aist_bytes_free(out);
  return "";
}

std::string Walker::Data() {
  const std::string source = Work() + "/source";
  aist_dataset_index_opts opts = AIST_DATASET_INDEX_OPTS_INIT;
  opts.name = Str("tour");
  opts.source = Str(source);
  TRY(aist_dataset_index, h_.context, &opts, &h_.op);
  aist_bytes* out = nullptr;
  std::string problem = Result("aist_dataset_index", &out);
  if (!problem.empty()) return problem;
  const std::string request =
      "{\"manifest\": " + Take(out) + ", \"members\": [{\"node\": \"host\", " +
      "\"address\": \"127.0.0.1\", \"port\": " + std::to_string(aist_node_port(h_.node)) + "}]}";
  TRY(aist_dataset_cache, h_.node, AIST_FORMAT_JSON, request.data(), request.size(), &h_.op);
  out = nullptr;
  problem = Result("aist_dataset_cache", &out);
  if (!problem.empty()) return problem;
  const std::string result = Take(out);
  const std::string mark = "\"path\":";
  size_t at = result.find(mark);
  at = at == std::string::npos ? at : result.find('"', at + mark.size());
  if (at == std::string::npos) return "aist_dataset_cache: no path in " + result;
  const std::string path = result.substr(at + 1, result.find('"', at + 1) - at - 1);
  TRY(aist_dataset_open, path.data(), path.size(), &h_.dataset);
  char buffer[64];
  size_t size = 0;
  TRY(aist_dataset_read, h_.dataset, 0, 0, buffer, sizeof(buffer), &size);
  return size == 0 ? "aist_dataset_read: nothing was read" : "";
}

std::string Walker::Jobs() {
  aist_job_manager_opts opts = AIST_JOB_MANAGER_OPTS_INIT;
  opts.store = h_.store;
  opts.alloc = h_.alloc;
  TRY(aist_job_manager_create, h_.context, &opts, &h_.manager);
  const std::string request =
      "{\"lines\": [{\"text\": \"NVRM: Xid (PCI:0000:1b:00): 79, pid=7, GPU has fallen off the "
      "bus.\", \"node\": \"node11\"}], \"exit_status\": {\"0\": 137}}";
  aist_bytes* out = nullptr;
  TRY(aist_job_classify, h_.context, "", 0, AIST_FORMAT_JSON, request.data(), request.size(), &out);
  Show("verdict", Take(out));
  out = nullptr;
  aist_report_opts report = AIST_REPORT_OPTS_INIT;
  TRY(aist_report_build, h_.context, h_.store, &report, &out);
  aist_bytes_free(out);
  return "";
}

std::string Walker::Go() {
  TRY(aist_context_create, nullptr, &h_.context);
  std::vector<Step> steps = {&Walker::State, &Walker::Cards, &Walker::Placement, &Walker::Metrics};
  if (options_.with_node) steps.insert(steps.end(), {&Walker::Nodes, &Walker::Data});
  steps.push_back(&Walker::Jobs);
  for (const Step step : steps) {
    const std::string problem = (this->*step)();
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace

int CountFds() { return CountEntries("/proc/self/fd"); }
int CountThreads() { return CountEntries("/proc/self/task"); }

bool Settles(const std::function<int()>& count, int wanted) {
  for (int i = 0; i < 100; ++i) {
    if (count() <= wanted) return true;
    usleep(10'000);
  }
  return false;
}

std::string ProcStatus(const std::string& field) {
  std::istringstream lines(ReadFile("/proc/self/status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(field + ":", 0) == 0) return line.substr(field.size() + 1);
  }
  return "";
}

std::string Tour(const TourOptions& options) { return Walker(options).Go(); }

}  // namespace host
