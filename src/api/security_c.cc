// SPDX-License-Identifier: Apache-2.0
// include/aistation/security.h
#include "aistation/security.h"

#include "api/objects.h"
#include "api/options.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
namespace security = aistation::security;

extern "C" {

aist_status aist_tls_load(aist_context* ctx, const aist_tls_opts* opts, aist_tls** out,
                          aist_error** err) {
  constexpr const char* kFunction = "aist_tls_load";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, opts);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto o, aistation::api::ReadOptions(kFunction, opts));
    security::TlsOptions options;
    AIST_ASSIGN_OR_RETURN(options.ca_file,
                          aistation::api::ToString(kFunction, "ca_file", o.ca_file));
    AIST_ASSIGN_OR_RETURN(options.cert_file,
                          aistation::api::ToString(kFunction, "cert_file", o.cert_file));
    AIST_ASSIGN_OR_RETURN(options.key_file,
                          aistation::api::ToString(kFunction, "key_file", o.key_file));
    AIST_ASSIGN_OR_RETURN(const std::string peers,
                          aistation::api::ToString(kFunction, "allowed_peers", o.allowed_peers));
    for (const std::string_view name : aistation::util::Split(peers, ',')) {
      const std::string_view trimmed = aistation::util::Trim(name);
      if (!trimmed.empty()) options.allowed_peers.emplace_back(trimmed);
    }
    AIST_ASSIGN_OR_RETURN(auto identity, security::TlsIdentity::Load(options, *ctx->core->clock));
    *out = new aist_tls(ctx->core, std::move(identity));
    return absl::OkStatus();
  });
}

aist_status aist_tls_reload(aist_tls* tls, aist_error** err) {
  return Guard("aist_tls_reload", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_tls_reload", tls);
    return tls->object->Reload();
  });
}

aist_status aist_tls_describe(aist_tls* tls, aist_bytes** out, aist_error** err) {
  return Guard("aist_tls_describe", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_tls_describe", tls);
    AIST_REQUIRE("aist_tls_describe", out);
    *out = aistation::api::MakeBytes(tls->core, tls->object->DescribeJson());
    return absl::OkStatus();
  });
}

void aist_tls_free(aist_tls* tls) {
  if (tls == nullptr) return;
  GuardFree("aist_tls_free", [&] { delete tls; });
}

}  // extern "C"
