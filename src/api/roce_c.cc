// SPDX-License-Identifier: Apache-2.0
// include/aistation/roce.h
#include "aistation/roce.h"

#include "api/objects.h"
#include "net/http_client.h"
#include "roce/environment.h"
#include "roce/nics.h"
#include "roce/probe.h"

using aistation::api::Guard;
namespace roce = aistation::roce;
namespace v1 = aistation::v1;
namespace wire = aistation::wire;

extern "C" {

aist_status aist_roce_list(aist_context* ctx, const char* root, size_t root_len, aist_format format,
                           aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_roce_list";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, out);
    AIST_TEXT(kFunction, where, root, root_len);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto list, roce::ListNics(std::string(where)));
    *out = aistation::api::MakeDocument(ctx->core, wire_format, list);
    return absl::OkStatus();
  });
}

aist_status aist_roce_choose(const aist_topology* topology, aist_format format, aist_bytes** out,
                             aist_error** err) {
  constexpr const char* kFunction = "aist_roce_choose";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, topology);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    *out = aistation::api::MakeDocument(topology->core, wire_format,
                                        roce::ChooseNics(topology->object->node()));
    return absl::OkStatus();
  });
}

aist_status aist_roce_environment(aist_context* ctx, aist_format format, const void* placement,
                                  size_t placement_size, aist_bytes** out, aist_error** err) {
  constexpr const char* kFunction = "aist_roce_environment";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto bytes,
                          aistation::api::Raw(kFunction, "placement", placement, placement_size));
    AIST_ASSIGN_OR_RETURN(const auto document,
                          wire::Parse<v1::Placement>(wire_format, bytes, "placement"));
    AIST_ASSIGN_OR_RETURN(const auto environment, roce::MakeEnvironment(document));
    *out = aistation::api::MakeDocument(ctx->core, wire_format, environment);
    return absl::OkStatus();
  });
}

aist_status aist_roce_probe(aist_context* ctx, aist_tls* tls, aist_format format,
                            const void* request, size_t request_size, aist_op** op,
                            aist_error** err) {
  constexpr const char* kFunction = "aist_roce_probe";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, tls);
    AIST_REQUIRE(kFunction, op);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto bytes,
                          aistation::api::Raw(kFunction, "request", request, request_size));
    AIST_ASSIGN_OR_RETURN(auto document,
                          wire::Parse<v1::ProbeRequest>(wire_format, bytes, "probe request"));
    return aistation::api::StartOp(
        ctx->core, 0,
        [identity = tls->object, document = std::move(document)](
            aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          aistation::net::HttpClient client;
          AIST_ASSIGN_OR_RETURN(auto matrix, roce::Probe(client, identity, document, control));
          return wire::Result(std::move(matrix));
        },
        op);
  });
}

}  // extern "C"
