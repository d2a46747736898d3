// SPDX-License-Identifier: Apache-2.0
#include "roce/echo.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>

#include "security/digest.h"
#include "util/clock.h"
#include "util/strings.h"

namespace aistation::roce {
namespace {

constexpr size_t kMaxConnections = 256;
constexpr int64_t kSecond = 1'000'000'000;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

absl::StatusOr<Address> Parse(const std::string& text, uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.size = sizeof(*v4);
  } else if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.size = sizeof(*v6);
  } else {
    return util::InvalidArgument("roce.address", util::StrCat("address \"", util::Excerpt(text),
                                                              "\": expected IPv4 or IPv6"));
  }
  return address;
}

absl::Status Unreachable(const EchoTarget& target, std::string_view what, int error) {
  const std::string text =
      util::StrCat(target.udp ? "UDP " : "TCP ", target.from, " to ", target.to, ": ", what);
  util::ErrorHints hints;
  hints.system_errno = error;
  return util::Error(absl::StatusCode::kUnavailable, "roce.unreachable",
                     error == 0 ? text : util::Message(util::ErrnoError(error, "", text)), hints);
}

absl::StatusOr<util::Fd> Bind(const std::string& address, int type, uint16_t* port) {
  AIST_ASSIGN_OR_RETURN(Address a, Parse(address, 0));
  util::Fd fd(socket(a.storage.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return util::ErrnoError(errno, "roce.socket", "socket");
  if (bind(fd.get(), a.get(), a.size) != 0) {
    return util::ErrnoError(errno, "roce.bind", util::StrCat("cannot bind to ", address));
  }
  if (port != nullptr) {
    getsockname(fd.get(), a.get(), &a.size);
    *port = ntohs(a.storage.ss_family == AF_INET
                      ? reinterpret_cast<sockaddr_in*>(&a.storage)->sin_port
                      : reinterpret_cast<sockaddr_in6*>(&a.storage)->sin6_port);
  }
  return fd;
}

// Waits for `events`; false when the time is over.
bool Ready(int fd, short events, int64_t until_ns) {
  const int64_t left = until_ns - util::RealClock().MonotonicNanos();
  if (left <= 0) return false;
  pollfd p{fd, events, 0};
  return poll(&p, 1, static_cast<int>(left / 1'000'000 + 1)) > 0;
}

}  // namespace

EchoListeners::EchoListeners(std::vector<std::string> addresses, std::string secret,
                             int64_t lifetime_ns)
    : secret_(std::move(secret)) {
  wake_ = util::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const auto& address : addresses) {
    Ports ports;
    auto tcp = Bind(address, SOCK_STREAM, &ports.tcp);
    auto udp = Bind(address, SOCK_DGRAM, &ports.udp);
    if (tcp.ok() && listen(tcp->get(), 256) != 0) {
      tcp = util::ErrnoError(errno, "roce.listen", util::StrCat("cannot listen on ", address));
    }
    if (tcp.ok() && udp.ok()) {
      tcp_.push_back(*std::move(tcp));
      udp_.push_back(*std::move(udp));
    } else {
      ports.error = util::Message(tcp.ok() ? udp.status() : tcp.status());
      ports.tcp = ports.udp = 0;
    }
    ports_.push_back(std::move(ports));
  }
  const int64_t until = util::RealClock().MonotonicNanos() + lifetime_ns;
  thread_ = util::Thread::Start("aist-echo", [this, until] { Run(until); });
}

EchoListeners::~EchoListeners() {
  stop_.store(true);
  eventfd_write(wake_.get(), 1);
  thread_.Join();
}

void EchoListeners::AnswerDatagram(int fd) {
  char message[kMessageBytes + 1];
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  const ssize_t got =
      recvfrom(fd, message, sizeof(message), 0, reinterpret_cast<sockaddr*>(&peer), &size);
  if (got == static_cast<ssize_t>(kMessageBytes) &&
      std::string_view(message, kSecretBytes) == secret_) {
    (void)sendto(fd, message, kMessageBytes, MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<sockaddr*>(&peer), size);
  }
}

