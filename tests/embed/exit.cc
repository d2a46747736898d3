// SPDX-License-Identifier: Apache-2.0
// exit() while threads of the library are at work: no crash, no hang. Run many times by exit.sh.
#include <unistd.h>

#include "host.h"

int main() {
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_tls* tls = nullptr;
  aist_node* node = nullptr;
  aist_error* error = nullptr;
  const std::string work = host::Work();
  const std::string ca = work + "/tls/ca.pem", cert = work + "/tls/host.pem",
                    key = work + "/tls/host.key", data = work + "/exit-" + std::to_string(getpid());
  aist_store_opts store_opts = AIST_STORE_OPTS_INIT;
  aist_tls_opts tls_opts = AIST_TLS_OPTS_INIT;
  tls_opts.ca_file = host::Str(ca);
  tls_opts.cert_file = host::Str(cert);
  tls_opts.key_file = host::Str(key);
  aist_node_opts node_opts = AIST_NODE_OPTS_INIT;
  node_opts.name = host::Str("host");
  node_opts.data_directory = host::Str(data);
  if (aist_context_create(nullptr, &context, &error) != AIST_OK ||
      aist_store_open(context, &store_opts, &store, &error) != AIST_OK ||
      aist_tls_load(context, &tls_opts, &tls, &error) != AIST_OK) {
    return 9;
  }
  node_opts.tls = tls;
  if (aist_node_start(context, &node_opts, &node, &error) != AIST_OK) return 8;
  for (int i = 0; i < 4; ++i) {
    aist_op* op = nullptr;
    if (aist_node_query(context, tls, "127.0.0.1", AIST_NUL_TERMINATED, aist_node_port(node), &op,
                        &error) != AIST_OK) {
      return 7;
    }
  }
  std::exit(0);
}
