// SPDX-License-Identifier: Apache-2.0
// The same in C++. usage: consumer INVENTORY.json
#include <aistation/aistation.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

namespace {
template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Deleter<Free>>;
}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string inventory{std::istreambuf_iterator<char>(file), {}};
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_allocator_state* alloc = nullptr;
  aist_bytes* out = nullptr;
  if (aist_context_create(nullptr, &context, nullptr) != AIST_OK) return 1;
  const Owned<aist_context, aist_context_free> own_context(context);
  if (aist_store_open(context, nullptr, &store, nullptr) != AIST_OK) return 1;
  const Owned<aist_store, aist_store_free> own_store(store);
  if (aist_alloc_open(context, store, AIST_FORMAT_JSON, inventory.data(), inventory.size(), &alloc,
                      nullptr) != AIST_OK) {
    return 1;
  }
  const Owned<aist_allocator_state, aist_alloc_free> own_alloc(alloc);
  const std::string request = R"({"cards": 4})";
  if (aist_alloc_plan(alloc, AIST_FORMAT_JSON, request.data(), request.size(), &out, nullptr) !=
      AIST_OK) {
    return 1;
  }
  const Owned<aist_bytes, aist_bytes_free> own_out(out);
  std::cout << aist_bytes_size(out) << " bytes of placement\n";
  return 0;
}
