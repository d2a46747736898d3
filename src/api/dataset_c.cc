// SPDX-License-Identifier: Apache-2.0
// include/aistation/dataset.h
#include "aistation/dataset.h"

#include "aistation/v1/job.pb.h"
#include "api/objects.h"
#include "api/options.h"
#include "dataset/index.h"
#include "dataset/reader.h"
#include "net/http_client.h"

using aistation::api::ForkPolicy;
using aistation::api::Guard;
using aistation::api::GuardValue;
using aistation::api::ToString;
namespace dataset = aistation::dataset;
namespace v1 = aistation::v1;
namespace wire = aistation::wire;

// No context behind it: see the fork rule in the header.
struct aist_dataset : aistation::api::Counted {
  explicit aist_dataset(std::unique_ptr<dataset::Reader> r) : reader(std::move(r)) {}
  const std::unique_ptr<dataset::Reader> reader;
};

namespace {

absl::StatusOr<v1::DatasetCacheRequest> ParseCacheRequest(const char* function, aist_format format,
                                                          const void* request, size_t size) {
  AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(function, format));
  AIST_ASSIGN_OR_RETURN(const auto bytes, aistation::api::Raw(function, "request", request, size));
  return wire::Parse<v1::DatasetCacheRequest>(wire_format, bytes, "dataset request");
}

}  // namespace

extern "C" {

aist_status aist_dataset_index(aist_context* ctx, const aist_dataset_index_opts* opts, aist_op** op,
                               aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_index";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, opts);
    AIST_REQUIRE(kFunction, op);
    AIST_ASSIGN_OR_RETURN(const auto o, aistation::api::ReadOptions(kFunction, opts));
    dataset::IndexOptions options;
    AIST_ASSIGN_OR_RETURN(options.name, ToString(kFunction, "name", o.name));
    AIST_ASSIGN_OR_RETURN(options.source, ToString(kFunction, "source", o.source));
    AIST_ASSIGN_OR_RETURN(options.ca_file, ToString(kFunction, "ca_file", o.ca_file));
    if (o.chunk_bytes != 0) options.chunk_bytes = o.chunk_bytes;
    options.max_files = o.max_files;
    return aistation::api::StartOp(
        ctx->core, 0,
        [options = std::move(options), clock = ctx->core->clock](
            aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          aistation::net::HttpClient client;
          AIST_ASSIGN_OR_RETURN(auto manifest, dataset::Index(options, client, control, *clock));
          return wire::Result(std::move(manifest));
        },
        op);
  });
}

aist_status aist_dataset_cache(aist_node* node, aist_format format, const void* request,
                               size_t request_size, aist_op** op, aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_cache";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_REQUIRE(kFunction, op);
    AIST_ASSIGN_OR_RETURN(auto document,
                          ParseCacheRequest(kFunction, format, request, request_size));
    return aistation::api::StartOp(
        node->core, 0,
        [object = node->object, document = std::move(document)](
            aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          AIST_ASSIGN_OR_RETURN(auto result, object->Cache(document, control));
          return wire::Result(std::move(result));
        },
        op);
  });
}

aist_status aist_dataset_distribute(aist_context* ctx, aist_tls* tls, aist_format format,
                                    const void* request, size_t request_size, aist_op** op,
                                    aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_distribute";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, ctx);
    AIST_REQUIRE(kFunction, tls);
    AIST_REQUIRE(kFunction, op);
    AIST_ASSIGN_OR_RETURN(auto document,
                          ParseCacheRequest(kFunction, format, request, request_size));
    return aistation::api::StartOp(
        ctx->core, 0,
        [identity = tls->object, document = std::move(document)](
            aistation::util::OpControl& control) -> absl::StatusOr<aistation::util::OpResult> {
          aistation::net::HttpClient client;
          AIST_ASSIGN_OR_RETURN(const auto results,
                                dataset::Distribute(client, identity, document, control));
          v1::Attempt out;
          for (const auto& result : results) *out.add_datasets() = result;
          return wire::Result(std::move(out));
        },
        op);
  });
}

