// SPDX-License-Identifier: Apache-2.0
// The C interface itself: errors, structs of other versions, text arguments, operations.
#include <aistation/aistation.h>
#include <poll.h>

#include <cstring>
#include <string>
#include <vector>

#include "api/guard.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"

namespace {

using ::testing::HasSubstr;

struct Error {
  aist_error* p = nullptr;
  ~Error() { aist_error_free(p); }
  aist_error** out() {
    aist_error_free(p);
    p = nullptr;
    return &p;
  }
  std::string reason() const { return aist_error_reason(p); }
  std::string message() const { return aist_error_message(p); }
};

class Abi : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aist_context_create(nullptr, &context_, nullptr), AIST_OK); }
  void TearDown() override { aist_context_free(context_); }
  aist_context* context_ = nullptr;
  Error error_;
};

TEST_F(Abi, ErrorsCarryEverything) {
  aist_store* store = nullptr;
  ASSERT_EQ(aist_store_open(context_, nullptr, &store, error_.out()), AIST_OK);
  EXPECT_EQ(error_.p, nullptr) << "left alone on success";
  EXPECT_EQ(aist_store_get(store, "k", 1, nullptr, nullptr, error_.out()), AIST_NOT_FOUND);
  EXPECT_EQ(aist_error_code(error_.p), AIST_NOT_FOUND);
  EXPECT_EQ(error_.reason(), "store.no_key");
  EXPECT_EQ(aist_error_retryable(error_.p), 0);
  EXPECT_EQ(aist_error_scope(error_.p), static_cast<uint32_t>(AIST_SCOPE_OPERATION));
  EXPECT_EQ(aist_store_get(store, "k", 1, nullptr, nullptr, nullptr), AIST_NOT_FOUND)
      << "err may be NULL";
  aist_store_free(store);
  EXPECT_EQ(aist_error_code(nullptr), AIST_OK);
  EXPECT_STREQ(aist_error_message(nullptr), "");
  EXPECT_EQ(aist_error_cause(nullptr), nullptr);
  EXPECT_STREQ(aist_status_name(AIST_DATA_LOSS), "DATA_LOSS");
  EXPECT_STREQ(aist_status_name(99), "UNKNOWN");
}

TEST_F(Abi, TextArguments) {
  aist_store* store = nullptr;
  ASSERT_EQ(aist_store_open(context_, nullptr, &store, nullptr), AIST_OK);
  EXPECT_EQ(aist_store_put(store, "key", AIST_NUL_TERMINATED, "v", 1, 0, nullptr, nullptr),
            AIST_OK);
  EXPECT_EQ(aist_store_get(store, "keyxx", 3, nullptr, nullptr, nullptr), AIST_OK);
  EXPECT_EQ(aist_audit_append(store, "\xff", 1, "a", 1, "o", 1, nullptr, 0, nullptr, error_.out()),
            AIST_INVALID_ARGUMENT);
  EXPECT_EQ(error_.reason(), "base.utf8");
  EXPECT_EQ(aist_store_get(store, nullptr, 5, nullptr, nullptr, error_.out()),
            AIST_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message(), HasSubstr("key"));
  aist_store_free(store);
}

