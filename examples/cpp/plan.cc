// SPDX-License-Identifier: Apache-2.0
// The same as ../c/plan.c in C++, with the small wrapper of ../common/aist.hpp.
// usage: plan_cpp examples/data/cluster.json
#include <fstream>
#include <iostream>
#include <iterator>

#include "common/aist.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: plan_cpp INVENTORY.json\n";
    return 2;
  }
  try {
    std::ifstream file(argv[1], std::ios::binary);
    if (!file) throw std::runtime_error(std::string(argv[1]) + ": cannot be read");
    const std::string inventory(std::istreambuf_iterator<char>(file), {});
    const auto context = aist::Make<aist::Context>(aist_context_create, nullptr);
    const std::string machine =
        aist::Document(aist_accel_discover, context.get(), nullptr, AIST_FORMAT_JSON);
    std::cout << "this machine: " << machine.size() << " bytes of inventory\n";
    aist_store_opts in_memory = AIST_STORE_OPTS_INIT;
    const auto store = aist::Make<aist::Store>(aist_store_open, context.get(), &in_memory);
    const auto alloc =
        aist::Make<aist::Allocator>(aist_alloc_open, context.get(), store.get(), AIST_FORMAT_JSON,
                                    inventory.data(), inventory.size());
    const std::string request = R"({"cards": 16, "need_nics": true, "department": "risk"})";
    std::cout << aist::Document(aist_alloc_plan, alloc.get(), AIST_FORMAT_JSON, request.data(),
                                request.size())
              << "\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
