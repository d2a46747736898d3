// SPDX-License-Identifier: Apache-2.0
// include/aistation/store.h
#include "aistation/store.h"

#include "api/objects.h"
#include "api/options.h"
#include "store/audit.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
using aistation::api::MakeDocument;
using aistation::api::ToFormat;
namespace store = aistation::store;
namespace v1 = aistation::v1;

struct aist_store_watch : aistation::api::Handle<store::Watch> {
  aist_store_watch(std::shared_ptr<aistation::api::Core> c, std::shared_ptr<store::Store> s,
                   std::shared_ptr<store::Watch> w)
      : Handle(std::move(c), std::move(w)), owner(std::move(s)) {}
  std::shared_ptr<store::Store> owner;
};

namespace {

v1::StoreEntry ToProto(const store::Entry& entry) {
  v1::StoreEntry out;
  out.set_key(entry.key);
  out.set_value(entry.value);
  out.set_create_revision(entry.create_revision);
  out.set_revision(entry.revision);
  out.set_version(entry.version);
  out.set_lease(entry.lease);
  return out;
}

absl::StatusOr<std::shared_ptr<store::Store>> Open(const char* function,
                                                   const aist_store_opts& opts,
                                                   aistation::util::Clock& clock) {
  AIST_ASSIGN_OR_RETURN(const std::string path,
                        aistation::api::ToString(function, "path", opts.path));
  uint32_t kind = opts.kind;
  if (kind == AIST_STORE_UNSPECIFIED) kind = path.empty() ? AIST_STORE_MEMORY : AIST_STORE_SQLITE;
  if (kind == AIST_STORE_MEMORY && path.empty()) return store::MakeMemoryStore(clock);
  if (kind == AIST_STORE_SQLITE && !path.empty()) return store::OpenSqliteStore(path, clock);
  return aistation::util::InvalidArgument(
      "store.kind", aistation::util::StrCat(function, ": kind ", kind,
                                            ": expected MEMORY without a path or SQLITE with one"));
}

}  // namespace

extern "C" {

aist_status aist_store_open(aist_context* ctx, const aist_store_opts* opts, aist_store** out,
                            aist_error** err) {
  constexpr const char* kFunction = "aist_store_open";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto o, aistation::api::ReadOptions(kFunction, opts));
    AIST_ASSIGN_OR_RETURN(auto object, Open(kFunction, o, *ctx->core->clock));
    *out = new aist_store(ctx->core, std::move(object));
    return absl::OkStatus();
  });
}

void aist_store_free(aist_store* handle) {
  if (handle == nullptr) return;
  GuardFree("aist_store_free", [&] { delete handle; });
}

aist_status aist_store_get(aist_store* handle, const char* key, size_t key_len, aist_bytes** value,
                           int64_t* revision, aist_error** err) {
  constexpr const char* kFunction = "aist_store_get";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_ASSIGN_OR_RETURN(const auto k, aistation::api::Raw(kFunction, "key", key, key_len));
    AIST_ASSIGN_OR_RETURN(auto entry, handle->object->Get(k));
    if (value != nullptr) *value = aistation::api::MakeBytes(handle->core, std::move(entry.value));
    if (revision != nullptr) *revision = entry.revision;
    return absl::OkStatus();
  });
}

aist_status aist_store_put(aist_store* handle, const char* key, size_t key_len, const void* value,
                           size_t value_size, int64_t lease, int64_t* revision, aist_error** err) {
  constexpr const char* kFunction = "aist_store_put";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_ASSIGN_OR_RETURN(const auto k, aistation::api::Raw(kFunction, "key", key, key_len));
    AIST_ASSIGN_OR_RETURN(const auto v, aistation::api::Raw(kFunction, "value", value, value_size));
    AIST_ASSIGN_OR_RETURN(const int64_t at, handle->object->Put(k, v, lease));
    if (revision != nullptr) *revision = at;
    return absl::OkStatus();
  });
}

aist_status aist_store_cas(aist_store* handle, const char* key, size_t key_len, int64_t expected,
                           const void* value, size_t value_size, int64_t* revision,
                           aist_error** err) {
  constexpr const char* kFunction = "aist_store_cas";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_ASSIGN_OR_RETURN(const auto k, aistation::api::Raw(kFunction, "key", key, key_len));
    AIST_ASSIGN_OR_RETURN(const auto v, aistation::api::Raw(kFunction, "value", value, value_size));
    AIST_ASSIGN_OR_RETURN(const int64_t at, handle->object->Cas(k, expected, v));
    if (revision != nullptr) *revision = at;
    return absl::OkStatus();
  });
}

