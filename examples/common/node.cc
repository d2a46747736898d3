// SPDX-License-Identifier: Apache-2.0
#include "common/node.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

namespace examples {
namespace {

void Log(void*, uint32_t level, const char* module, const char* message) {
  static constexpr const char* kNames[] = {"", "debug", "info", "warning", "error"};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::fprintf(stderr, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ %s %s: %s\n", parts.tm_year + 1900,
               parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
               now.tv_nsec / 1'000'000, kNames[level <= 4 ? level : 0], module, message);
}

int signal_pipe = -1;  // write end; a signal handler has nothing else to reach it by

void OnSignal(int number) {
  const int saved = errno;
  const unsigned char byte = static_cast<unsigned char>(number);
  const ssize_t ignored = write(signal_pipe, &byte, 1);
  (void)ignored;
  errno = saved;
}

}  // namespace

Signals::Signals() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw aist::Error(AIST_RESOURCE_EXHAUSTED, "cli.pipe", "no descriptor left for a pipe");
  }
  fd_ = fds[0];
  signal_pipe = fds[1];
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int Signals::Next(int timeout_ms) const {
  pollfd wait{fd_, POLLIN, 0};
  if (poll(&wait, 1, timeout_ms) <= 0) return 0;
  unsigned char number = 0;
  return read(fd_, &number, 1) == 1 ? number : 0;
}

aist::Context MakeContext(const std::string& name, const std::string& level) {
  static constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};
  aist_context_opts opts = AIST_CONTEXT_OPTS_INIT;
  opts.name = aist::Str(name);
  if (level != "none") {
    for (uint32_t i = 0; i < 4; ++i) {
      if (level == kLevels[i]) opts.log_level = i + 1;
    }
    if (opts.log_level == 0) {
      throw UsageError("--log-level: expected debug, info, warning, error or none, got '" + level +
                       "'");
    }
    opts.log = Log;
  }
  return aist::Make<aist::Context>(aist_context_create, &opts);
}

std::vector<Option> TlsOptions() {
  return {{"tls-ca", "FILE", "CAs that peers are trusted by (or AISTATION_TLS_CA)"},
          {"tls-cert", "FILE", "own certificate and chain (or AISTATION_TLS_CERT)"},
          {"tls-key", "FILE", "own key, mode 0600 (or AISTATION_TLS_KEY)"},
          {"allowed-peers", "NAMES", "names of peers, with commas; default: any of the CA"}};
}

aist::Tls LoadTls(aist_context* context, const Args& args) {
  const std::string ca = args.GetOrEnv("tls-ca", "AISTATION_TLS_CA");
  const std::string cert = args.GetOrEnv("tls-cert", "AISTATION_TLS_CERT");
  const std::string key = args.GetOrEnv("tls-key", "AISTATION_TLS_KEY");
  if (ca.empty() && cert.empty() && key.empty()) return nullptr;
  const std::string allowed = args.Get("allowed-peers");
  aist_tls_opts opts = AIST_TLS_OPTS_INIT;
  opts.ca_file = aist::Str(ca);
  opts.cert_file = aist::Str(cert);
  opts.key_file = aist::Str(key);
  opts.allowed_peers = aist::Str(allowed);
  return aist::Make<aist::Tls>(aist_tls_load, context, &opts);
}

std::vector<Option> NodeOptions() {
  return {
      {"name", "NAME", "name of the node, a SAN of its certificate"},
      {"data", "DIRECTORY", "blobs, datasets, work directories of this node"},
      {"listen", "ADDRESS", "address for peers (default 127.0.0.1)"},
      {"port", "PORT", "port for peers (default: a free one)"},
      {"mirror", "ADDRESS[:PORT]", "plain HTTP mirror for the container runtime, on loopback"},
      {"mirror-any", "", "let the mirror listen on addresses other than loopback"},
      {"kernel-log", "FILE", "file or device watched for faults, for example /dev/kmsg"},
      {"registry-config", "FILE",
       "JSON: per registry ca_file, plain_http, username, password_file"},
      {"inventory", "FILE", "NodeInventory as JSON (default: discover)"},
      {"allow-launch", "", "run processes of jobs for authenticated members"},
      {"store-limit", "SIZE", "evict blobs beyond this, for example 200G"},
      {"source-rate", "MBIT", "most that is read from registries and storage, in Mbit/s"},
      {"peer-rate", "MBIT", "most that is sent to peers, in Mbit/s"},
      {"chunk", "SIZE", "unit of exchange, 64K to 64M (default 4M)"},
  };
}

aist::Node StartNode(aist_context* context, aist_tls* tls, const Args& args) {
  if (tls == nullptr) {
    throw UsageError("a node needs an identity: --tls-ca, --tls-cert and --tls-key");
  }
  const std::string name = args.Require("name");
  const std::string data = args.Require("data");
  const std::string listen = args.Get("listen");
  const std::string kernel_log = args.Get("kernel-log");
  std::string mirror = args.Get("mirror");
  std::string registries;
  std::string inventory;
  if (args.Has("registry-config")) registries = ReadFile(args.Get("registry-config"));
  if (args.Has("inventory")) inventory = ReadFile(args.Get("inventory"));
  aist_node_opts opts = AIST_NODE_OPTS_INIT;
  if (mirror.find(':') != std::string::npos && mirror.find("::") == std::string::npos) {
    std::tie(mirror, opts.mirror_port) = HostPort(mirror);
  }
  opts.flags = (args.Has("allow-launch") ? AIST_NODE_ALLOW_LAUNCH : 0u) |
               (args.Has("mirror-any") ? AIST_NODE_MIRROR_ANY : 0u);
  opts.name = aist::Str(name);
  opts.data_directory = aist::Str(data);
  opts.listen_address = aist::Str(listen);
  opts.tls = tls;
  opts.mirror_address = aist::Str(mirror);
  opts.kernel_log = aist::Str(kernel_log);
  opts.registry_config = aist::Str(registries);
  opts.inventory = aist::Str(inventory);
  opts.store_limit_bytes = args.Size("store-limit", 0);
  opts.source_rate_mbps = args.Number("source-rate", 0);
  opts.peer_rate_mbps = args.Number("peer-rate", 0);
  opts.chunk_bytes = static_cast<uint32_t>(args.Size("chunk", 0));
  opts.port = static_cast<uint16_t>(args.Number("port", 0, 65535));
  return aist::Make<aist::Node>(aist_node_start, context, &opts);
}

}  // namespace examples
