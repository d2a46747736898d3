// SPDX-License-Identifier: Apache-2.0
// SHA-256 and digests as OCI writes them ("sha256:<64 hexadecimal digits>").
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "util/status.h"

namespace aistation::security {

inline constexpr size_t kSha256Size = 32;

// Incremental hash; algorithm "sha256" or "sha512". Not thread-safe.
class Hasher {
 public:
  explicit Hasher(std::string_view algorithm = "sha256");
  ~Hasher();
  Hasher(Hasher&& other) noexcept;
  Hasher& operator=(Hasher&& other) noexcept;
  void Update(std::string_view bytes);
  std::string Finish();  // raw bytes; the hasher is used up

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256(std::string_view bytes);        // 32 raw bytes
std::string Sha256Digest(std::string_view bytes);  // "sha256:..."

// An OCI digest that was checked: known algorithm (sha256, sha512), lower-case hexadecimal, length.
struct Digest {
  std::string algorithm;
  std::string hex;
  std::string ToString() const { return algorithm + ":" + hex; }
};
absl::StatusOr<Digest> ParseDigest(std::string_view text);

// Makes OpenSSL leave its data alone at exit(), when threads may still use them. Works when nobody
// in the process has used OpenSSL before; call it first. Any number of times, from any thread.
void KeepOpenSslAtExit();

// `size` random bytes from the system, as hexadecimal.
std::string RandomHex(size_t size);

}  // namespace aistation::security