aist_status aist_store_delete(aist_store* handle, const char* key, size_t key_len, int64_t expected,
                              aist_error** err) {
  constexpr const char* kFunction = "aist_store_delete";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_ASSIGN_OR_RETURN(const auto k, aistation::api::Raw(kFunction, "key", key, key_len));
    return handle->object->Delete(k, expected);
  });
}

aist_status aist_store_range(aist_store* handle, const char* prefix, size_t prefix_len,
                             uint32_t limit, aist_format format, aist_bytes** out,
                             aist_error** err) {
  constexpr const char* kFunction = "aist_store_range";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto p,
                          aistation::api::Raw(kFunction, "prefix", prefix, prefix_len));
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto range, handle->object->Range(p, limit == 0 ? 10'000 : limit));
    v1::StoreRange document;
    for (const auto& entry : range.entries) *document.add_entries() = ToProto(entry);
    document.set_revision(range.revision);
    document.set_more(range.more);
    *out = MakeDocument(handle->core, wire_format, document);
    return absl::OkStatus();
  });
}

aist_status aist_store_lease_grant(aist_store* handle, int64_t ttl_ns, int64_t* lease,
                                   aist_error** err) {
  constexpr const char* kFunction = "aist_store_lease_grant";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, lease);
    AIST_ASSIGN_OR_RETURN(*lease, handle->object->GrantLease(ttl_ns));
    return absl::OkStatus();
  });
}

aist_status aist_store_lease_keep_alive(aist_store* handle, int64_t lease, aist_error** err) {
  return Guard("aist_store_lease_keep_alive", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_store_lease_keep_alive", handle);
    return handle->object->KeepAlive(lease);
  });
}

aist_status aist_store_lease_revoke(aist_store* handle, int64_t lease, aist_error** err) {
  return Guard("aist_store_lease_revoke", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_store_lease_revoke", handle);
    return handle->object->RevokeLease(lease);
  });
}

aist_status aist_store_watch_create(aist_store* handle, const char* prefix, size_t prefix_len,
                                    int64_t after_revision, aist_store_watch** out,
                                    aist_error** err) {
  constexpr const char* kFunction = "aist_store_watch_create";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto p,
                          aistation::api::Raw(kFunction, "prefix", prefix, prefix_len));
    AIST_ASSIGN_OR_RETURN(auto watch, handle->object->WatchPrefix(p, after_revision));
    *out = new aist_store_watch(handle->core, handle->object,
                                std::shared_ptr<store::Watch>(std::move(watch)));
    return absl::OkStatus();
  });
}

aist_status aist_store_watch_next(aist_store_watch* watch, int64_t timeout_ns, aist_format format,
                                  aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_store_watch_next";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, watch);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto change, watch->object->Next(timeout_ns));
    v1::StoreEvent event;
    event.set_deleted(change.deleted);
    *event.mutable_entry() = ToProto(change.entry);
    event.set_revision(change.revision);
    *out = MakeDocument(watch->core, wire_format, event);
    return absl::OkStatus();
  });
}

void aist_store_watch_free(aist_store_watch* watch) {
  if (watch == nullptr) return;
  GuardFree("aist_store_watch_free", [&] {
    watch->object->Cancel();
    delete watch;
  });
}

aist_status aist_audit_append(aist_store* handle, const char* actor, size_t actor_len,
                              const char* action, size_t action_len, const char* object,
                              size_t object_len, const char* detail, size_t detail_len,
                              uint64_t* seq, aist_error** err) {
  constexpr const char* kFunction = "aist_audit_append";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_TEXT(kFunction, who, actor, actor_len);
    AIST_TEXT(kFunction, what, action, action_len);
    AIST_TEXT(kFunction, on, object, object_len);
    AIST_TEXT(kFunction, more, detail, detail_len);
    AIST_ASSIGN_OR_RETURN(const uint64_t number, store::AuditAppend(*handle->object, who, what, on,
                                                                    more, *handle->core->clock));
    if (seq != nullptr) *seq = number;
    return absl::OkStatus();
  });
}

aist_status aist_audit_read(aist_store* handle, uint64_t first, uint32_t limit, aist_format format,
                            aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_audit_read";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto log, store::AuditRead(*handle->object, first == 0 ? 1 : first,
                                                           limit == 0 ? 1000 : limit));
    *out = MakeDocument(handle->core, wire_format, log);
    return absl::OkStatus();
  });
}

aist_status aist_audit_verify(aist_store* handle, aist_format format, aist_bytes** out,
                              aist_error** err) {
  constexpr const char* kFunction = "aist_audit_verify";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto result, store::AuditVerify(*handle->object));
    *out = MakeDocument(handle->core, wire_format, result);
    return absl::OkStatus();
  });
}

}  // extern "C"
