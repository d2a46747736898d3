// SPDX-License-Identifier: Apache-2.0
#include "security/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>

#include "util/strings.h"

namespace aistation::security {

struct Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Hasher::Hasher(std::string_view algorithm) : state_(std::make_unique<State>()) {
  const EVP_MD* md = algorithm == "sha512" ? EVP_sha512() : EVP_sha256();
  if (state_->context == nullptr || EVP_DigestInit_ex(state_->context, md, nullptr) != 1) {
    throw std::bad_alloc();  // OpenSSL fails here only without memory; the guard reports it
  }
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&& other) noexcept = default;
Hasher& Hasher::operator=(Hasher&& other) noexcept = default;

void Hasher::Update(std::string_view bytes) {
  if (state_) EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Hasher::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (state_) EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  state_.reset();
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

void KeepOpenSslAtExit() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

std::string Sha256(std::string_view bytes) {
  Hasher hasher;
  hasher.Update(bytes);
  return hasher.Finish();
}

std::string Sha256Digest(std::string_view bytes) {
  return "sha256:" + util::HexEncode(Sha256(bytes));
}

absl::StatusOr<Digest> ParseDigest(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.size() > 256) {
    return util::InvalidArgument(
        "security.digest", util::StrCat("digest \"", util::Excerpt(text),
                                        "\": expected algorithm:hexadecimal, as in sha256:ab12…"));
  }
  Digest digest{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
  const size_t digits = digest.algorithm == "sha256" ? 64 : digest.algorithm == "sha512" ? 128 : 0;
  if (digits == 0) {
    return util::InvalidArgument("security.digest",
                                 util::StrCat("digest \"", util::Excerpt(text),
                                              "\": expected the algorithm sha256 or sha512"));
  }
  const bool hex = digest.hex.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex || digest.hex.size() != digits) {
    return util::InvalidArgument(
        "security.digest",
        util::StrCat("digest \"", util::Excerpt(text), "\": expected ", digits,
                     " lower-case hexadecimal digits after \"", digest.algorithm, ":\""));
  }
  return digest;
}

std::string RandomHex(size_t size) {
  std::string bytes(size, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size)) != 1) {
    throw std::bad_alloc();  // no entropy: nothing made from it would be safe
  }
  return util::HexEncode(bytes);
}

}  // namespace aistation::security
