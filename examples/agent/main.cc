// SPDX-License-Identifier: Apache-2.0
// One node of the centre: starts, says where it listens, runs until SIGTERM or SIGINT.
#include <signal.h>

#include <cstdio>

#include "common/node.h"

namespace {

using examples::Args;
using examples::Option;
using examples::Spec;

Spec AgentSpec() {
  Spec spec;
  spec.summary = "one node: stores and serves blobs, caches datasets, runs processes of jobs";
  spec.options = examples::NodeOptions();
  for (const Option& option : examples::TlsOptions()) spec.options.push_back(option);
  const std::vector<Option> own = {
      {"port-file", "FILE", "written when the node listens: port, mirror port, one a line"},
      {"log-level", "LEVEL", "debug, info, warning, error, none (default info)"},
      {"help", "", "this text"}};
  spec.options.insert(spec.options.end(), own.begin(), own.end());
  spec.notes =
      "SIGHUP reads the certificates again. SIGTERM stops the node; committed data stay.\n"
      "exit codes: 0 stopped, 1 could not start, 2 wrong command line.";
  spec.examples = {
      "agent --name node11 --data /var/lib/aistation --listen 10.0.0.11 --port 7400 \\",
      "      --tls-ca ca.pem --tls-cert node11.pem --tls-key node11.key \\",
      "      --kernel-log /dev/kmsg --mirror 127.0.0.1:5000 --allow-launch"};
  return spec;
}

volatile sig_atomic_t reload = 0;
void OnHangUp(int) { reload = 1; }

void Serve(const Args& args) {
  const examples::Signals signals;
  struct sigaction action {};
  action.sa_handler = OnHangUp;
  sigaction(SIGHUP, &action, nullptr);
  const aist::Context context =
      examples::MakeContext(args.Get("name", "agent"), args.Get("log-level", "info"));
  const aist::Tls tls = examples::LoadTls(context.get(), args);
  const aist::Node node = examples::StartNode(context.get(), tls.get(), args);
  const unsigned port = aist_node_port(node.get());
  const unsigned mirror = aist_node_mirror_port(node.get());
  if (args.Has("port-file")) {
    examples::WriteFile(args.Get("port-file"),
                        std::to_string(port) + "\n" + std::to_string(mirror) + "\n");
  }
  std::printf("%s listens on %s port %u, mirror port %u\n", args.Get("name").c_str(),
              args.Get("listen", "127.0.0.1").c_str(), port, mirror);
  std::fflush(stdout);
  while (signals.Next(500) == 0) {
    if (reload == 0) continue;
    reload = 0;
    try {
      aist::Call(aist_tls_reload, tls.get());
      std::printf("certificates read again\n");
    } catch (const aist::Error& error) {
      std::fprintf(stderr, "agent: certificates stay as they are: %s\n", error.what());
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Spec spec = AgentSpec();
  try {
    const Args args = Args::Parse(spec, {}, {argv + 1, argv + argc});
    if (args.Has("help")) {
      std::fputs(examples::Help("agent", spec, {}).c_str(), stdout);
      return 0;
    }
    Serve(args);
    return 0;
  } catch (const examples::UsageError& error) {
    std::fprintf(stderr, "agent: %s\nTry 'agent --help'.\n", error.what());
    return 2;
  } catch (const aist::Error& error) {
    std::fprintf(stderr, "agent: %s (%s)\n", error.what(), error.reason().c_str());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "agent: %s\n", error.what());
    return 1;
  }
}
