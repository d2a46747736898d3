// SPDX-License-Identifier: Apache-2.0
// Listings, manifests, filling by several nodes, reading, eviction.
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "dataset/cache.h"
#include "dataset/index.h"
#include "dataset/listing.h"
#include "dataset/manifest.h"
#include "dataset/reader.h"
#include "unit/testing/matchers.h"
#include "unit/testing/nodes.h"
#include "util/strings.h"

namespace aistation::dataset {
namespace {

TEST(Listing, Json) {
  const auto entries = ParseJsonListing(
      R"([{"name":"d","type":"directory","mtime":"Tue, 01 Dec 2026 10:00:00 GMT"},
          {"name":"f","type":"file","mtime":"Tue, 01 Dec 2026 10:00:00 GMT","size":5}])",
      "u");
  ASSERT_OK(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_TRUE((*entries)[0].directory);
  EXPECT_EQ((*entries)[1].size, 5u);
  for (const char* bad :
       {"{}", "[{\"name\":\"../x\",\"type\":\"file\",\"size\":1}]",
        "[{\"name\":\"a/b\",\"type\":\"file\",\"size\":1}]",
        "[{\"name\":\"a\",\"type\":\"file\",\"size\":-1}]", "[{\"type\":\"file\"}]", "["}) {
    const auto result = ParseJsonListing(bad, "http://u/");
    ASSERT_FALSE(result.ok()) << bad;
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("http://u/"));
  }
}

TEST(Listing, Html) {
  const auto entries = ParseHtmlListing(
      "<a href=\"../\">up</a><a href='sub/'>s</a><a href=\"f%20x\">f</a><a href=\"/abs\">n</a>"
      "<a href=\"http://x/y\">n</a><a href=\"?C=M\">n</a><a href=\"a/b\">n</a>",
      "u");
  ASSERT_OK(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].name, "sub");
  EXPECT_TRUE((*entries)[0].directory);
  EXPECT_EQ((*entries)[1].name, "f x");
}

TEST(Manifest, ChecksWhatItSays) {
  v1::DatasetManifest manifest;
  manifest.set_name("d");
  manifest.set_source("file:///x/");
  manifest.set_chunk_bytes(65536);
  for (const char* path : {"b", "a/1"}) {
    auto* file = manifest.add_files();
    file->set_path(path);
    file->set_size_bytes(10);
  }
  Finish(&manifest);
  EXPECT_OK(CheckManifest(manifest));
  EXPECT_EQ(manifest.files(0).path(), "a/1");
  EXPECT_EQ(manifest.files(1).offset(), 10u);
  const auto refuse = [&](auto change, const char* part) {
    v1::DatasetManifest bad = manifest;
    change(&bad);
    EXPECT_REASON(CheckManifest(bad), "dataset.manifest", part);
  };
  refuse([](auto* m) { m->mutable_files(0)->set_path("../etc/passwd"); }, "etc/passwd");
  refuse([](auto* m) { m->mutable_files(1)->set_path("a/1"); }, "a/1");
  refuse([](auto* m) { m->mutable_files(1)->set_offset(5); }, "b");
  refuse([](auto* m) { m->set_size_bytes(21); }, "");
  refuse([](auto* m) { m->set_version("sha256:" + std::string(64, 'a')); }, "version");
  for (const char* bad : {"", "/a", "a//b", "a/./b", "a/../b", "a/"})
    EXPECT_FALSE(IsSafePath(bad)) << bad;
}