void EchoListeners::Run(int64_t until_ns) {
  std::vector<Connection> connections;
  std::vector<pollfd> fds;
  while (!stop_.load()) {
    const int64_t now = util::RealClock().MonotonicNanos();
    if (now >= until_ns) break;
    std::erase_if(connections,
                  [now](const Connection& c) { return !c.fd.valid() || now > c.give_up_ns; });
    fds.assign(1, {wake_.get(), POLLIN, 0});
    const short accept_events = connections.size() < kMaxConnections ? POLLIN : 0;
    for (const auto& fd : tcp_) fds.push_back({fd.get(), accept_events, 0});
    for (const auto& fd : udp_) fds.push_back({fd.get(), POLLIN, 0});
    for (const auto& c : connections) fds.push_back({c.fd.get(), POLLIN, 0});
    if (poll(fds.data(), fds.size(), 500) <= 0) continue;
    const size_t udp_at = 1 + tcp_.size();
    const size_t connections_at = udp_at + udp_.size();
    for (size_t i = 0; i < connections.size(); ++i) {
      if (fds[connections_at + i].revents == 0) continue;
      Connection& c = connections[i];
      char buffer[kMessageBytes];
      const ssize_t got = recv(c.fd.get(), buffer, kMessageBytes - c.received.size(), MSG_DONTWAIT);
      if (got > 0) c.received.append(buffer, static_cast<size_t>(got));
      const bool whole = c.received.size() == kMessageBytes;
      if (whole && c.received.compare(0, kSecretBytes, secret_) == 0) {
        (void)send(c.fd.get(), c.received.data(), kMessageBytes, MSG_NOSIGNAL | MSG_DONTWAIT);
      }
      if (whole || (got <= 0 && errno != EAGAIN)) c.fd.Close();
    }
    for (size_t i = udp_at; i < connections_at; ++i) {
      if ((fds[i].revents & POLLIN) != 0) AnswerDatagram(fds[i].fd);
    }
    for (size_t i = 1; i < udp_at; ++i) {
      if ((fds[i].revents & POLLIN) == 0) continue;
      util::Fd fd(accept4(fds[i].fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd.valid()) connections.push_back({std::move(fd), "", now + 5 * kSecond});
    }
  }
  stop_.store(true);
}

absl::StatusOr<uint64_t> EchoOnce(const EchoTarget& target, const std::string& secret,
                                  int64_t timeout_ns) {
  const std::string message = secret + security::RandomHex(8);
  AIST_ASSIGN_OR_RETURN(const util::Fd fd,
                        Bind(target.from, target.udp ? SOCK_DGRAM : SOCK_STREAM, nullptr));
  AIST_ASSIGN_OR_RETURN(Address to, Parse(target.to, target.port));
  const int64_t started = util::RealClock().MonotonicNanos();
  const int64_t until = started + timeout_ns;
  if (connect(fd.get(), to.get(), to.size) != 0) {
    if (errno != EINPROGRESS) return Unreachable(target, "cannot connect", errno);
    if (!Ready(fd.get(), POLLOUT, until)) return Unreachable(target, "no answer in time", 0);
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Unreachable(target, "cannot connect", error);
  }
  if (send(fd.get(), message.data(), message.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(message.size())) {
    return Unreachable(target, "cannot send", errno);
  }
  std::string answer;
  while (answer.size() < message.size()) {
    if (!Ready(fd.get(), POLLIN, until)) return Unreachable(target, "no answer in time", 0);
    char buffer[kMessageBytes];
    const ssize_t got = recv(fd.get(), buffer, message.size() - answer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return Unreachable(target, "the connection was closed", got < 0 ? errno : 0);
    answer.append(buffer, static_cast<size_t>(got));
  }
  if (answer != message) return Unreachable(target, "somebody else answered", 0);
  return static_cast<uint64_t>(util::RealClock().MonotonicNanos() - started);
}

}  // namespace aistation::roce
