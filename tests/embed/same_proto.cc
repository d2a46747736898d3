// SPDX-License-Identifier: Apache-2.0
// A host that compiled the same .proto files and has its own protobuf runtime. Built several times:
// full or lite runtime, shared or static, symbols exported or not.
#include <google/protobuf/stubs/common.h>

#include "aistation/v1/inventory.pb.h"
#include "aistation/v1/placement.pb.h"
#include "host.h"

namespace v1 = aistation::v1;

int main() {
  GOOGLE_PROTOBUF_VERIFY_VERSION;
  v1::Inventory inventory;
  v1::NodeInventory* node = inventory.add_nodes();
  node->set_name("here");
  node->set_address("127.0.0.1");
  node->set_health(v1::HEALTH_OK);
  for (int i = 0; i < 4; ++i) {
    v1::Card* card = node->add_cards();
    card->set_id("card" + std::to_string(i));
    card->set_health(v1::HEALTH_OK);
    card->set_index(static_cast<uint32_t>(i));
  }
  (*node->mutable_labels())["zone"] = "a";
  v1::PlacementRequest request;
  request.set_cards(4);
  const std::string inventory_bytes = inventory.SerializeAsString();
  const std::string request_bytes = request.SerializeAsString();

  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_allocator_state* alloc = nullptr;
  aist_bytes* out = nullptr;
  aist_error* error = nullptr;
  aist_store_opts opts = AIST_STORE_OPTS_INIT;
  host::Check(aist_context_create(nullptr, &context, &error) == AIST_OK, "context");
  host::Check(aist_store_open(context, &opts, &store, &error) == AIST_OK, "store");
  host::Check(aist_alloc_open(context, store, AIST_FORMAT_PROTOBUF, inventory_bytes.data(),
                              inventory_bytes.size(), &alloc, &error) == AIST_OK,
              "the library reads the host's message", aist_error_message(error));
  host::Check(aist_alloc_plan(alloc, AIST_FORMAT_PROTOBUF, request_bytes.data(),
                              request_bytes.size(), &out, &error) == AIST_OK,
              "and another", aist_error_message(error));
  v1::Placement placement;
  host::Check(
      placement.ParseFromArray(aist_bytes_data(out), static_cast<int>(aist_bytes_size(out))),
      "the host reads the library's message");
  host::Check(placement.nodes_size() == 1 && placement.nodes(0).cards_size() == 4,
              "with the same content", std::to_string(placement.nodes_size()) + " nodes");
  aist_bytes_free(out);
  aist_alloc_free(alloc);
  aist_store_free(store);
  aist_context_free(context);
  host::TourOptions tour;
  tour.with_node = false;
  const std::string problem = host::Tour(tour);
  host::Check(problem.empty(), "the tour beside this protobuf", problem);
  google::protobuf::ShutdownProtobufLibrary();
  return host::Finish();
}