TEST_F(Abi, StructsOfOtherVersions) {
  aist_store* store = nullptr;
  // A newer caller: more bytes, all zero, is fine; something set there is not.
  struct Newer {
    aist_store_opts known;
    uint64_t unknown;
  } newer;
  aist_store_opts_init(&newer.known, sizeof(newer));
  EXPECT_EQ(newer.known.struct_size, sizeof(newer));
  EXPECT_EQ(newer.unknown, 0u);
  EXPECT_EQ(aist_store_open(context_, &newer.known, &store, error_.out()), AIST_OK)
      << error_.message();
  aist_store_free(store);
  newer.unknown = 1;
  EXPECT_EQ(aist_store_open(context_, &newer.known, &store, error_.out()), AIST_INVALID_ARGUMENT);
  aist_store_opts opts = AIST_STORE_OPTS_INIT;
  opts.struct_size = 3;
  EXPECT_EQ(aist_store_open(context_, &opts, &store, error_.out()), AIST_INVALID_ARGUMENT);
  opts = AIST_STORE_OPTS_INIT;
  opts.flags = 8;
  EXPECT_EQ(aist_store_open(context_, &opts, &store, error_.out()), AIST_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message(), HasSubstr("flags"));
  opts = AIST_STORE_OPTS_INIT;
  opts.kind = 77;
  EXPECT_EQ(aist_store_open(context_, &opts, &store, error_.out()), AIST_INVALID_ARGUMENT);
  EXPECT_EQ(aist_check_version(AIST_API_VERSION, nullptr), AIST_OK);
  EXPECT_EQ(aist_check_version(AIST_API_VERSION + 1, error_.out()), AIST_FAILED_PRECONDITION);
  EXPECT_EQ(aist_check_version(0, nullptr), AIST_FAILED_PRECONDITION);
}

TEST_F(Abi, DocumentsInBothFormats) {
  aist_store* store = nullptr;
  aist_allocator_state* alloc = nullptr;
  ASSERT_EQ(aist_store_open(context_, nullptr, &store, nullptr), AIST_OK);
  const std::string inventory = R"({"nodes":[{"name":"n","cards":[{"id":"c"}]}]})";
  ASSERT_EQ(aist_alloc_open(context_, store, AIST_FORMAT_JSON, inventory.data(), inventory.size(),
                            &alloc, error_.out()),
            AIST_OK)
      << error_.message();
  aist_bytes* json = nullptr;
  aist_bytes* proto = nullptr;
  ASSERT_EQ(aist_alloc_describe(alloc, AIST_FORMAT_UNSPECIFIED, &json, nullptr), AIST_OK);
  ASSERT_EQ(aist_alloc_describe(alloc, AIST_FORMAT_PROTOBUF, &proto, nullptr), AIST_OK);
  EXPECT_THAT(std::string(static_cast<const char*>(aist_bytes_data(json))),
              HasSubstr("\"inventory\""));
  EXPECT_NE(aist_bytes_size(json), aist_bytes_size(proto));
  EXPECT_EQ(aist_alloc_describe(alloc, 9, &json, error_.out()), AIST_INVALID_ARGUMENT);
  aist_bytes_free(json);
  aist_bytes_free(proto);
  aist_alloc_free(alloc);
  aist_store_free(store);
}

