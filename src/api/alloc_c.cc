// SPDX-License-Identifier: Apache-2.0
// include/aistation/alloc.h
#include "aistation/alloc.h"

#include "accel/discover.h"
#include "api/objects.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
using aistation::api::MakeDocument;
using aistation::api::ToFormat;
namespace alloc = aistation::alloc;
namespace v1 = aistation::v1;
namespace wire = aistation::wire;

namespace {

absl::StatusOr<v1::PlacementRequest> ParseRequest(const char* function, aist_format format,
                                                  const void* request, size_t size) {
  AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(function, format));
  AIST_ASSIGN_OR_RETURN(const auto bytes, aistation::api::Raw(function, "request", request, size));
  return wire::Parse<v1::PlacementRequest>(wire_format, bytes, "placement request");
}

}  // namespace

extern "C" {

aist_status aist_alloc_open(aist_context* ctx, aist_store* store, aist_format format,
                            const void* inventory, size_t inventory_size,
                            aist_allocator_state** out, aist_error** err) {
  constexpr const char* kFunction = "aist_alloc_open";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, store);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto bytes,
                          aistation::api::Raw(kFunction, "inventory", inventory, inventory_size));
    v1::Inventory document;
    if (!bytes.empty()) {
      AIST_ASSIGN_OR_RETURN(document, wire::Parse<v1::Inventory>(wire_format, bytes, "inventory"));
      AIST_ASSIGN_OR_RETURN(const auto catalogue, aistation::accel::Catalogue::Load(""));
      for (auto& node : *document.mutable_nodes()) {
        aistation::accel::NameCards(*catalogue, &node);
      }
    }
    AIST_ASSIGN_OR_RETURN(auto object,
                          alloc::Allocator::Open(store->object, bytes.empty() ? nullptr : &document,
                                                 *ctx->core->clock));
    *out = new aist_allocator_state(ctx->core, std::move(object));
    return absl::OkStatus();
  });
}

aist_status aist_alloc_plan(aist_allocator_state* handle, aist_format format, const void* request,
                            size_t request_size, aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_alloc_plan";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto document,
                          ParseRequest(kFunction, format, request, request_size));
    AIST_ASSIGN_OR_RETURN(const auto placement, handle->object->DryRun(document));
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    *out = MakeDocument(handle->core, wire_format, placement);
    return absl::OkStatus();
  });
}

aist_status aist_alloc_allocate(aist_allocator_state* handle, aist_format format,
                                const void* request, size_t request_size, aist_bytes** out,
                                aist_error** err) {
  constexpr const char* kFunction = "aist_alloc_allocate";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto document,
                          ParseRequest(kFunction, format, request, request_size));
    AIST_ASSIGN_OR_RETURN(const auto placement, handle->object->Allocate(document));
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    *out = MakeDocument(handle->core, wire_format, placement);
    return absl::OkStatus();
  });
}

aist_status aist_alloc_release(aist_allocator_state* handle, const char* grant_id,
                               size_t grant_id_len, aist_error** err) {
  constexpr const char* kFunction = "aist_alloc_release";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_TEXT(kFunction, id, grant_id, grant_id_len);
    return handle->object->Release(id);
  });
}

aist_status aist_alloc_cordon(aist_allocator_state* handle, const char* node, size_t node_len,
                              const char* card_id, size_t card_id_len, uint8_t on, const char* why,
                              size_t why_len, aist_error** err) {
  constexpr const char* kFunction = "aist_alloc_cordon";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_TEXT(kFunction, name, node, node_len);
    AIST_TEXT(kFunction, card, card_id, card_id_len);
    AIST_TEXT(kFunction, reason, why, why_len);
    return handle->object->Cordon(name, card, on != 0, reason);
  });
}

aist_status aist_alloc_describe(aist_allocator_state* handle, aist_format format, aist_bytes** out,
                                aist_error** err) {
  constexpr const char* kFunction = "aist_alloc_describe";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto state, handle->object->State());
    *out = MakeDocument(handle->core, wire_format, state);
    return absl::OkStatus();
  });
}

void aist_alloc_free(aist_allocator_state* handle) {
  if (handle == nullptr) return;
  GuardFree("aist_alloc_free", [&] { delete handle; });
}

}  // extern "C"
