// SPDX-License-Identifier: Apache-2.0
// include/aistation/aistation.h: context, version, features.
#include "api/context.h"

#include <memory>

#include "api/features.h"
#include "api/handle.h"
#include "api/options.h"
#include "security/digest.h"

namespace aistation::api {

Core::~Core() {
  executor.reset();  // no callback after this
  if (log_drop != nullptr) log_drop(log_user);
}

namespace {

absl::StatusOr<std::shared_ptr<Core>> MakeCore(const aist_context_opts& opts) {
  constexpr const char* kFunction = "aist_context_create";
  if (opts.log_level > AIST_LOG_ERROR) {
    return util::InvalidArgument(
        "base.log_level", util::StrCat(kFunction, ": log_level ", opts.log_level, " is not known"));
  }
  if (opts.max_threads > 4096 || opts.default_deadline_ns < 0) {
    return util::InvalidArgument("base.option",
                                 util::StrCat(kFunction,
                                              ": expected max_threads of at most 4096 and a "
                                              "default_deadline_ns that is not negative"));
  }
  if (opts.allocator != nullptr &&
      (opts.allocator->alloc == nullptr || opts.allocator->realloc == nullptr ||
       opts.allocator->free == nullptr)) {
    return util::InvalidArgument(
        "base.allocator", util::StrCat(kFunction, ": all functions of the allocator are needed"));
  }
  auto core = std::make_shared<Core>();
  AIST_ASSIGN_OR_RETURN(core->name, ToString(kFunction, "name", opts.name));
  if (core->name.empty()) core->name = "aistation";
  if (opts.allocator != nullptr) {
    core->allocator = std::make_shared<const aist_allocator>(*opts.allocator);
  }
  core->default_deadline_ns =
      opts.default_deadline_ns != 0 ? opts.default_deadline_ns : int64_t{3600} * 1'000'000'000;
  core->executor = std::make_unique<util::Executor>(opts.max_threads == 0 ? 64 : opts.max_threads);
  if (opts.log != nullptr) {
    core->log = util::Logger(
        [fn = opts.log, user = opts.log_user](util::LogLevel level, const char* module,
                                              const char* message) {
          fn(user, static_cast<uint32_t>(level), module, message);
        },
        static_cast<util::LogLevel>(opts.log_level == 0 ? uint32_t{AIST_LOG_INFO}
                                                        : opts.log_level));
  }
  // Last, so that a failed creation never drops what the caller still owns.
  core->log_user = opts.log_user;
  core->log_drop = opts.log_drop;
  return core;
}

absl::Status CheckVersion(const char* function, uint32_t version) {
  if (version != 0 && version >> 16 == AIST_API_VERSION >> 16 && version <= AIST_API_VERSION) {
    return absl::OkStatus();
  }
  return util::FailedPrecondition(
      "base.api_version",
      util::StrCat(function, ": the host was compiled for interface ", version >> 16, ".",
                   version & 0xffff, ", this library has ", AIST_API_VERSION >> 16, ".",
                   AIST_API_VERSION & 0xffff, "; install a library that is at least as new"));
}

}  // namespace
}  // namespace aistation::api

using aistation::api::Guard;

extern "C" {

aist_status aist_context_create(const aist_context_opts* opts, aist_context** out,
                                aist_error** err) {
  return Guard("aist_context_create", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_context_create", out);
    AIST_ASSIGN_OR_RETURN(const auto options,
                          aistation::api::ReadOptions("aist_context_create", opts));
    aistation::api::WatchForks();
    aistation::security::KeepOpenSslAtExit();
    AIST_ASSIGN_OR_RETURN(auto core, aistation::api::MakeCore(options));
    *out = new aist_context(std::move(core));
    return absl::OkStatus();
  });
}

void aist_context_free(aist_context* ctx) {
  if (ctx == nullptr) return;
  aistation::api::GuardFree("aist_context_free", [&] { delete ctx; });
}

uint32_t aist_version(void) { return AIST_VERSION_MAJOR << 16 | AIST_VERSION_MINOR; }
const char* aist_version_string(void) { return "0.1.0"; }

uint8_t aist_feature(const char* name, size_t name_len) {
  return aistation::api::GuardValue<uint8_t>("aist_feature", 0, [&]() -> uint8_t {
    const auto text = aistation::api::Text("aist_feature", "name", name, name_len);
    return text.ok() && aistation::api::HasFeature(*text) ? 1 : 0;
  });
}

aist_status aist_features(aist_context* ctx, aist_bytes** out, aist_error** err) {
  return Guard("aist_features", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_features", ctx);
    AIST_REQUIRE("aist_features", out);
    *out = aistation::api::MakeBytes(ctx->core, aistation::api::FeaturesJson());
    return absl::OkStatus();
  });
}

aist_status aist_check_version(uint32_t api_version, aist_error** err) {
  return Guard("aist_check_version", err, [&]() -> absl::Status {
    return aistation::api::CheckVersion("aist_check_version", api_version);
  });
}

uint64_t aist_debug_live_objects(void) { return aistation::api::LiveObjects().load(); }

}  // extern "C"
