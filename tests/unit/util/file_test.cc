// SPDX-License-Identifier: Apache-2.0
#include "util/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/testing/matchers.h"
#include "unit/testing/temp.h"
#include "util/embedded.h"
#include "util/thread.h"

namespace aistation::util {
namespace {

TEST(File, WritesWholeOrNotAtAll) {
  const testing::TempDir dir;
  const std::string path = dir / "f";
  ASSERT_OK(WriteFileDurably(path, "one"));
  ASSERT_OK(WriteFileDurably(path, "two", 0644));
  EXPECT_EQ(*ReadFile(path), "two");
  struct stat st {};
  ASSERT_EQ(stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0644u);
  EXPECT_THAT(*ListDirectory(dir.path()), ::testing::ElementsAre("f"))
      << "no temporary file is left";
  EXPECT_FALSE(WriteFileDurably(dir / "no/such/f", "x").ok());
}

TEST(File, ReadingIsBounded) {
  const testing::TempDir dir;
  const std::string path = dir.Write("f", std::string(100, 'x'));
  EXPECT_OK(ReadFile(path, 100));
  const auto more = ReadFile(path, 99);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(more.status()), ::testing::HasSubstr(path));
  EXPECT_TRUE(absl::IsNotFound(ReadFile(dir / "none").status()));
  EXPECT_OK(ReadFile("/proc/self/status")) << "files without a size";
}

TEST(File, RemoveTreeDoesNotFollowLinks) {
  const testing::TempDir dir;
  dir.Write("keep/f", "x");
  dir.Write("tree/sub/f", "x");
  ASSERT_EQ(symlink((dir / "keep").c_str(), (dir / "tree/link").c_str()), 0);
  ASSERT_OK(RemoveTree(dir / "tree"));
  EXPECT_FALSE(Exists(dir / "tree"));
  EXPECT_TRUE(Exists(dir / "keep/f"));
  EXPECT_OK(RemoveTree(dir / "never-there"));
}

TEST(File, LocksExclude) {
  const testing::TempDir dir;
  {
    const auto first = FileLock::Acquire(dir / "lock");
    ASSERT_OK(first);
    EXPECT_REASON(FileLock::Acquire(dir / "lock"), "file.locked", "lock");
  }
  EXPECT_OK(FileLock::Acquire(dir / "lock"));
}

TEST(File, PreadAndPwriteGoOn) {
  const testing::TempDir dir;
  auto fd = OpenFile(dir / "f", O_RDWR | O_CREAT);
  ASSERT_OK(fd);
  EXPECT_TRUE(fcntl(fd->get(), F_GETFD) & FD_CLOEXEC);
  ASSERT_OK(PwriteAll(fd->get(), "hello", 3, "f"));
  char buffer[16] = {};
  const auto n = PreadFull(fd->get(), buffer, sizeof(buffer), 0, "f");
  ASSERT_OK(n);
  EXPECT_EQ(std::string(buffer, *n), std::string("\0\0\0hello", 8));
}

TEST(Thread, BlocksSignalsAndJoins) {
  sigset_t mask;
  sigemptyset(&mask);
  {
    auto thread = Thread::Start("a-name-that-is-too-long",
                                [&mask] { pthread_sigmask(SIG_BLOCK, nullptr, &mask); });
    ASSERT_TRUE(thread.joinable());
    thread.Join();
    EXPECT_FALSE(thread.joinable());
  }
  EXPECT_TRUE(sigismember(&mask, SIGINT));
  EXPECT_TRUE(sigismember(&mask, SIGUSR1));
}

TEST(Embedded, DataFilesAreInside) {
  std::vector<std::string> names;
  for (const auto& file : EmbeddedFiles()) {
    names.emplace_back(file.name);
    EXPECT_GT(file.content.size(), 100u);
  }
  EXPECT_THAT(names,
              ::testing::IsSupersetOf({"accel/catalogue/cards.jsonc", "job/rules/faults.jsonc"}));
}

TEST(Status, KeepsReasonAndHints) {
  const absl::Status error =
      Error(absl::StatusCode::kAborted, "x.y", "it broke", {.system_errno = 5, .cause = "disk"});
  EXPECT_EQ(Reason(error), "x.y");
  EXPECT_EQ(Message(Annotate(error, "here")), "here: it broke");
  EXPECT_EQ(Reason(Annotate(error, "here")), "x.y");
  EXPECT_EQ(Hints(Annotate(error, "here")).cause, "disk");
  EXPECT_EQ(Hints(error).system_errno, 5);
  EXPECT_TRUE(Hints(Unavailable("a", "b")).retryable);
  EXPECT_FALSE(Hints(InvalidArgument("a", "b")).retryable);
  EXPECT_EQ(ErrnoError(ENOENT, "a", "b").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrnoError(ENOSPC, "a", "b").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Hints(ErrnoError(EACCES, "a", "b")).system_errno, EACCES);
}

}  // namespace
}  // namespace aistation::util
