// SPDX-License-Identifier: Apache-2.0
// Manifests of datasets.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "dataset/manifest.h"
#include "wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = wire::FromJson<v1::DatasetManifest>(text, "input");
  if (manifest.ok()) (void)dataset::CheckManifest(*manifest);
  v1::DatasetManifest message;
  if (message.ParseFromArray(data, static_cast<int>(size))) (void)dataset::CheckManifest(message);
  return 0;
}
