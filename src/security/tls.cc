// SPDX-License-Identifier: Apache-2.0
#include "security/tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "security/certificate.h"
#include "util/file.h"
#include "util/json_writer.h"
#include "util/mutex.h"
#include "util/strings.h"

namespace aistation::security {
namespace {

constexpr uint64_t kMaxPemFile = 1u << 20;

// What one reading of the files gave. Immutable.
struct Loaded {
  std::shared_ptr<SSL_CTX> server;
  std::shared_ptr<SSL_CTX> client;
  std::vector<std::string> names;
  CertificateFacts facts;
};

absl::Status Bad(std::string_view file, std::string_view what) {
  std::string detail;
  if (const unsigned long code = ERR_get_error(); code != 0) {
    if (const char* reason = ERR_reason_error_string(code))
      detail = util::StrCat(" (", reason, ")");
  }
  ERR_clear_error();
  return util::InvalidArgument("security.file", util::StrCat(file, ": ", what, detail));
}

absl::Status CheckKeyMode(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return util::ErrnoError(errno, "security.key", util::StrCat("key file ", path));
  }
  if ((info.st_mode & 077) != 0) {
    return util::Error(
        absl::StatusCode::kPermissionDenied, "security.key_mode",
        util::StrCat("key file ", path, ": others than its owner may use it; run chmod 600 on it"));
  }
  return absl::OkStatus();
}

std::shared_ptr<SSL_CTX> NewContext(bool server) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()),
                                   SSL_CTX_free);
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_verify(context.get(),
                     server ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_PEER,
                     nullptr);
  static constexpr unsigned char kSession[] = "aistation";
  SSL_CTX_set_session_id_context(context.get(), kSession, sizeof(kSession) - 1);
  return context;
}

absl::Status FillContext(SSL_CTX* context, const TlsOptions& options) {
  if (SSL_CTX_load_verify_locations(context, options.ca_file.c_str(), nullptr) != 1) {
    return Bad(options.ca_file, "expected PEM certificates of the trusted CAs");
  }
  if (options.cert_file.empty()) return absl::OkStatus();
  if (SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1) {
    return Bad(options.cert_file, "expected a PEM certificate, then its chain");
  }
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Bad(options.key_file,
               "expected a PEM private key without a passphrase that fits the "
               "certificate");
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return Bad(options.key_file, util::StrCat("this key is not the one of ", options.cert_file));
  }
  return absl::OkStatus();
}

absl::Status CheckChain(SSL_CTX* context, const TlsOptions& options, util::Clock& clock) {
  X509* leaf = SSL_CTX_get0_certificate(context);
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(context, &chain);
  std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                        X509_STORE_CTX_free);
  if (leaf == nullptr || check == nullptr ||
      X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context), leaf, chain) != 1) {
    return Bad(options.cert_file, "cannot be checked");
  }
  X509_STORE_CTX_set_time(check.get(), 0, static_cast<time_t>(clock.UnixNanos() / 1'000'000'000));
  if (X509_verify_cert(check.get()) == 1) return absl::OkStatus();
  const int error = X509_STORE_CTX_get_error(check.get());
  ERR_clear_error();
  const std::string text = X509_verify_cert_error_string(error);
  if (error == X509_V_ERR_CERT_HAS_EXPIRED || error == X509_V_ERR_CERT_NOT_YET_VALID) {
    return util::FailedPrecondition(
        "security.expired",
        util::StrCat(options.cert_file, ": ", text, "; renew the certificate or set the clock"));
  }
  return util::InvalidArgument(
      "security.chain", util::StrCat(options.cert_file, ": not trusted by ", options.ca_file, ": ",
                                     text, "; expected a certificate signed by one of its CAs"));
}

absl::StatusOr<std::shared_ptr<const Loaded>> LoadFiles(const TlsOptions& options,
                                                        util::Clock& clock) {
  if (options.ca_file.empty()) {
    return util::InvalidArgument("security.ca",
                                 "ca_file must be given: the PEM file of the "
                                 "trusted CAs");
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return util::InvalidArgument("security.pair",
                                 "cert_file and key_file belong together; give both or none");
  }
  AIST_RETURN_IF_ERROR(util::ReadFile(options.ca_file, kMaxPemFile).status());
  auto loaded = std::make_shared<Loaded>();
  if (!options.cert_file.empty()) {
    AIST_RETURN_IF_ERROR(CheckKeyMode(options.key_file));
    AIST_ASSIGN_OR_RETURN(const std::string pem, util::ReadFile(options.cert_file, kMaxPemFile));
    auto facts = ReadCertificate(pem);
    if (!facts.ok()) return util::Annotate(facts.status(), options.cert_file);
    loaded->facts = *std::move(facts);
    loaded->names = loaded->facts.names;
  }
  for (const bool server : {false, true}) {
    auto context = NewContext(server);
    if (context == nullptr) return Bad("TLS", "no memory for a context");
    AIST_RETURN_IF_ERROR(FillContext(context.get(), options));
    (server ? loaded->server : loaded->client) = std::move(context);
  }
  if (!options.cert_file.empty()) {
    AIST_RETURN_IF_ERROR(CheckChain(loaded->client.get(), options, clock));
  }
  return std::shared_ptr<const Loaded>(std::move(loaded));
}

bool NameMatches(std::string_view pattern, std::string_view name) {
  if (pattern.substr(0, 2) != "*.") return util::EqualsIgnoreCase(pattern, name);
  const size_t dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 &&
         util::EqualsIgnoreCase(pattern.substr(1), name.substr(dot));
}

}  // namespace

