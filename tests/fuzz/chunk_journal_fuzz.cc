// SPDX-License-Identifier: Apache-2.0
// Journals of partial objects.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "transfer/chunk_journal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aistation;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto journal = transfer::ReadJournal(text, "input");
  if (!journal.ok()) return 0;
  if (journal->digests.size() != transfer::ChunkCount(journal->size, journal->chunk_bytes))
    std::abort();
  return 0;
}
