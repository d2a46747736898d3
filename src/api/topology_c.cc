// SPDX-License-Identifier: Apache-2.0
// include/aistation/topology.h
#include "aistation/topology.h"

#include "accel/discover.h"
#include "api/objects.h"
#include "api/options.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
namespace topology = aistation::topology;

extern "C" {

aist_status aist_topology_load(aist_context* ctx, const aist_topology_opts* opts,
                               aist_topology** out, aist_error** err) {
  constexpr const char* kFunction = "aist_topology_load";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto o, aistation::api::ReadOptions(kFunction, opts));
    if (o.source > AIST_TOPOLOGY_JSON) {
      return aistation::util::InvalidArgument(
          "topology.source",
          aistation::util::StrCat(kFunction, ": source ", o.source, " is not known"));
    }
    AIST_ASSIGN_OR_RETURN(const std::string path,
                          aistation::api::ToString(kFunction, "path", o.path));
    AIST_ASSIGN_OR_RETURN(const auto read,
                          topology::Load(static_cast<topology::SourceKind>(o.source), path));
    // The topology knows PCI ids; the catalogue knows what they are called.
    AIST_ASSIGN_OR_RETURN(const auto catalogue, aistation::accel::Catalogue::Load(""));
    aistation::v1::NodeInventory node = read->node();
    aistation::accel::NameCards(*catalogue, &node);
    *out =
        new aist_topology(ctx->core, std::make_shared<const topology::Topology>(std::move(node)));
    return absl::OkStatus();
  });
}

aist_status aist_topology_distance(const aist_topology* handle, const char* a, size_t a_len,
                                   const char* b, size_t b_len, aist_topology_distance_info* info,
                                   aist_error** err) {
  constexpr const char* kFunction = "aist_topology_distance";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, info);
    AIST_TEXT(kFunction, first, a, a_len);
    AIST_TEXT(kFunction, second, b, b_len);
    AIST_ASSIGN_OR_RETURN(const auto distance, handle->object->Distance(first, second));
    aist_topology_distance_info value = AIST_TOPOLOGY_DISTANCE_INFO_INIT;
    value.link = static_cast<uint32_t>(distance.link);
    value.bandwidth_mbps = distance.bandwidth_mbps;
    return aistation::api::WriteStruct(kFunction, value, info);
  });
}

aist_status aist_topology_describe(const aist_topology* handle, aist_format format,
                                   aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_topology_describe";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, handle);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    *out = aistation::api::MakeDocument(handle->core, wire_format, handle->object->node());
    return absl::OkStatus();
  });
}

void aist_topology_free(aist_topology* handle) {
  if (handle == nullptr) return;
  GuardFree("aist_topology_free", [&] { delete handle; });
}

}  // extern "C"