TEST_F(Abi, OperationsAndChildrenOutliveTheirParents) {
  const aistation::testing::TempDir dir;
  dir.Write("source/a", "hello");
  const std::string source = dir / "source";
  aist_dataset_index_opts opts = AIST_DATASET_INDEX_OPTS_INIT;
  opts.name = {"d", 1};
  opts.source = {source.data(), source.size()};
  aist_op* op = nullptr;
  ASSERT_EQ(aist_dataset_index(context_, &opts, &op, error_.out()), AIST_OK) << error_.message();
  aist_context_free(context_);
  context_ = nullptr;
  pollfd p{aist_op_fd(op), POLLIN, 0};
  EXPECT_EQ(poll(&p, 1, 10'000), 1);
  ASSERT_EQ(aist_op_wait(op, 0, error_.out()), AIST_OK) << error_.message();
  aist_bytes* result = nullptr;
  ASSERT_EQ(aist_op_result(op, AIST_FORMAT_JSON, &result, nullptr), AIST_OK);
  EXPECT_THAT(std::string(static_cast<const char*>(aist_bytes_data(result))),
              HasSubstr("\"path\""));
  aist_bytes_free(result);
  aist_op_progress_info info = AIST_OP_PROGRESS_INFO_INIT;
  EXPECT_EQ(aist_op_progress(op, &info, nullptr), AIST_OK);
  EXPECT_EQ(info.done_flag, 1u);
  aist_op_free(op);
  EXPECT_EQ(aist_debug_live_objects(), 0u);
}

TEST_F(Abi, AnExceptionNeverGetsOut) {
  aistation::api::SetGuardHookForTest(
      [](const char*) { throw std::runtime_error("thrown inside"); });
  aist_bytes* out = nullptr;
  EXPECT_EQ(aist_features(context_, &out, error_.out()), AIST_INTERNAL);
  EXPECT_THAT(error_.message(), HasSubstr("thrown inside"));
  EXPECT_EQ(aist_feature("sqlite", 6), 0);
  aistation::api::SetGuardHookForTest([](const char*) { throw std::bad_alloc(); });
  EXPECT_EQ(aist_features(context_, &out, error_.out()), AIST_RESOURCE_EXHAUSTED);
  aistation::api::SetGuardHookForTest(nullptr);
}

TEST_F(Abi, LogHookAndItsEnd) {
  struct Seen {
    std::vector<std::string> lines;
    int dropped = 0;
  } seen;
  aist_context_opts opts = AIST_CONTEXT_OPTS_INIT;
  opts.log = [](void* user, uint32_t, const char* module, const char* message) {
    static_cast<Seen*>(user)->lines.push_back(std::string(module) + " " + message);
  };
  opts.log_user = &seen;
  opts.log_drop = [](void* user) { ++static_cast<Seen*>(user)->dropped; };
  opts.log_level = 99;
  aist_context* other = nullptr;
  EXPECT_EQ(aist_context_create(&opts, &other, error_.out()), AIST_INVALID_ARGUMENT);
  EXPECT_EQ(seen.dropped, 0) << "what failed never took it";
  opts.log_level = AIST_LOG_DEBUG;
  ASSERT_EQ(aist_context_create(&opts, &other, nullptr), AIST_OK);
  aist_store* store = nullptr;
  ASSERT_EQ(aist_store_open(other, nullptr, &store, nullptr), AIST_OK);
  aist_context_free(other);
  EXPECT_EQ(seen.dropped, 0) << "the store still lives";
  aist_store_free(store);
  EXPECT_EQ(seen.dropped, 1);
}

TEST_F(Abi, BuffersComeFromTheAllocator) {
  struct Count {
    int blocks = 0;
    int allocated = 0;
    bool fails = false;
  } count;
  aist_allocator allocator{};
  allocator.alloc = [](void* user, size_t size) -> void* {
    auto* c = static_cast<Count*>(user);
    if (c->fails) return nullptr;
    ++c->blocks;
    ++c->allocated;
    return malloc(size);
  };
  allocator.realloc = [](void*, void* block, size_t size) { return realloc(block, size); };
  allocator.free = [](void* user, void* block) {
    --static_cast<Count*>(user)->blocks;
    free(block);
  };
  allocator.user = &count;
  aist_context_opts opts = AIST_CONTEXT_OPTS_INIT;
  opts.allocator = &allocator;
  aist_context* other = nullptr;
  ASSERT_EQ(aist_context_create(&opts, &other, nullptr), AIST_OK);
  aist_bytes* features = nullptr;
  ASSERT_EQ(aist_features(other, &features, nullptr), AIST_OK);
  EXPECT_EQ(count.blocks, 1);
  aist_bytes* none = nullptr;
  count.fails = true;
  EXPECT_EQ(aist_features(other, &none, error_.out()), AIST_RESOURCE_EXHAUSTED);
  EXPECT_EQ(none, nullptr);
  aist_context_free(other);
  EXPECT_EQ(static_cast<const char*>(aist_bytes_data(features))[aist_bytes_size(features)], '\0');
  aist_bytes_free(features);
  EXPECT_EQ(count.blocks, 0);
  EXPECT_EQ(count.allocated, 1);
  allocator.realloc = nullptr;
  EXPECT_EQ(aist_context_create(&opts, &other, nullptr), AIST_INVALID_ARGUMENT);
}

TEST_F(Abi, FreeingNothing) {
  aist_context_free(nullptr);
  aist_store_free(nullptr);
  aist_op_free(nullptr);
  aist_error_free(nullptr);
  aist_bytes_free(nullptr);
  aist_node_free(nullptr);
  aist_dataset_free(nullptr);
  EXPECT_EQ(aist_op_fd(nullptr), -1);
}

}  // namespace
