// SPDX-License-Identifier: Apache-2.0
// From a source to a manifest, and from a manifest back to bytes of the source.
#pragma once

#include <memory>
#include <string>

#include "aistation/v1/dataset.pb.h"
#include "net/http_client.h"
#include "transfer/engine.h"
#include "util/clock.h"
#include "util/op.h"

namespace aistation::dataset {

struct IndexOptions {
  std::string name;
  std::string source;  // http(s)://…/, file:///… or a path
  uint64_t chunk_bytes = 4u << 20;
  uint64_t max_files = 0;  // 0: 10 million
  std::string ca_file;
};

// Names and sizes, no content. Errors: INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED
// `dataset.too_many_files`.
absl::StatusOr<v1::DatasetManifest> Index(const IndexOptions& options, net::HttpClient& client,
                                          util::OpControl& control,
                                          util::Clock& clock = util::RealClock());

// The concatenation of all files, read by ranges. A file that has another size now is DATA_LOSS
// `dataset.changed`. `manifest` must outlive it.
std::unique_ptr<transfer::Source> MakeSource(const v1::DatasetManifest& manifest,
                                             std::shared_ptr<net::HttpClient> client,
                                             const std::string& ca_file);

}  // namespace aistation::dataset
