// SPDX-License-Identifier: Apache-2.0
// Peers that hang up in the middle, in both directions, while SIGPIPE has its default action
// (death).
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "host.h"

namespace {

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void HangUp(int fd) {
  // A reset instead of a polite end: the next write of the other side fails with EPIPE.
  const linger now{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close(fd);
}

int Connect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

// Accepts, reads a little, answers with `text`, hangs up.
class RudeServer {
 public:
  explicit RudeServer(std::string text) : text_(std::move(text)) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    bind(fd_, reinterpret_cast<const sockaddr*>(&address), size);
    listen(fd_, 16);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int client; (client = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
        char buffer[256];
        [[maybe_unused]] const ssize_t n = recv(client, buffer, sizeof(buffer), 0);
        send(client, text_.data(), text_.size(), MSG_NOSIGNAL);
        HangUp(client);
      }
    });
  }
  ~RudeServer() {
    shutdown(fd_, SHUT_RDWR);
    thread_.join();
    close(fd_);
  }
  uint16_t port = 0;

 private:
  int fd_ = -1;
  std::string text_;
  std::thread thread_;
};

}  // namespace

int main() {
  signal(SIGPIPE, SIG_DFL);
  aist_error* error = nullptr;
  aist_context* context = nullptr;
  aist_tls* tls = nullptr;
  aist_node* node = nullptr;
  const std::string work = host::Work();
  const std::string ca = work + "/tls/ca.pem", cert = work + "/tls/host.pem",
                    key = work + "/tls/host.key", data = work + "/pipe";
  aist_tls_opts tls_opts = AIST_TLS_OPTS_INIT;
  tls_opts.ca_file = host::Str(ca);
  tls_opts.cert_file = host::Str(cert);
  tls_opts.key_file = host::Str(key);
  aist_node_opts node_opts = AIST_NODE_OPTS_INIT;
  node_opts.name = host::Str("host");
  node_opts.data_directory = host::Str(data);
  node_opts.mirror_address = host::Str("127.0.0.1");
  host::Check(aist_context_create(nullptr, &context, &error) == AIST_OK, "context");
  host::Check(aist_tls_load(context, &tls_opts, &tls, &error) == AIST_OK, "identity",
              aist_error_message(error));
  node_opts.tls = tls;
  host::Check(aist_node_start(context, &node_opts, &node, &error) == AIST_OK, "node",
              aist_error_message(error));

  for (int i = 0; i < 50; ++i) {
    // The mirror answers somebody who is gone.
    int fd = Connect(aist_node_mirror_port(node));
    const char* request =
        "GET /v2/ HTTP/1.1\r\nHost: a\r\n\r\nGET /v2/ HTTP/1.1\r\nHost: a\r\n\r\n";
    send(fd, request, std::strlen(request), MSG_NOSIGNAL);
    HangUp(fd);
    // The TLS port meets something that is no TLS, and goes.
    fd = Connect(aist_node_port(node));
    send(fd, request, std::strlen(request), MSG_NOSIGNAL);
    HangUp(fd);
  }
  host::Ok("servers of the library survive clients that hang up");

  RudeServer plain(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n[");
  RudeServer no_tls("what?");
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    aist_op* op = nullptr;
    const std::string source = "http://127.0.0.1:" + std::to_string(plain.port) + "/";
    aist_dataset_index_opts index = AIST_DATASET_INDEX_OPTS_INIT;
    index.name = host::Str("rude");
    index.source = host::Str(source);
    if (aist_dataset_index(context, &index, &op, nullptr) == AIST_OK) {
      // Once is enough for each: retries take their time.
      failed += aist_op_wait(op, i < 2 ? 30'000'000'000 : 50'000'000, nullptr) != AIST_OK;
      aist_op_free(op);
    }
    op = nullptr;
    if (aist_node_query(context, tls, "127.0.0.1", AIST_NUL_TERMINATED, no_tls.port, &op,
                        nullptr) == AIST_OK) {
      failed += aist_op_wait(op, i < 2 ? 30'000'000'000 : 50'000'000, nullptr) != AIST_OK;
      aist_op_free(op);
    }
  }
  host::Check(failed == 40, "servers that hang up are errors", std::to_string(failed) + " of 40");
  aist_node_free(node);
  aist_tls_free(tls);
  aist_context_free(context);
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  host::Check(action.sa_handler == SIG_DFL, "SIGPIPE still has its default action");
  return host::Finish();
}
