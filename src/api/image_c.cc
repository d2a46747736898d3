// SPDX-License-Identifier: Apache-2.0
// include/aistation/image.h
#include "aistation/image.h"

#include "aistation/v1/job.pb.h"
#include "api/objects.h"
#include "image/distribute.h"
#include "net/http_client.h"

using aistation::api::Guard;
namespace image = aistation::image;
namespace v1 = aistation::v1;
namespace wire = aistation::wire;

extern "C" {

aist_status aist_image_pull(aist_node* node, aist_format format, const void* request,
                            size_t request_size, aist_op** op, aist_error** err) {
  constexpr const char* kFunction = "aist_image_pull";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_REQUIRE(kFunction, op);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto bytes,
                          aistation::api::Raw(kFunction, "request", request, request_size));
    AIST_ASSIGN_OR_RETURN(auto document,
                          wire::Parse<v1::ImagePullRequest>(wire_format, bytes, "image request"));
    return aistation::api::StartOp(
        node->core, 0,
        [object = node->object, document = std::move(document)](
            aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          AIST_ASSIGN_OR_RETURN(auto result, object->Pull(document, control));
          return wire::Result(std::move(result));
        },
        op);
  });
}

aist_status aist_image_distribute(aist_context* ctx, aist_tls* tls, aist_format format,
                                  const void* request, size_t request_size, aist_op** op,
                                  aist_error** err) {
  constexpr const char* kFunction = "aist_image_distribute";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, tls);
    AIST_REQUIRE(kFunction, op);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto bytes,
                          aistation::api::Raw(kFunction, "request", request, request_size));
    AIST_ASSIGN_OR_RETURN(auto document,
                          wire::Parse<v1::ImagePullRequest>(wire_format, bytes, "image request"));
    return aistation::api::StartOp(
        ctx->core, 0,
        [identity = tls->object, document = std::move(document)](
            aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          aistation::net::HttpClient client;
          AIST_ASSIGN_OR_RETURN(const auto results,
                                image::Distribute(client, identity, document, control));
          v1::Attempt out;
          for (const auto& result : results) *out.add_images() = result;
          return wire::Result(std::move(out));
        },
        op);
  });
}

aist_status aist_image_list(aist_node* node, aist_format format, aist_bytes** out,
                            aist_error** err) {
  constexpr const char* kFunction = "aist_image_list";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto list, node->object->images().List());
    *out = aistation::api::MakeDocument(node->core, wire_format, list);
    return absl::OkStatus();
  });
}

aist_status aist_image_pin(aist_node* node, const char* reference, size_t reference_len, uint8_t on,
                           aist_error** err) {
  constexpr const char* kFunction = "aist_image_pin";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_TEXT(kFunction, name, reference, reference_len);
    return node->object->images().Pin(name, on != 0);
  });
}

aist_status aist_image_export(aist_node* node, const char* reference, size_t reference_len,
                              const char* directory, size_t directory_len, aist_error** err) {
  constexpr const char* kFunction = "aist_image_export";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_TEXT(kFunction, name, reference, reference_len);
    AIST_TEXT(kFunction, where, directory, directory_len);
    return node->object->images().Export(name, std::string(where));
  });
}

}  // extern "C"