aist_status aist_dataset_list(aist_node* node, aist_format format, aist_bytes** out,
                              aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_list";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_REQUIRE(kFunction, out);
    AIST_ASSIGN_OR_RETURN(const auto wire_format, aistation::api::ToFormat(kFunction, format));
    AIST_ASSIGN_OR_RETURN(const auto list, node->object->datasets().List());
    *out = aistation::api::MakeDocument(node->core, wire_format, list);
    return absl::OkStatus();
  });
}

aist_status aist_dataset_pin(aist_node* node, const char* name, size_t name_len, uint8_t on,
                             aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_pin";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_TEXT(kFunction, which, name, name_len);
    return node->object->datasets().Pin(which, on != 0);
  });
}

aist_status aist_dataset_evict(aist_node* node, uint64_t target_bytes, uint64_t* freed_bytes,
                               aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_evict";
  return Guard(kFunction, err, [&]() -> absl::Status {
    AIST_REQUIRE(kFunction, node);
    AIST_ASSIGN_OR_RETURN(const uint64_t freed, node->object->datasets().Evict(target_bytes));
    if (freed_bytes != nullptr) *freed_bytes = freed;
    return absl::OkStatus();
  });
}

aist_status aist_dataset_open(const char* path, size_t path_len, aist_dataset** out,
                              aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_open";
  return Guard(
      kFunction, err,
      [&]() -> absl::Status {
        AIST_REQUIRE(kFunction, out);
        AIST_TEXT(kFunction, directory, path, path_len);
        AIST_ASSIGN_OR_RETURN(auto reader, dataset::Reader::Open(std::string(directory)));
        *out = new aist_dataset(std::move(reader));
        return absl::OkStatus();
      },
      ForkPolicy::kAllow);
}

uint64_t aist_dataset_count(const aist_dataset* handle) {
  return GuardValue<uint64_t>("aist_dataset_count", 0, [&]() -> uint64_t {
    return handle == nullptr ? 0 : handle->reader->count();
  });
}

uint64_t aist_dataset_bytes(const aist_dataset* handle) {
  return GuardValue<uint64_t>("aist_dataset_bytes", 0, [&]() -> uint64_t {
    return handle == nullptr ? 0 : handle->reader->manifest().size_bytes();
  });
}

aist_status aist_dataset_stat(const aist_dataset* handle, uint64_t index, aist_str* path,
                              uint64_t* size_bytes, aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_stat";
  return Guard(
      kFunction, err,
      [&]() -> absl::Status {
        AIST_REQUIRE(kFunction, handle);
        AIST_ASSIGN_OR_RETURN(const v1::DatasetFile* file, handle->reader->File(index));
        if (path != nullptr) *path = {file->path().data(), file->path().size()};
        if (size_bytes != nullptr) *size_bytes = file->size_bytes();
        return absl::OkStatus();
      },
      ForkPolicy::kAllow);
}

aist_status aist_dataset_find(const aist_dataset* handle, const char* path, size_t path_len,
                              uint64_t* index, aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_find";
  return Guard(
      kFunction, err,
      [&]() -> absl::Status {
        AIST_REQUIRE(kFunction, handle);
        AIST_REQUIRE(kFunction, index);
        AIST_TEXT(kFunction, name, path, path_len);
        AIST_ASSIGN_OR_RETURN(*index, handle->reader->Find(name));
        return absl::OkStatus();
      },
      ForkPolicy::kAllow);
}

aist_status aist_dataset_read(const aist_dataset* handle, uint64_t index, uint64_t offset,
                              void* buffer, size_t size, size_t* read_size, aist_error** err) {
  constexpr const char* kFunction = "aist_dataset_read";
  return Guard(
      kFunction, err,
      [&]() -> absl::Status {
        AIST_REQUIRE(kFunction, handle);
        AIST_REQUIRE(kFunction, read_size);
        if (size != 0) AIST_REQUIRE(kFunction, buffer);
        AIST_ASSIGN_OR_RETURN(
            *read_size, handle->reader->Read(index, offset, static_cast<char*>(buffer), size));
        return absl::OkStatus();
      },
      ForkPolicy::kAllow);
}

void aist_dataset_free(aist_dataset* handle) {
  if (handle == nullptr) return;
  // Also in a forked child: only memory and a file descriptor go.
  const aistation::api::internal::CancellationOff off;
  (void)GuardValue<int>("aist_dataset_free", 0, [] { return 0; });
  delete handle;
}

}  // extern "C"
