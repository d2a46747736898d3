// SPDX-License-Identifier: Apache-2.0
#include "transfer/chunk_store.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

constexpr uint64_t kChunk = kMinChunkBytes;

std::string Content(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

absl::Status WriteAll(ChunkStore& store, const std::string& id, const std::string& content) {
  AIST_RETURN_IF_ERROR(store.Begin(id, content.size(), kChunk));
  for (uint64_t i = 0; i < ChunkCount(content.size(), kChunk); ++i) {
    if (store.HasChunk(id, i)) continue;
    const std::string chunk = content.substr(i * kChunk, kChunk);
    AIST_RETURN_IF_ERROR(store.WriteChunk(id, i, chunk, security::Sha256(chunk)));
  }
  util::OpControl control;
  return store.Commit(id, id, control);
}

class Chunks : public ::testing::Test {
 protected:
  std::shared_ptr<ChunkStore> Open() {
    auto store = ChunkStore::Open(dir_.path());
    EXPECT_OK(store);
    return store.ok() ? *store : nullptr;
  }
  testing::TempDir dir_;
  const std::string content_ = Content(5 * kChunk + 17, 1);
  const std::string id_ = security::Sha256Digest(content_);
};

TEST_F(Chunks, CommitsWhatIsRight) {
  const auto store = Open();
  ASSERT_OK(WriteAll(*store, id_, content_));
  const auto info = store->Info(id_);
  ASSERT_OK(info);
  EXPECT_TRUE(info->complete);
  EXPECT_EQ(*util::ReadFile(store->PathOf(id_)), content_);
  EXPECT_EQ(*store->Read(id_, kChunk - 1, 3), content_.substr(kChunk - 1, 3));
  EXPECT_FALSE(store->Read(id_, content_.size(), 1).ok());
  EXPECT_OK(WriteAll(*store, id_, content_)) << "twice is no error";
}

TEST_F(Chunks, RefusesWrongBytes) {
  const auto store = Open();
  ASSERT_OK(store->Begin(id_, content_.size(), kChunk));
  const std::string chunk = content_.substr(0, kChunk);
  EXPECT_FALSE(store->WriteChunk(id_, 0, chunk, security::Sha256("other")).ok());
  EXPECT_FALSE(store->WriteChunk(id_, 0, chunk.substr(1), security::Sha256(chunk.substr(1))).ok());
  EXPECT_FALSE(store->WriteChunk(id_, 6, chunk, security::Sha256(chunk)).ok());
  EXPECT_FALSE(store->HasChunk(id_, 0));
  for (uint64_t i = 0; i < 6; ++i) {
    const std::string wrong = Content(i == 5 ? 17 : kChunk, 100 + i);
    ASSERT_OK(store->WriteChunk(id_, i, wrong, security::Sha256(wrong)));
  }
  util::OpControl control;
  EXPECT_REASON(store->Commit(id_, id_, control), "transfer.digest", id_);
  EXPECT_EQ(store->PathOf(id_), "");
}

TEST_F(Chunks, OtherGeometryIsRefused) {
  const auto store = Open();
  ASSERT_OK(store->Begin(id_, content_.size(), kChunk));
  EXPECT_EQ(store->Begin(id_, content_.size() + 1, kChunk).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(store->Begin("../../etc/passwd", 1, kChunk).ok());
  EXPECT_FALSE(store->Begin("sha256:../x", 1, kChunk).ok());
}

TEST_F(Chunks, ResumesAfterAnInterruption) {
  {
    const auto store = Open();
    ASSERT_OK(store->Begin(id_, content_.size(), kChunk));
    for (const uint64_t i : {0, 3}) {
      const std::string chunk = content_.substr(i * kChunk, kChunk);
      ASSERT_OK(store->WriteChunk(id_, i, chunk, security::Sha256(chunk)));
    }
  }
  const auto store = Open();
  EXPECT_TRUE(store->HasChunk(id_, 0));
  EXPECT_TRUE(store->HasChunk(id_, 3));
  EXPECT_FALSE(store->HasChunk(id_, 1));
  EXPECT_EQ(store->Info(id_)->bytes_present, 2 * kChunk);
  ASSERT_OK(WriteAll(*store, id_, content_));
}

TEST_F(Chunks, AChunkThatRottedOnDiskDoesNotCount) {
  {
    const auto store = Open();
    ASSERT_OK(store->Begin(id_, content_.size(), kChunk));
    const std::string chunk = content_.substr(0, kChunk);
    ASSERT_OK(store->WriteChunk(id_, 0, chunk, security::Sha256(chunk)));
  }
  const std::string partial = dir_ / ("partial/" + util::ReplaceAll(id_, ":", "-"));
  std::string bytes = *util::ReadFile(partial);
  bytes[5] = static_cast<char>(bytes[5] ^ 1);
  ASSERT_OK(util::WriteFileDurably(partial, bytes));
  EXPECT_FALSE(Open()->HasChunk(id_, 0));
}

TEST_F(Chunks, OneProcessAtATime) {
  const auto store = Open();
  EXPECT_REASON(ChunkStore::Open(dir_.path()), "file.locked", "");
}

TEST_F(Chunks, KilledAtAnyMomentNothingWrongIsServed) {
  auto random = testing::Random();
  for (int round = 0; round < 15; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      auto store = ChunkStore::Open(dir_.path());
      if (!store.ok()) _exit(1);
      for (uint64_t seed = 1;; ++seed) {
        const std::string content = Content(3 * kChunk + seed % 1000, seed);
        if (!WriteAll(**store, security::Sha256Digest(content), content).ok()) _exit(2);
        if (seed % 3 == 0 && !(*store)->Remove(security::Sha256Digest(content)).ok()) _exit(3);
      }
    }
    usleep(static_cast<useconds_t>(2000 + random() % 30'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    const auto store = Open();
    ASSERT_NE(store, nullptr);
    for (const auto& info : store->List()) {
      if (!info.complete) continue;
      const std::string bytes = *util::ReadFile(store->PathOf(info.id));
      ASSERT_EQ(security::Sha256Digest(bytes), info.id);
    }
  }
}

TEST_F(Chunks, WaitersAreWoken) {
  const auto store = Open();
  ASSERT_OK(store->Begin(id_, content_.size(), kChunk));
  EXPECT_REASON(store->WaitChunk(id_, 0, 10'000'000), "transfer.no_chunk", "");
  EXPECT_TRUE(absl::IsNotFound(store->WaitChunk("sha256:" + std::string(64, 'a'), 0, 10'000'000)));
  std::thread writer([&] {
    usleep(20'000);
    const std::string chunk = content_.substr(0, kChunk);
    EXPECT_OK(store->WriteChunk(id_, 0, chunk, security::Sha256(chunk)));
  });
  EXPECT_OK(store->WaitChunk(id_, 0, 10'000'000'000));
  writer.join();
}

TEST_F(Chunks, EvictsTheLeastRecentlyUsedThatNobodyNeeds) {
  const auto store = Open();
  std::vector<std::string> ids;
  for (uint64_t i = 0; i < 5; ++i) {
    const std::string content = Content(100, 50 + i);
    ids.push_back(security::Sha256Digest(content));
    ASSERT_OK(WriteAll(*store, ids.back(), content));
    usleep(15'000);
  }
  store->Touch(ids[0]);
  ASSERT_OK(store->Pin(ids[1], "me", true));
  const auto use = store->Use(ids[2]);
  const auto freed = store->Evict(350);
  ASSERT_OK(freed);
  EXPECT_EQ(*freed, 200u);
  EXPECT_NE(store->PathOf(ids[0]), "") << "used last";
  EXPECT_NE(store->PathOf(ids[1]), "") << "pinned";
  EXPECT_NE(store->PathOf(ids[2]), "") << "in use";
  EXPECT_EQ(store->PathOf(ids[3]), "");
  EXPECT_EQ(store->PathOf(ids[4]), "");
  ASSERT_OK(store->Pin(ids[1], "me", false));
  EXPECT_EQ(*store->Evict(0), 200u);
  EXPECT_EQ(store->total_bytes(), 100u);
}

}  // namespace
}  // namespace aistation::transfer
