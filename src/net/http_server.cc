// SPDX-License-Identifier: Apache-2.0
// The listener and the list of connections; one connection is in http_session.cc.
#include "net/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>

#include "net/http_session.h"
#include "util/file.h"
#include "util/mutex.h"
#include "util/strings.h"
#include "util/thread.h"

namespace aistation::net {
namespace {

struct Listener {
  util::Fd fd;
  uint16_t port = 0;
};

absl::StatusOr<Listener> Listen(const std::string& address, uint16_t port) {
  const std::string where = util::StrCat(address, ":", port);
  sockaddr_storage storage{};
  socklen_t size = 0;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    size = sizeof(*v4);
  } else if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    size = sizeof(*v6);
  } else {
    return util::InvalidArgument(
        "net.address", util::StrCat("listen address ", util::Excerpt(address),
                                    ": expected an IPv4 or IPv6 address of this machine"));
  }
  Listener listener;
  listener.fd = util::Fd(socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.fd.valid()) return util::ErrnoError(errno, "net.socket", "socket");
  const int on = 1;
  setsockopt(listener.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(listener.fd.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0 ||
      listen(listener.fd.get(), 1024) != 0) {
    return util::ErrnoError(errno, "net.listen", util::StrCat("cannot listen on ", where));
  }
  size = sizeof(storage);
  getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&storage), &size);
  listener.port = ntohs(storage.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
  return listener;
}

std::string AddressText(const sockaddr_storage& peer) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* address =
      peer.ss_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr)
          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr);
  inet_ntop(peer.ss_family, address, text, sizeof(text));
  return text;
}

}  // namespace

struct HttpServer::State {
  ServerOptions options;
  Handler handler;
  Listener listener;
  util::Fd wake;  // eventfd, readable when stopping
  SessionShared shared;
  util::Thread acceptor;

  util::Mutex mutex;
  util::CondVar changed;
  struct Connection {
    int fd = -1;  // -1 once closed
    bool ended = false;
    util::Thread thread;
  };
  std::map<uint64_t, std::unique_ptr<Connection>> connections AIST_GUARDED_BY(mutex);
  uint64_t next_id AIST_GUARDED_BY(mutex) = 1;
  bool stopping AIST_GUARDED_BY(mutex) = false;

  explicit State(uint64_t rate) : shared(rate) {}

  // Joins the threads of connections that have ended. Waits while there are too many.
  bool WaitForRoom() {
    std::vector<std::unique_ptr<Connection>> ended;  // joined without the lock
    const util::MutexLock lock(mutex);
    while (true) {
      for (auto it = connections.begin(); it != connections.end();) {
        if (it->second->ended) {
          ended.push_back(std::move(it->second));
          it = connections.erase(it);
        } else {
          ++it;
        }
      }
      if (stopping) return false;
      if (connections.size() < options.max_connections) return true;
      changed.Wait(mutex);
    }
  }

  void AcceptLoop() {
    while (WaitForRoom()) {
      pollfd fds[2] = {{listener.fd.get(), POLLIN, 0}, {wake.get(), POLLIN, 0}};
      if (poll(fds, 2, 1000) <= 0 || (fds[0].revents & POLLIN) == 0) continue;
      sockaddr_storage peer{};
      socklen_t size = sizeof(peer);
      const int fd = accept4(listener.fd.get(), reinterpret_cast<sockaddr*>(&peer), &size,
                             SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) {
        // Out of descriptors or memory: wait, the connection stays in the queue.
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          pollfd stop{wake.get(), POLLIN, 0};
          poll(&stop, 1, 100);
        }
        continue;
      }
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      Serve(fd, AddressText(peer), peer.ss_family == AF_INET6);
    }
  }

  void Serve(int fd, std::string remote, bool v6) {
    const util::MutexLock lock(mutex);
    const uint64_t id = next_id++;
    auto connection = std::make_unique<Connection>();
    connection->fd = fd;
    connection->thread =
        util::Thread::Start("aist-http", [this, id, fd, v6, remote = std::move(remote)] {
          try {
            RunSession(options, handler, shared, fd, v6, remote, [this, id] { Forget(id); });
          } catch (const std::exception& e) {
            options.log.Warning("net", util::StrCat("connection from ", remote, ": ", e.what()));
          }
          Forget(id);
          const util::MutexLock end_lock(mutex);
          connections[id]->ended = true;
          changed.NotifyAll();
        });
    if (!connection->thread.joinable()) {  // no thread left in the system
      close(fd);
      return;
    }
    connections.emplace(id, std::move(connection));
  }

  // The connection is about to close its descriptor: Stop() must not touch it any more.
  void Forget(uint64_t id) {
    const util::MutexLock lock(mutex);
    if (const auto it = connections.find(id); it != connections.end()) it->second->fd = -1;
  }

  void Stop() {
    {
      const util::MutexLock lock(mutex);
      stopping = true;
      shared.Stop();
      for (auto& [id, connection] : connections) {
        if (connection->fd >= 0) shutdown(connection->fd, SHUT_RDWR);
      }
      changed.NotifyAll();
    }
    eventfd_write(wake.get(), 1);
    acceptor.Join();
    std::map<uint64_t, std::unique_ptr<Connection>> all;
    {
      const util::MutexLock lock(mutex);
      // Accepted between the first look and the end of the acceptor.
      for (auto& [id, connection] : connections) {
        if (connection->fd >= 0) shutdown(connection->fd, SHUT_RDWR);
      }
      while (true) {
        bool running = false;
        for (const auto& [id, connection] : connections) running |= !connection->ended;
        if (!running) break;
        changed.Wait(mutex);
      }
      all.swap(connections);
    }
    all.clear();  // joins
    listener.fd.Close();
  }
};

HttpServer::HttpServer(std::shared_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() { Stop(); }
uint16_t HttpServer::port() const { return state_->listener.port; }
const std::string& HttpServer::address() const { return state_->options.address; }
void HttpServer::Stop() { state_->Stop(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const ServerOptions& options,
                                                              Handler handler) {
  auto state = std::make_shared<State>(options.max_rate_bytes);
  state->options = options;
  state->handler = std::move(handler);
  AIST_ASSIGN_OR_RETURN(state->listener, Listen(options.address, options.port));
  state->wake = util::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!state->wake.valid()) return util::ErrnoError(errno, "net.eventfd", "eventfd");
  state->acceptor = util::Thread::Start("aist-accept", [s = state.get()] { s->AcceptLoop(); });
  if (!state->acceptor.joinable()) {
    return util::Error(absl::StatusCode::kResourceExhausted, "net.thread",
                       "the system has no thread left for the server");
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

}  // namespace aistation::net
