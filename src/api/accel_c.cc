// SPDX-License-Identifier: Apache-2.0
// include/aistation/accel.h
#include "aistation/accel.h"

#include "accel/discover.h"
#include "api/objects.h"
#include "api/options.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
namespace accel = aistation::accel;

extern "C" {

aist_status aist_catalogue_load(aist_context* ctx, const char* path, size_t path_len,
                                aist_catalogue** out, aist_error** err) {
  constexpr const char* kFunction = "aist_catalogue_load";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, out);
    AIST_TEXT(kFunction, where, path, path_len);
    AIST_ASSIGN_OR_RETURN(auto catalogue, accel::Catalogue::Load(std::string(where)));
    *out = new aist_catalogue(ctx->core, std::move(catalogue));
    return absl::OkStatus();
  });
}

size_t aist_catalogue_count(const aist_catalogue* catalogue) {
  return aistation::api::GuardValue<size_t>("aist_catalogue_count", 0, [&]() -> size_t {
    return catalogue == nullptr ? 0 : catalogue->object->models().size();
  });
}

aist_status aist_catalogue_describe(const aist_catalogue* catalogue, aist_bytes** out,
                                    aist_error** err) {
  return Guard("aist_catalogue_describe", err, [&]() -> absl::Status {
    AIST_REQUIRE("aist_catalogue_describe", catalogue);
    AIST_REQUIRE("aist_catalogue_describe", out);
    *out = aistation::api::MakeBytes(catalogue->core, catalogue->object->ToJson());
    return absl::OkStatus();
  });
}

void aist_catalogue_free(aist_catalogue* catalogue) {
  if (catalogue == nullptr) return;
  GuardFree("aist_catalogue_free", [&] { delete catalogue; });
}

aist_status aist_accel_discover(aist_context* ctx, const aist_discover_opts* opts,
                                aist_format format, aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_accel_discover";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto o, aistation::api::ReadOptions(kFunction, opts));
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const std::string root,
                          aistation::api::ToString(kFunction, "root", o.root));
    std::shared_ptr<const accel::Catalogue> catalogue;
    if (o.catalogue != nullptr) {
      catalogue = o.catalogue->object;
    } else {
      AIST_ASSIGN_OR_RETURN(catalogue, accel::Catalogue::Load(""));
    }
    AIST_ASSIGN_OR_RETURN(const auto node, accel::Discover(root, *catalogue));
    *out = aistation::api::MakeDocument(ctx->core, wire_format, node);
    return absl::OkStatus();
  });
}

}  // extern "C"