class Caches : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(7);
    for (int i = 0; i < 25; ++i) {
      std::string content(static_cast<size_t>(i) * 7000, '\0');
      for (char& c : content) c = static_cast<char>(random());
      const std::string name = util::StrCat(i % 3 == 0 ? "sub/" : "", "f", i);
      source_.Write(name, content);
      files_[name] = content;
    }
  }
  void Start(size_t nodes, uint64_t limit = 0) {
    cluster_ = std::make_unique<testing::EngineCluster>(nodes);
    for (size_t i = 0; i < nodes; ++i) {
      CacheOptions options;
      options.directory = (*cluster_)[i].directory / "node";
      options.engine = (*cluster_)[i].engine;
      options.client = (*cluster_)[i].client;
      options.limit_bytes = limit;
      auto cache = DatasetCache::Open(options);
      ASSERT_OK(cache);
      caches_.push_back(std::move(*cache));
    }
  }
  v1::DatasetManifest Indexed(const std::string& source, const std::string& name = "d") {
    IndexOptions options;
    options.name = name;
    options.source = source;
    options.chunk_bytes = 64 << 10;
    net::HttpClient client;
    util::OpControl control;
    auto manifest = Index(options, client, control);
    EXPECT_OK(manifest);
    return manifest.ok() ? *manifest : v1::DatasetManifest();
  }
  std::vector<absl::StatusOr<v1::DatasetResult>> CacheAll(const v1::DatasetManifest& manifest) {
    v1::DatasetCacheRequest request;
    *request.mutable_manifest() = manifest;
    for (const auto& member : cluster_->members()) *request.add_members() = member;
    std::vector<absl::StatusOr<v1::DatasetResult>> out(caches_.size(), absl::UnknownError(""));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < caches_.size(); ++i) {
      threads.emplace_back([&, i] {
        util::OpControl control(util::RealClock().MonotonicNanos() + 60'000'000'000);
        out[i] = caches_[i]->Cache(request, control);
      });
    }
    for (auto& thread : threads) thread.join();
    return out;
  }
  void ExpectFiles(const std::string& path) {
    const auto reader = Reader::Open(path);
    ASSERT_OK(reader);
    ASSERT_EQ((*reader)->count(), files_.size());
    for (const auto& [name, content] : files_) {
      const auto index = (*reader)->Find(name);
      ASSERT_OK(index);
      std::string buffer(content.size() + 10, '\0');
      const auto n = (*reader)->Read(*index, 0, buffer.data(), buffer.size());
      ASSERT_OK(n);
      EXPECT_TRUE(buffer.substr(0, *n) == content) << name;
    }
  }

  testing::TempDir source_;
  std::map<std::string, std::string> files_;
  std::unique_ptr<testing::EngineCluster> cluster_;
  std::vector<std::unique_ptr<DatasetCache>> caches_;
};

TEST_F(Caches, ADirectoryToThreeNodesReadOnce) {
  Start(3);
  const auto manifest = Indexed(source_.path());
  EXPECT_EQ(manifest.files_size(), 25);
  uint64_t read = 0;
  for (const auto& result : CacheAll(manifest)) {
    ASSERT_OK(result);
    read += result->stats().bytes_source();
    ExpectFiles(result->path());
  }
  EXPECT_EQ(read, manifest.size_bytes());
}

TEST_F(Caches, AWebServerWithAListing) {
  uint64_t bytes = 0;
  util::Mutex mutex;
  const auto server = net::HttpServer::Start(
      {}, [&](const net::ServerRequest& q, net::Responder& r) -> absl::Status {
        const std::string path = source_ / q.path.substr(1);
        const auto names = util::ListDirectory(path);
        if (names.ok()) {
          std::string listing = "[";
          for (const auto& name : *names) {
            const auto content = util::ReadFile(util::JoinPath(path, name));
            util::StrAppend(&listing, listing.size() > 1 ? "," : "", "{\"name\":\"", name,
                            "\",\"type\":\"", content.ok() ? "file" : "directory",
                            "\",\"mtime\":\"Tue, 01 Dec 2026 10:00:00 GMT\"");
            if (content.ok()) util::StrAppend(&listing, ",\"size\":", content->size());
            listing += "}";
          }
          return r.Send(200, "application/json", listing + "]");
        }
        const auto content = util::ReadFile(path);
        if (!content.ok()) return content.status();
        const auto range = net::ParseRange(net::FindHeader(q.headers, "range"), content->size());
        if (!range.ok()) return range.status();
        const auto span = range->value_or(net::ByteRange{0, content->size()});
        {
          const util::MutexLock lock(mutex);
          bytes += span.length;
        }
        net::Headers headers;
        if (range->has_value())
          headers.emplace_back("Content-Range",
                               util::StrCat("bytes ", span.offset, "-",
                                            span.offset + span.length - 1, "/", content->size()));
        return r.Send(range->has_value() ? 206 : 200, "application/octet-stream",
                      content->substr(span.offset, span.length), headers);
      });
  Start(2);
  const auto manifest = Indexed(util::StrCat("http://127.0.0.1:", (*server)->port(), "/"));
  ASSERT_EQ(manifest.files_size(), 25);
  for (const auto& result : CacheAll(manifest)) {
    ASSERT_OK(result);
    ExpectFiles(result->path());
  }
  EXPECT_EQ(bytes, manifest.size_bytes()) << "1.00";
}

