// SPDX-License-Identifier: Apache-2.0
#include "transfer/chunk_journal.h"

#include "security/digest.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

constexpr std::string_view kMagic = "AISTCHK1";
constexpr size_t kCheck = 8;  // first bytes of the SHA-256 of what precedes
constexpr size_t kHeader = 8 + 8 + 8 + kCheck;
constexpr size_t kRecord = 8 + security::kSha256Size + kCheck;

void AppendU64(std::string* out, uint64_t value) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

uint64_t ReadU64(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string WithCheck(std::string text) {
  text += security::Sha256(text).substr(0, kCheck);
  return text;
}

bool CheckHolds(std::string_view record) {
  const std::string_view body = record.substr(0, record.size() - kCheck);
  return security::Sha256(body).substr(0, kCheck) == record.substr(record.size() - kCheck);
}

}  // namespace

uint64_t ChunkCount(uint64_t size, uint64_t chunk_bytes) {
  return size / chunk_bytes + (size % chunk_bytes != 0 ? 1 : 0);
}

absl::Status CheckGeometry(std::string_view id, uint64_t size, uint64_t chunk_bytes) {
  if (chunk_bytes < kMinChunkBytes || chunk_bytes > kMaxChunkBytes) {
    return util::InvalidArgument(
        "transfer.chunk_bytes",
        util::StrCat(id, ": chunks of ", chunk_bytes, " bytes; expected 65536 to 67108864"));
  }
  if (ChunkCount(size, chunk_bytes) > kMaxChunks) {
    return util::InvalidArgument("transfer.size",
                                 util::StrCat(id, ": ", size, " bytes are more than ", kMaxChunks,
                                              " chunks of ", chunk_bytes, "; use larger chunks"));
  }
  return absl::OkStatus();
}

std::string JournalHeader(uint64_t size, uint64_t chunk_bytes) {
  std::string header(kMagic);
  AppendU64(&header, size);
  AppendU64(&header, chunk_bytes);
  return WithCheck(std::move(header));
}

std::string JournalRecord(uint64_t chunk, std::string_view sha256) {
  std::string record;
  AppendU64(&record, chunk);
  record += sha256.empty() ? std::string(security::kSha256Size, '\0') : std::string(sha256);
  return WithCheck(std::move(record));
}

absl::StatusOr<Journal> ReadJournal(std::string_view bytes, std::string_view source) {
  if (bytes.size() < kHeader || bytes.substr(0, 8) != kMagic ||
      !CheckHolds(bytes.substr(0, kHeader))) {
    return util::DataLoss(
        "transfer.journal",
        util::StrCat(source, ": not a journal of chunks, or its head is damaged"));
  }
  Journal journal;
  journal.size = ReadU64(bytes.substr(8));
  journal.chunk_bytes = ReadU64(bytes.substr(16));
  AIST_RETURN_IF_ERROR(CheckGeometry(source, journal.size, journal.chunk_bytes));
  journal.digests.resize(ChunkCount(journal.size, journal.chunk_bytes));
  for (size_t at = kHeader; at + kRecord <= bytes.size(); at += kRecord) {
    const std::string_view record = bytes.substr(at, kRecord);
    const uint64_t chunk = ReadU64(record);
    if (!CheckHolds(record) || chunk >= journal.digests.size()) break;
    std::string digest(record.substr(8, security::kSha256Size));
    if (digest == std::string(security::kSha256Size, '\0')) digest.clear();
    journal.digests[chunk] = std::move(digest);
  }
  return journal;
}

}  // namespace aistation::transfer
