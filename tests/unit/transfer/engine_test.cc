// SPDX-License-Identifier: Apache-2.0
// Several nodes in one process: the source is read once, what is wrong is found, what dies is
// survived.
#include "transfer/engine.h"

#include <atomic>
#include <mutex>
#include <random>
#include <thread>

#include "security/digest.h"
#include "transfer/chunk_journal.h"
#include "transfer/remote_op.h"
#include "unit/testing/matchers.h"
#include "unit/testing/nodes.h"
#include "util/strings.h"

namespace aistation::transfer {
namespace {

constexpr uint64_t kChunk = kMinChunkBytes;

// Counts what is read; may fail or lie.
class MemorySource final : public Source {
 public:
  explicit MemorySource(std::string content) : content_(std::move(content)) {}
  absl::Status Read(uint64_t offset, uint64_t length,
                    const std::function<absl::Status(std::string_view)>& sink,
                    util::OpControl& control) override {
    if (fails) return util::Unavailable("test.source", "the source is down");
    for (uint64_t at = 0; at < length; at += 10'000) {
      AIST_RETURN_IF_ERROR(control.Check());
      if (slow) AIST_RETURN_IF_ERROR(control.Sleep(2'000'000));
      const std::string part =
          content_.substr(offset + at, std::min<uint64_t>(10'000, length - at));
      bytes += part.size();
      AIST_RETURN_IF_ERROR(sink(part));
    }
    return absl::OkStatus();
  }
  std::atomic<uint64_t> bytes{0};
  std::atomic<bool> fails{false};
  std::atomic<bool> slow{false};

 private:
  const std::string content_;
};

class EngineTest : public ::testing::Test {
 protected:
  static std::string Content(size_t size) {
    std::mt19937_64 random(size);
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(random());
    return out;
  }
  ObjectSpec Spec() const {
    ObjectSpec spec;
    spec.id = security::Sha256Digest(content_);
    spec.size = content_.size();
    spec.chunk_bytes = kChunk;
    spec.expected_digest = spec.id;
    spec.label = "test";
    return spec;
  }
  // All members fetch at once.
  std::vector<absl::StatusOr<v1::TransferStats>> FetchAll(testing::EngineCluster& cluster,
                                                          const ObjectSpec& spec,
                                                          const std::vector<v1::Member>& members,
                                                          std::vector<size_t> who = {}) {
    if (who.empty()) {
      for (size_t i = 0; i < cluster.size(); ++i) who.push_back(i);
    }
    std::vector<absl::StatusOr<v1::TransferStats>> out(who.size(), absl::UnknownError(""));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < who.size(); ++i) {
      threads.emplace_back([&, i] {
        util::OpControl control(util::RealClock().MonotonicNanos() + 60'000'000'000);
        out[i] = cluster[who[i]].engine->Fetch(spec, source_, members, control);
      });
    }
    for (auto& thread : threads) thread.join();
    return out;
  }
  void ExpectContent(testing::EngineCluster& cluster, const std::string& id,
                     const std::vector<size_t>& who) {
    for (const size_t i : who)
      EXPECT_TRUE(*util::ReadFile(cluster[i].store->PathOf(id)) == content_) << i;
  }

  const std::string content_ = Content(40 * kChunk + 123);
  MemorySource source_{content_};
};

TEST_F(EngineTest, AloneReadsAllFromTheSource) {
  testing::EngineCluster cluster(1);
  const auto results = FetchAll(cluster, Spec(), {});
  ASSERT_OK(results[0]);
  EXPECT_EQ(results[0]->bytes_source(), content_.size());
  EXPECT_EQ(source_.bytes.load(), content_.size());
  ExpectContent(cluster, Spec().id, {0});
}

TEST_F(EngineTest, TogetherReadTheSourceOnce) {
  testing::EngineCluster cluster(4);
  const auto results = FetchAll(cluster, Spec(), cluster.members());
  uint64_t peers = 0;
  for (const auto& result : results) {
    ASSERT_OK(result);
    EXPECT_EQ(result->bytes_source() + result->bytes_peers(), content_.size());
    EXPECT_GT(result->bytes_source(), 0u) << "each reads its share";
    peers += result->bytes_peers();
  }
  EXPECT_EQ(source_.bytes.load(), content_.size());
  EXPECT_EQ(peers, 3 * content_.size());
  ExpectContent(cluster, Spec().id, {0, 1, 2, 3});
}

TEST_F(EngineTest, AnObjectWithoutKnownDigestIsTheSameEverywhere) {
  testing::EngineCluster cluster(3);
  ObjectSpec spec = Spec();
  spec.id = "dataset:" + std::string(64, 'a');
  spec.expected_digest.clear();
  for (const auto& result : FetchAll(cluster, spec, cluster.members())) ASSERT_OK(result);
  EXPECT_EQ(source_.bytes.load(), content_.size());
  ExpectContent(cluster, spec.id, {0, 1, 2});
}

TEST_F(EngineTest, ANewMemberTakesFromThoseThatHaveIt) {
  testing::EngineCluster cluster(3);
  const auto members = cluster.members();
  for (const auto& result : FetchAll(cluster, Spec(), {members[0], members[1]}, {0, 1}))
    ASSERT_OK(result);
  ASSERT_EQ(source_.bytes.load(), content_.size());
  const auto later = FetchAll(cluster, Spec(), {members[1], members[2]}, {1, 2});
  ASSERT_OK(later[0]);
  ASSERT_OK(later[1]);
  EXPECT_EQ(later[1]->bytes_peers(), content_.size());
  EXPECT_EQ(source_.bytes.load(), content_.size()) << "nothing is read a second time";
}

TEST_F(EngineTest, ADeadMemberIsSurvived) {
  testing::EngineCluster cluster(3);
  const auto members = cluster.members();
  cluster[2].server->Stop();
  const auto results = FetchAll(cluster, Spec(), members, {0, 1});
  ASSERT_OK(results[0]);
  ASSERT_OK(results[1]);
  EXPECT_EQ(source_.bytes.load(), content_.size()) << "the share of the dead one is read once, too";
  ExpectContent(cluster, Spec().id, {0, 1});
}

TEST_F(EngineTest, AMemberThatNeverBeginsIsSurvived) {
  testing::EngineCluster cluster(3);
  const auto results = FetchAll(cluster, Spec(), cluster.members(), {0, 1});
  ASSERT_OK(results[0]);
  ASSERT_OK(results[1]);
  ExpectContent(cluster, Spec().id, {0, 1});
}

TEST_F(EngineTest, APeerThatSendsWrongBytesIsFound) {
  testing::EngineCluster cluster(3);
  // Node 0 changes one byte of every answer about chunks that it gives.
  auto& liar = cluster[0];
  liar.filter = [&liar](const net::ServerRequest& request,
                        net::Responder& responder) -> absl::Status {
    if (request.path.rfind("/aistation/v1/chunks/", 0) != 0) return absl::OkStatus();
    class Changer final : public net::Responder {
     public:
      explicit Changer(net::Responder& below) : below_(below) {}
      absl::Status Start(int status, const net::Headers& headers, uint64_t length) override {
        return below_.Start(status, headers, length);
      }
      absl::Status Write(std::string_view bytes) override {
        std::string changed(bytes);
        if (!changed.empty()) changed[0] = static_cast<char>(changed[0] ^ 1);
        return below_.Write(changed);
      }
      absl::Status WriteFile(int fd, uint64_t offset, uint64_t length) override {
        std::string bytes(length, '\0');
        AIST_RETURN_IF_ERROR(util::PreadFull(fd, bytes.data(), length, offset, "x").status());
        return Write(bytes);
      }
      bool started() const override { return below_.started(); }
      bool stopping() const override { return below_.stopping(); }

     private:
      net::Responder& below_;
    } changer(responder);
    return liar.engine->Handle(request, changer);
  };
  const auto results = FetchAll(cluster, Spec(), cluster.members());
  ExpectContent(cluster, Spec().id, {1, 2});
  bool named = false;
  for (const size_t i : {1, 2}) {
    ASSERT_OK(results[i]);
    for (const auto& name : results[i]->quarantined())
      named = named || name.find("node0") != std::string::npos;
  }
  EXPECT_TRUE(named) << "the statistics name the peer";
}

TEST_F(EngineTest, ASourceThatLiesIsRefusedByTheDigest) {
  testing::EngineCluster cluster(2);
  ObjectSpec spec = Spec();
  spec.id = spec.expected_digest = security::Sha256Digest("something else");
  for (const auto& result : FetchAll(cluster, spec, cluster.members())) {
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(absl::IsDataLoss(result.status())) << result.status();
  }
  EXPECT_EQ(cluster[0].store->PathOf(spec.id), "");
}

TEST_F(EngineTest, ASourceThatFailsIsAnErrorThatSaysSo) {
  testing::EngineCluster cluster(2);
  source_.fails = true;
  for (const auto& result : FetchAll(cluster, Spec(), cluster.members())) {
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("the source is down"));
  }
}

TEST_F(EngineTest, CancelEndsItAndTheNextOneResumes) {
  testing::EngineCluster cluster(1);
  source_.slow = true;
  util::OpControl control;
  std::thread canceller([&] {
    while (source_.bytes.load() < 10 * kChunk) util::RealClock().SleepNanos(1'000'000);
    control.Cancel();
  });
  const auto cancelled = cluster[0].engine->Fetch(Spec(), source_, {}, control);
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled(cancelled.status())) << cancelled.status();
  cluster[0].Reopen();
  source_.slow = false;
  const auto results = FetchAll(cluster, Spec(), {});
  ASSERT_OK(results[0]);
  EXPECT_GE(results[0]->bytes_local(), kChunk);
  EXPECT_EQ(results[0]->bytes_local() + results[0]->bytes_source(), content_.size());
  ExpectContent(cluster, Spec().id, {0});
}

TEST_F(EngineTest, SeveralCallsShareOneTransfer) {
  testing::EngineCluster cluster(1);
  const auto results = FetchAll(cluster, Spec(), {}, {0, 0, 0});
  for (const auto& result : results) ASSERT_OK(result);
  EXPECT_EQ(source_.bytes.load(), content_.size());
}

TEST_F(EngineTest, EmptyObjects) {
  testing::EngineCluster cluster(2);
  ObjectSpec spec = Spec();
  spec.size = 0;
  spec.id = spec.expected_digest = security::Sha256Digest("");
  for (const auto& result : FetchAll(cluster, spec, cluster.members())) ASSERT_OK(result);
  EXPECT_EQ(*util::ReadFile(cluster[1].store->PathOf(spec.id)), "");
}

TEST(RemoteOp, CallsAllAndSumsTheProgress) {
  testing::CertificateAuthority ca;
  util::Executor executor;
  RemoteOps ops(executor);
  ops.Register(
      "double",
      [](const net::ServerRequest&, std::string_view request,
         util::OpControl& control) -> absl::StatusOr<std::string> {
        if (request == "bad") return util::NotFound("test.bad", "a bad request");
        control.SetProgress(5, 10, "half");
        AIST_RETURN_IF_ERROR(control.Sleep(request == "slow" ? 60'000'000'000 : 50'000'000));
        return util::StrCat(request, request);
      });
  net::ServerOptions options;
  options.identity = ca.Identity("n");
  const auto server = net::HttpServer::Start(options, [&](const auto& q, auto& r) {
    return ops.Handles(q) ? ops.Handle(q, r) : util::NotFound("test.route", q.path);
  });
  ASSERT_OK(server);
  v1::Member member;
  member.set_node("n");
  member.set_address("127.0.0.1");
  member.set_port((*server)->port());
  const std::vector<v1::Member> members = {member, member};
  net::HttpClient client;
  const auto me = ca.Identity("me");
  util::OpControl control;
  std::vector<std::string> requests = {"a", "b"};
  auto results = CallAll(client, me, members, "double", requests, false, control);
  ASSERT_OK(results[0]);
  EXPECT_EQ(*results[0], "aa");
  EXPECT_EQ(*results[1], "bb");
  requests = {"slow", "bad"};
  const int64_t start = util::RealClock().MonotonicNanos();
  results = CallAll(client, me, members, "double", requests, false, control);
  EXPECT_REASON(results[1], "test.bad", "a bad request");
  EXPECT_FALSE(results[0].ok()) << "the first failure cancels the others";
  EXPECT_LT(util::RealClock().MonotonicNanos() - start, 20'000'000'000);
  requests = {"x", "x"};
  EXPECT_FALSE(CallAll(client, me, members, "unknown", requests, false, control)[0].ok());
}

}  // namespace
}  // namespace aistation::transfer
