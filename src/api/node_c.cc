// SPDX-License-Identifier: Apache-2.0
// include/aistation/node.h
#include "aistation/node.h"

#include "accel/discover.h"
#include "api/objects.h"
#include "api/options.h"
#include "image/registry_config.h"
#include "net/http_client.h"

using aistation::api::Guard;
using aistation::api::GuardFree;
using aistation::api::ToString;
namespace job = aistation::job;
namespace v1 = aistation::v1;
namespace wire = aistation::wire;

namespace {

constexpr uint64_t kBytesPerMbit = 125'000;

absl::StatusOr<v1::NodeInventory> ReadInventory(const std::string& text) {
  AIST_ASSIGN_OR_RETURN(const auto catalogue, aistation::accel::Catalogue::Load(""));
  if (text.empty()) return aistation::accel::Discover("", *catalogue);
  AIST_ASSIGN_OR_RETURN(auto node, wire::FromJson<v1::NodeInventory>(text, "inventory"));
  aistation::accel::NameCards(*catalogue, &node);
  return node;
}

absl::StatusOr<job::NodeOptions> ToOptions(const char* function, const aist_node_opts& o) {
  job::NodeOptions out;
  AIST_ASSIGN_OR_RETURN(out.name, ToString(function, "name", o.name));
  AIST_ASSIGN_OR_RETURN(out.directory, ToString(function, "data_directory", o.data_directory));
  AIST_ASSIGN_OR_RETURN(out.listen_address, ToString(function, "listen_address", o.listen_address));
  AIST_ASSIGN_OR_RETURN(out.mirror_address, ToString(function, "mirror_address", o.mirror_address));
  AIST_ASSIGN_OR_RETURN(out.kernel_log, ToString(function, "kernel_log", o.kernel_log));
  AIST_ASSIGN_OR_RETURN(const std::string registries,
                        ToString(function, "registry_config", o.registry_config));
  AIST_ASSIGN_OR_RETURN(out.registries,
                        aistation::image::ParseRegistryConfig(registries, "registry_config"));
  AIST_ASSIGN_OR_RETURN(const std::string inventory, ToString(function, "inventory", o.inventory));
  AIST_ASSIGN_OR_RETURN(out.inventory, ReadInventory(inventory));
  if (o.tls == nullptr) return aistation::api::NullArgument(function, "tls");
  if (o.source_rate_mbps > UINT64_MAX / kBytesPerMbit ||
      o.peer_rate_mbps > UINT64_MAX / kBytesPerMbit) {
    return aistation::util::InvalidArgument(
        "node.rate", aistation::util::StrCat(function, ": rates are in Mbit/s; got ",
                                             std::max(o.source_rate_mbps, o.peer_rate_mbps)));
  }
  out.identity = o.tls->object;
  out.port = o.port;
  out.mirror_port = o.mirror_port;
  out.mirror_any = (o.flags & AIST_NODE_MIRROR_ANY) != 0;
  out.allow_launch = (o.flags & AIST_NODE_ALLOW_LAUNCH) != 0;
  out.store_limit_bytes = o.store_limit_bytes;
  out.source_rate_bytes = o.source_rate_mbps * kBytesPerMbit;
  out.peer_rate_bytes = o.peer_rate_mbps * kBytesPerMbit;
  if (o.chunk_bytes != 0) out.chunk_bytes = o.chunk_bytes;
  return out;
}

}  // namespace

extern "C" {

aist_status aist_node_start(aist_context* ctx, const aist_node_opts* opts, aist_node** out,
                            aist_error** err) {
  constexpr const char* kFunction = "aist_node_start";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, opts);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(
        const auto o, aistation::api::ReadOptions(kFunction, opts, sizeof(aist_node_opts),
                                                  AIST_NODE_ALLOW_LAUNCH | AIST_NODE_MIRROR_ANY));
    AIST_ASSIGN_OR_RETURN(auto options, ToOptions(kFunction, o));
    options.metrics = &ctx->core->metrics;
    options.log = ctx->core->log;
    AIST_ASSIGN_OR_RETURN(auto node, job::Node::Start(std::move(options)));
    *out = new aist_node(ctx->core, std::shared_ptr<job::Node>(std::move(node)));
    return absl::OkStatus();
  });
}

uint16_t aist_node_port(const aist_node* node) {
  return aistation::api::GuardValue<uint16_t>("aist_node_port", 0, [&]() -> uint16_t {
    return node == nullptr ? uint16_t{0} : node->object->port();
  });
}

uint16_t aist_node_mirror_port(const aist_node* node) {
  return aistation::api::GuardValue<uint16_t>("aist_node_mirror_port", 0, [&]() -> uint16_t {
    return node == nullptr ? uint16_t{0} : node->object->mirror_port();
  });
}

aist_status aist_node_describe(aist_node* node, aist_format format, aist_bytes** out,
                               aist_error** err) {
  constexpr const char* kFunction = "aist_node_describe";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    *out = aistation::api::MakeDocument(node->core, wire_format, node->object->Describe());
    return absl::OkStatus();
  });
}

aist_status aist_node_query(aist_context* ctx, aist_tls* tls, const char* address,
                            size_t address_len, uint16_t port, aist_op** op, aist_error** err) {
  constexpr const char* kFunction = "aist_node_query";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, tls);
    AIST_REQUIRE(kFunction, op);
    AIST_TEXT(kFunction, host, address, address_len);
    if (host.empty() || port == 0) {
      return aistation::util::InvalidArgument(
          "node.address", aistation::util::StrCat(kFunction, ": expected an address and a port"));
    }
    return aistation::api::StartOp(
        ctx->core, 0,
        [identity = tls->object, target = std::string(host),
         port](aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          aistation::net::HttpClient client;
          AIST_ASSIGN_OR_RETURN(auto status,
                                job::QueryNode(client, identity, target, port, control));
          return wire::Result(std::move(status));
        },
        op);
  });
}

void aist_node_free(aist_node* node) {
  if (node == nullptr) return;
  GuardFree("aist_node_free", [&] {
    node->object->Stop();
    delete node;
  });
}

}  // extern "C"
