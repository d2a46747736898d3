// SPDX-License-Identifier: Apache-2.0
// The SQLite back-end: processes that die, two at once, files that are none. And the audit log.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/audit.h"
#include "store/store.h"
#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/strings.h"

namespace aistation::store {
namespace {

// Writes numbers and tells each on a pipe once it is durable, until it is killed.
[[noreturn]] void WriteForEver(const std::string& path, int tell) {
  auto store = OpenSqliteStore(path);
  if (!store.ok()) _exit(1);
  const auto entry = (*store)->Get("n");
  for (int n = entry.ok() ? *util::ParseInt<int>(entry->value) + 1 : 1;; ++n) {
    const auto revision = (*store)->Txn(
        {}, {{"n", util::StrCat(n), 0}, {util::StrCat("item/", n), std::string(200, 'x'), 0}});
    if (!revision.ok() || !AuditAppend(**store, "t", "write", util::StrCat(n), "").ok()) _exit(2);
    if (write(tell, &n, sizeof(n)) != sizeof(n)) _exit(3);
  }
}

TEST(Sqlite, KilledWritersLoseNothingThatWasAcknowledged) {
  const testing::TempDir dir;
  const std::string path = dir / "s.db";
  auto random = testing::Random();
  int last = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    const pid_t child = fork();
    if (child == 0) WriteForEver(path, pipe_fds[1]);
    close(pipe_fds[1]);
    int n = 0;
    for (size_t i = 0; i < 1 + random() % 8; ++i) {
      if (read(pipe_fds[0], &n, sizeof(n)) == sizeof(n)) last = n;
    }
    usleep(static_cast<useconds_t>(random() % 3000));
    kill(child, SIGKILL);
    while (read(pipe_fds[0], &n, sizeof(n)) == sizeof(n)) last = n;
    close(pipe_fds[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    const auto store = OpenSqliteStore(path);
    ASSERT_OK(store);
    const int stored = *util::ParseInt<int>((*store)->Get("n")->value);
    ASSERT_GE(stored, last);
    ASSERT_EQ((*store)->Range("item/", 100'000)->entries.size(), static_cast<size_t>(stored));
    const auto audit = AuditVerify(**store);
    ASSERT_OK(audit);
    EXPECT_TRUE(audit->ok()) << audit->problem();
  }
  EXPECT_GT(last, 12);
}

TEST(Sqlite, TwoHandlesShareAFile) {
  const testing::TempDir dir;
  const auto a = OpenSqliteStore(dir / "s.db");
  const auto b = OpenSqliteStore(dir / "s.db");
  ASSERT_OK(a);
  ASSERT_OK(b);
  auto watch = (*b)->WatchPrefix("k", 0);
  ASSERT_OK(watch);
  const auto revision = (*a)->Put("k", "v");
  EXPECT_EQ((*b)->Get("k")->revision, *revision);
  const auto change = (*watch)->Next(5'000'000'000);
  ASSERT_OK(change);
  EXPECT_EQ(change->revision, *revision);
}

TEST(Sqlite, RefusesOtherFiles) {
  const testing::TempDir dir;
  const std::string path = dir.Write("s.db", std::string(5000, 'x'));
  const auto store = OpenSqliteStore(path);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(util::Message(store.status()), ::testing::HasSubstr(path));
  EXPECT_EQ(*util::ReadFile(path), std::string(5000, 'x')) << "what was there stays";
}

class Audit : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 1; i <= 5; ++i) {
      EXPECT_EQ(*AuditAppend(*store_, "alice", "job.submit", util::StrCat("job-", i), "{\"n\": 1}"),
                static_cast<uint64_t>(i));
    }
  }
  std::string Key(int seq) { return util::StrCat("audit/", std::string(19, '0'), seq); }
  std::shared_ptr<Store> store_ = MakeMemoryStore();
};

TEST_F(Audit, IsWhole) {
  const auto result = AuditVerify(*store_);
  ASSERT_OK(result);
  EXPECT_TRUE(result->ok());
  EXPECT_EQ(result->entries(), 5u);
  const auto log = AuditRead(*store_, 2, 2);
  ASSERT_OK(log);
  ASSERT_EQ(log->entries_size(), 2);
  EXPECT_EQ(log->entries(0).seq(), 2u);
  EXPECT_EQ(log->entries(1).previous_sha256(), log->entries(0).sha256());
}

TEST_F(Audit, RefusesDetailThatIsNoObject) {
  EXPECT_FALSE(AuditAppend(*store_, "a", "b", "c", "not json").ok());
  EXPECT_FALSE(AuditAppend(*store_, "a", "b", "c", "[1]").ok());
}

TEST_F(Audit, FindsAChangedEntry) {
  auto entry = AuditRead(*store_, 3, 1)->entries(0);
  entry.set_actor("mallory");
  ASSERT_OK(store_->Put(Key(3), entry.SerializeAsString()));
  const auto result = AuditVerify(*store_);
  EXPECT_FALSE(result->ok());
  EXPECT_EQ(result->first_bad_seq(), 3u);
}

TEST_F(Audit, FindsARemovedEntry) {
  ASSERT_OK(store_->Delete(Key(2)));
  EXPECT_EQ(AuditVerify(*store_)->first_bad_seq(), 2u);
}

TEST_F(Audit, FindsARemovedEnd) {
  ASSERT_OK(store_->Delete(Key(5)));
  EXPECT_FALSE(AuditVerify(*store_)->ok());
}

TEST_F(Audit, FindsSwappedEntries) {
  const std::string two = store_->Get(Key(2))->value;
  ASSERT_OK(store_->Put(Key(2), store_->Get(Key(3))->value));
  ASSERT_OK(store_->Put(Key(3), two));
  EXPECT_EQ(AuditVerify(*store_)->first_bad_seq(), 2u);
}

}  // namespace
}  // namespace aistation::store
