// SPDX-License-Identifier: Apache-2.0
// What a partial object has, as bytes in its journal file. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.h"

namespace aistation::transfer {

// Limits of an object: 2^20 chunks (4 TiB at 4 MiB a chunk), 64 KiB to 64 MiB a chunk.
inline constexpr uint64_t kMaxChunks = 1u << 20;
inline constexpr uint64_t kMinChunkBytes = 64u << 10;
inline constexpr uint64_t kMaxChunkBytes = 64u << 20;

uint64_t ChunkCount(uint64_t size, uint64_t chunk_bytes);
// INVALID_ARGUMENT `transfer.chunk_bytes` or `transfer.size`.
absl::Status CheckGeometry(std::string_view id, uint64_t size, uint64_t chunk_bytes);

struct Journal {
  uint64_t size = 0;
  uint64_t chunk_bytes = 0;
  std::vector<std::string> digests;  // 32 bytes, or "" where the chunk is not there
};

std::string JournalHeader(uint64_t size, uint64_t chunk_bytes);
// `sha256` empty: the chunk proved wrong and does not count any more.
std::string JournalRecord(uint64_t chunk, std::string_view sha256);
// A torn or damaged record ends the reading: what follows does not count. DATA_LOSS
// `transfer.journal` when the header itself is damaged.
absl::StatusOr<Journal> ReadJournal(std::string_view bytes, std::string_view source);

}  // namespace aistation::transfer