TEST_F(Caches, ASourceThatChangedIsSaid) {
  Start(1);
  const auto manifest = Indexed(source_.path());
  source_.Write("f1", "shorter");
  const auto result = CacheAll(manifest)[0];
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("f1"));
  EXPECT_EQ(caches_[0]->List()->datasets_size(), 0);
  EXPECT_NE(Indexed(source_.path()).version(), manifest.version());
}

TEST_F(Caches, EvictionLeavesPinsAndTheMostRecent) {
  Start(1);
  std::vector<v1::DatasetManifest> manifests;
  for (const char* name : {"a", "b", "c"}) {
    manifests.push_back(Indexed(source_.path(), name));
    source_.Write("marker", name);  // another version
    manifests.back() = Indexed(source_.path(), name);
    ASSERT_OK(CacheAll(manifests.back())[0]);
    util::RealClock().SleepNanos(20'000'000);
  }
  ASSERT_OK(caches_[0]->Pin("a", true));
  EXPECT_REASON(caches_[0]->Pin("none", true), "dataset.not_cached", "none");
  const uint64_t size = manifests[0].size_bytes();
  EXPECT_EQ(*caches_[0]->Evict(2 * size), manifests[1].size_bytes())
      << "the least recently used that is not pinned";
  std::vector<std::string> left;
  const auto list = caches_[0]->List();
  for (const auto& d : list->datasets()) left.push_back(d.name());
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("a", "c"));
}

TEST_F(Caches, WhatCanNeverFitIsRefused) {
  Start(1, 1000);
  EXPECT_REASON(CacheAll(Indexed(source_.path()))[0], "dataset.too_large", "1000");
}

TEST_F(Caches, ReadersForkAndOutliveEviction) {
  Start(1);
  const auto result = CacheAll(Indexed(source_.path()))[0];
  ASSERT_OK(result);
  const auto reader = Reader::Open(result->path());
  ASSERT_OK(reader);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    const auto n = (*reader)->Read(*(*reader)->Find("f1"), 5, &byte, 1);
    _exit(n.ok() && *n == 1 && byte == files_["f1"][5] ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_OK(caches_[0]->Evict(0));
  EXPECT_REASON(Reader::Open(result->path()), "dataset.not_cached", "");
  char byte = 0;
  EXPECT_OK((*reader)->Read(*(*reader)->Find("f2"), 0, &byte, 1));
  EXPECT_EQ(*(*reader)->Read(0, 1'000'000'000, &byte, 1), 0u);
  EXPECT_EQ((*reader)->Read(25, 0, &byte, 1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_REASON((*reader)->Find("nope"), "dataset.no_file", "nope");
}

TEST_F(Caches, AnInterruptedFillingIsNotThere) {
  Start(1);
  const auto manifest = Indexed(source_.path());
  const auto result = CacheAll(manifest)[0];
  ASSERT_OK(unlink((result->path() + "/manifest.pb").c_str()) == 0 ? absl::OkStatus()
                                                                   : absl::UnknownError("unlink"));
  CacheOptions options;
  options.directory = (*cluster_)[0].directory / "node";
  options.engine = (*cluster_)[0].engine;
  options.client = (*cluster_)[0].client;
  const auto again = DatasetCache::Open(options);
  ASSERT_OK(again);
  EXPECT_FALSE(util::Exists(result->path()));
  EXPECT_EQ((*again)->List()->datasets_size(), 0);
}

TEST(Index, Refusals) {
  net::HttpClient client;
  util::OpControl control;
  const testing::TempDir dir;
  dir.Write("a", "x");
  dir.Write("b", "x");
  const auto index = [&](const std::string& source, uint64_t max, const std::string& name) {
    IndexOptions options;
    options.name = name;
    options.source = source;
    options.max_files = max;
    return Index(options, client, control).status();
  };
  EXPECT_TRUE(absl::IsNotFound(index(dir / "none", 0, "d")));
  EXPECT_REASON(index(dir.path(), 1, "d"), "dataset.too_many_files", "");
  EXPECT_TRUE(absl::IsInvalidArgument(index(dir.path(), 0, "../d")));
  EXPECT_TRUE(absl::IsInvalidArgument(index("ftp://x/", 0, "d")));
  EXPECT_FALSE(index("http://127.0.0.1:1/", 0, "d").ok());
}

}  // namespace
}  // namespace aistation::dataset
