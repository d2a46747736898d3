// SPDX-License-Identifier: Apache-2.0
// One TCP or UDP exchange between two addresses, and the listeners that answer it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "util/file.h"
#include "util/op.h"
#include "util/status.h"
#include "util/thread.h"

namespace aistation::roce {

inline constexpr size_t kSecretBytes = 32;
inline constexpr size_t kMessageBytes = kSecretBytes + 16;

// Echoes messages that begin with `secret` on a TCP and a UDP port of each address, until destroyed
// or for `lifetime_ns`. One thread.
class EchoListeners {
 public:
  struct Ports {
    uint16_t tcp = 0;
    uint16_t udp = 0;
    std::string error;  // why this address has none
  };
  EchoListeners(std::vector<std::string> addresses, std::string secret, int64_t lifetime_ns);
  ~EchoListeners();
  EchoListeners(const EchoListeners&) = delete;
  EchoListeners& operator=(const EchoListeners&) = delete;
  const std::vector<Ports>& ports() const { return ports_; }  // one an address
  bool expired() const { return stop_.load(); }

 private:
  void Run(int64_t until_ns);
  void AnswerDatagram(int fd);
  struct Connection {
    util::Fd fd;
    std::string received;
    int64_t give_up_ns = 0;
  };

  const std::string secret_;
  std::vector<Ports> ports_;
  std::vector<util::Fd> tcp_;
  std::vector<util::Fd> udp_;
  util::Fd wake_;
  std::atomic<bool> stop_{false};
  util::Thread thread_;
};

struct EchoTarget {
  std::string from;  // local address to bind to
  std::string to;
  uint16_t port = 0;
  bool udp = false;
};
// Sends secret and a nonce, expects both back. Round trip in nanoseconds, for TCP with the set-up
// of the connection. UNAVAILABLE `roce.unreachable` says what happened.
absl::StatusOr<uint64_t> EchoOnce(const EchoTarget& target, const std::string& secret,
                                  int64_t timeout_ns);

}  // namespace aistation::roce
