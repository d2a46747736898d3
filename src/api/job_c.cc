// SPDX-License-Identifier: Apache-2.0
// include/aistation/job.h
#include "aistation/job.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include "api/objects.h"
#include "api/options.h"
#include "job/classifier.h"
#include "job/manager.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
using aistation::api::ToFormat;
using aistation::api::ToString;
namespace job = aistation::job;
namespace v1 = aistation::v1;
namespace wire = aistation::wire;

struct aist_job_manager : aistation::api::Handle<job::Manager> {
  using Handle::Handle;
};

namespace {

uint64_t Random() {
  uint64_t value = 0;
  while (getrandom(&value, sizeof(value), 0) < 0 && errno == EINTR) {
  }
  return value;
}

std::string Owner(const std::string& name) {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return aistation::util::StrCat(name, " on ", host, ", process ", getpid());
}

absl::StatusOr<std::shared_ptr<job::Manager>> MakeManager(const char* function, aist_context* ctx,
                                                          const aist_job_manager_opts& o) {
  if (o.store == nullptr) return aistation::api::NullArgument(function, "store");
  if (o.alloc == nullptr) return aistation::api::NullArgument(function, "alloc");
  job::DriverParts parts;
  parts.store = o.store->object;
  parts.allocator = o.alloc->object;
  AIST_ASSIGN_OR_RETURN(const std::string rules, ToString(function, "rules", o.rules));
  AIST_ASSIGN_OR_RETURN(parts.rules, job::RuleSet::Load(rules));
  AIST_ASSIGN_OR_RETURN(parts.catalogue, aistation::accel::Catalogue::Load(""));
  parts.log = ctx->core->log;
  if (o.tls != nullptr) {
    parts.cluster = job::MakeRemoteCluster(o.tls->object);
  } else {
    AIST_ASSIGN_OR_RETURN(auto local, job::MakeLocalCluster(parts.log));
    parts.cluster = std::move(local);
  }
  parts.metrics = &ctx->core->metrics;
  parts.clock = ctx->core->clock;
  parts.owner = Owner(ctx->core->name);
  return std::make_shared<job::Manager>(std::move(parts), Random);
}

}  // namespace

extern "C" {

aist_status aist_job_manager_create(aist_context* ctx, const aist_job_manager_opts* opts,
                                    aist_job_manager** out, aist_error** err) {
  constexpr const char* kFunction = "aist_job_manager_create";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, opts);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto o, aistation::api::ReadOptions(kFunction, opts));
    AIST_ASSIGN_OR_RETURN(auto manager, MakeManager(kFunction, ctx, o));
    *out = new aist_job_manager(ctx->core, std::move(manager));
    return absl::OkStatus();
  });
}

aist_status aist_job_submit(aist_job_manager* manager, aist_format format, const void* spec,
                            size_t spec_size, aist_bytes** id, aist_error** err) {
  constexpr const char* kFunction = "aist_job_submit";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, manager);
    AIST_REQUIRE(kFunction, id);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto bytes,
                          aistation::api::Raw(kFunction, "spec", spec, spec_size));
    AIST_ASSIGN_OR_RETURN(const auto document,
                          wire::Parse<v1::JobSpec>(wire_format, bytes, "job specification"));
    AIST_ASSIGN_OR_RETURN(std::string name, manager->object->Submit(document));
    *id = aistation::api::MakeBytes(manager->core, std::move(name));
    return absl::OkStatus();
  });
}

aist_status aist_job_run(aist_job_manager* manager, const char* id, size_t id_len, aist_op** op,
                         aist_error** err) {
  constexpr const char* kFunction = "aist_job_run";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, manager);
    AIST_REQUIRE(kFunction, op);
    AIST_TEXT(kFunction, name, id, id_len);
    AIST_RETURN_IF_ERROR(manager->object->Get(name).status());
    // A job may run for weeks: no deadline but what the caller cancels.
    return aistation::api::StartOp(
        manager->core, INT64_MAX,
        [object = manager->object, which = std::string(name)](
            aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          AIST_ASSIGN_OR_RETURN(auto ended, object->Run(which, control));
          return wire::Result(std::move(ended));
        },
        op);
  });
}

aist_status aist_job_cancel(aist_job_manager* manager, const char* id, size_t id_len,
                            aist_error** err) {
  constexpr const char* kFunction = "aist_job_cancel";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, manager);
    AIST_TEXT(kFunction, name, id, id_len);
    return manager->object->Cancel(name);
  });
}

aist_status aist_job_get(aist_job_manager* manager, const char* id, size_t id_len,
                         aist_format format, aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_job_get";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, manager);
    AIST_REQUIRE(kFunction, out);
    AIST_TEXT(kFunction, name, id, id_len);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto document, manager->object->Get(name));
    *out = aistation::api::MakeDocument(manager->core, wire_format, document);
    return absl::OkStatus();
  });
}

aist_status aist_job_list(aist_job_manager* manager, uint32_t limit, aist_format format,
                          aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_job_list";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, manager);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto list, manager->object->List(limit));
    *out = aistation::api::MakeDocument(manager->core, wire_format, list);
    return absl::OkStatus();
  });
}

aist_status aist_job_events(aist_job_manager* manager, const char* id, size_t id_len,
                            uint64_t after_seq, int64_t timeout_ns, aist_format format,
                            aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_job_events";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, manager);
    AIST_REQUIRE(kFunction, out);
    AIST_TEXT(kFunction, name, id, id_len);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto list, manager->object->Events(name, after_seq, timeout_ns));
    *out = aistation::api::MakeDocument(manager->core, wire_format, list);
    return absl::OkStatus();
  });
}

void aist_job_manager_free(aist_job_manager* manager) {
  if (manager == nullptr) return;
  GuardFree("aist_job_manager_free", [&] { delete manager; });
}

aist_status aist_job_classify(aist_context* ctx, const char* rules, size_t rules_len,
                              aist_format format, const void* request, size_t request_size,
                              aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_job_classify";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, out);
    AIST_TEXT(kFunction, file, rules, rules_len);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto bytes,
                          aistation::api::Raw(kFunction, "request", request, request_size));
    AIST_ASSIGN_OR_RETURN(const auto set, job::RuleSet::Load(std::string(file)));
    AIST_ASSIGN_OR_RETURN(const auto document,
                          wire::Parse<v1::ClassifyRequest>(wire_format, bytes, "classify request"));
    *out = aistation::api::MakeDocument(ctx->core, wire_format, job::Classify(*set, document));
    return absl::OkStatus();
  });
}

}  // extern "C"