struct TlsIdentity::State {
  State(TlsOptions o, util::Clock& c) : options(std::move(o)), clock(c) {}
  const TlsOptions options;
  util::Clock& clock;
  mutable util::Mutex mutex;
  std::shared_ptr<const Loaded> loaded AIST_GUARDED_BY(mutex);
  uint64_t generation AIST_GUARDED_BY(mutex) = 1;

  std::shared_ptr<const Loaded> Get() const {
    const util::MutexLock lock(mutex);
    return loaded;
  }
};

TlsIdentity::TlsIdentity(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsIdentity::~TlsIdentity() = default;

absl::StatusOr<std::shared_ptr<TlsIdentity>> TlsIdentity::Load(const TlsOptions& options,
                                                               util::Clock& clock) {
  AIST_ASSIGN_OR_RETURN(auto loaded, LoadFiles(options, clock));
  auto state = std::make_unique<State>(options, clock);
  {
    const util::MutexLock lock(state->mutex);
    state->loaded = std::move(loaded);
  }
  return std::shared_ptr<TlsIdentity>(new TlsIdentity(std::move(state)));
}

absl::Status TlsIdentity::Reload() {
  auto loaded = LoadFiles(state_->options, state_->clock);
  if (!loaded.ok()) return util::Annotate(loaded.status(), "the identity in use stays");
  const util::MutexLock lock(state_->mutex);
  state_->loaded = *std::move(loaded);
  ++state_->generation;
  return absl::OkStatus();
}

uint64_t TlsIdentity::generation() const {
  const util::MutexLock lock(state_->mutex);
  return state_->generation;
}

std::shared_ptr<SSL_CTX> TlsIdentity::server_context() const { return state_->Get()->server; }
std::shared_ptr<SSL_CTX> TlsIdentity::client_context() const { return state_->Get()->client; }
const TlsOptions& TlsIdentity::options() const { return state_->options; }
std::vector<std::string> TlsIdentity::names() const { return state_->Get()->names; }

bool TlsIdentity::PeerAllowed(const std::vector<std::string>& names) const {
  const auto& allowed = state_->options.allowed_peers;
  if (allowed.empty()) return true;
  for (const auto& pattern : allowed) {
    for (const auto& name : names) {
      if (NameMatches(pattern, name)) return true;
    }
  }
  return false;
}

std::string TlsIdentity::DescribeJson() const {
  const auto loaded = state_->Get();
  const CertificateFacts& facts = loaded->facts;
  util::JsonWriter w;
  w.BeginObject();
  w.Field("subject", facts.subject);
  w.Key("names");
  w.BeginArray();
  for (const auto& name : loaded->names) w.String(name);
  w.EndArray();
  w.Field("issuer", facts.issuer);
  w.Field("serial", facts.serial);
  w.Field("not_before_unix_ns", facts.not_before_unix_ns);
  w.Field("not_after_unix_ns", facts.not_after_unix_ns);
  w.Field("days_left", (facts.not_after_unix_ns - state_->clock.UnixNanos()) /
                           (int64_t{86'400} * 1'000'000'000));
  w.Field("generation", generation());
  w.EndObject();
  return w.Take();
}

}  // namespace aistation::security
