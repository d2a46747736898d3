// SPDX-License-Identifier: Apache-2.0
// Parsers, and pulls from a registry in this process by one node and by several.
#include "image/image_service.h"

#include <random>
#include <thread>

#include "image/manifest.h"
#include "image/reference.h"
#include "image/registry_client.h"
#include "image/registry_config.h"
#include "unit/testing/matchers.h"
#include "unit/testing/nodes.h"
#include "unit/testing/registry.h"

namespace aistation::image {
namespace {

TEST(Reference, Parse) {
  const auto r = ParseReference("registry.bank.example:5000/a/b:v1");
  ASSERT_OK(r);
  EXPECT_EQ(r->registry, "registry.bank.example:5000");
  EXPECT_EQ(r->repository, "a/b");
  EXPECT_EQ(r->tag, "v1");
  EXPECT_EQ(ParseReference("h:1/x")->tag, "latest");
  const std::string digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(ParseReference("h:1/x@" + digest)->Selector(), digest);
  EXPECT_EQ(ParseReference("h:1/x:t@" + digest)->Selector(), digest);
  for (const char* bad : {"", "x", "/x", "h:1/", "h:1/X", "h:1/../x", "h:1/x:", "h:1/x@sha256:zz",
                          "h:1/x y", "h:1//x"}) {
    EXPECT_REASON(ParseReference(bad), "image.reference", "");
  }
}

TEST(Manifest, RefusesAndNamesTheField) {
  const std::string d = "sha256:" + std::string(64, 'a');
  const std::string descriptor = R"({"mediaType":"m","digest":")" + d + R"(","size":3})";
  EXPECT_OK(ParseManifest(
      R"({"schemaVersion":2,"config":)" + descriptor + R"(,"layers":[)" + descriptor + "]}", "m"));
  const auto refuse = [](const std::string& text, const char* part) {
    const auto result = ParseManifest(text, "r/x:t");
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("r/x:t"));
    EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr(part));
  };
  refuse("{", "line 1");
  refuse("[]", "object");
  refuse(R"({"schemaVersion":1})", "schemaVersion");
  refuse(R"({"schemaVersion":2,"config":)" + descriptor +
             R"(,"layers":[{"digest":"md5:1","size":1}]})",
         "layers[0].digest");
  refuse(R"({"schemaVersion":2,"config":)" + descriptor + R"(,"layers":[{"digest":")" + d +
             R"(","size":-1}]})",
         "layers[0].size");
  refuse(R"({"schemaVersion":2,"config":{},"layers":[]})", "config");
}

TEST(RegistryConfig, Parse) {
  const auto config = ParseRegistryConfig(
      R"({"registries": {"r:5000": {"ca_file": "/c", "plain_http": true}}} // c)", "f");
  ASSERT_OK(config);
  EXPECT_TRUE(config->at("r:5000").plain_http);
  EXPECT_OK(ParseRegistryConfig("", "f"));
  EXPECT_FALSE(ParseRegistryConfig(R"({"registries": {"r": {"password": "x"}}})", "f").ok())
      << "no secret in a configuration";
  EXPECT_FALSE(ParseRegistryConfig(R"({"registries": []})", "f").ok());
}

TEST(Challenge, Parse) {
  const Challenge c = ParseChallenge(
      R"(Bearer realm="https://a/t?x=1,2", service="s", scope="repository:a/b:pull")");
  EXPECT_EQ(c.scheme, "bearer");
  EXPECT_EQ(c.realm, "https://a/t?x=1,2");
  EXPECT_EQ(c.scope, "repository:a/b:pull");
  EXPECT_EQ(ParseChallenge("Basic realm=x").scheme, "basic");
  EXPECT_EQ(ParseChallenge("Negotiate").scheme, "");
}

class Pulls : public ::testing::Test {
 protected:
  static std::string Bytes(size_t size, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(random());
    return out;
  }
  void Start(size_t nodes, RegistryAccess access = {}) {
    access.plain_http = true;
    cluster_ = std::make_unique<testing::EngineCluster>(nodes);
    for (size_t i = 0; i < nodes; ++i) {
      ImageOptions options;
      options.directory = (*cluster_)[i].directory / "node";
      options.self = (*cluster_)[i].name;
      options.engine = (*cluster_)[i].engine;
      options.client = (*cluster_)[i].client;
      options.identity = (*cluster_)[i].identity;
      options.registries[registry_.host()] = access;
      options.chunk_bytes = 64 << 10;
      auto service = ImageService::Open(options);
      ASSERT_OK(service);
      services_.push_back(std::move(*service));
      // Peers ask each other for manifests, too.
      (*cluster_)[i].filter = [raw = services_.back().get(), &node = (*cluster_)[i]](
                                  const auto& q, auto& r) -> absl::Status {
        return !node.engine->Handles(q) && raw->Handles(q) ? raw->Handle(q, r) : absl::OkStatus();
      };
    }
  }
  v1::ImagePullRequest Request(bool members = true) {
    v1::ImagePullRequest request;
    request.set_reference(registry_.host() + "/bank/train:1");
    if (members) {
      for (const auto& member : cluster_->members()) *request.add_members() = member;
    }
    return request;
  }
  std::vector<absl::StatusOr<v1::ImageResult>> PullAll(const v1::ImagePullRequest& request) {
    std::vector<absl::StatusOr<v1::ImageResult>> out(services_.size(), absl::UnknownError(""));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < services_.size(); ++i) {
      threads.emplace_back([&, i] {
        util::OpControl control(util::RealClock().MonotonicNanos() + 60'000'000'000);
        out[i] = services_[i]->Pull(request, control);
      });
    }
    for (auto& thread : threads) thread.join();
    return out;
  }

  testing::FakeRegistry registry_;
  std::unique_ptr<testing::EngineCluster> cluster_;
  std::vector<std::unique_ptr<ImageService>> services_;
  const std::vector<std::string> layers_ = {Bytes(700'000, 1), Bytes(300'001, 2), Bytes(10, 3)};
};

TEST_F(Pulls, OneNode) {
  const std::string digest = registry_.Add("bank/train", "1", layers_);
  Start(1);
  const auto results = PullAll(Request(false));
  ASSERT_OK(results[0]);
  EXPECT_EQ(results[0]->digest(), digest);
  EXPECT_EQ(results[0]->layers_size(), 4);
  EXPECT_EQ(registry_.blob_bytes.load(), registry_.TotalBytes());
  const auto list = services_[0]->List();
  ASSERT_EQ(list->images_size(), 1);
  EXPECT_EQ(list->images(0).digest(), digest);
  ASSERT_OK(PullAll(Request(false))[0]);
  EXPECT_EQ(registry_.blob_bytes.load(), registry_.TotalBytes()) << "nothing twice";
}

TEST_F(Pulls, SeveralNodesForOneDownload) {
  registry_.Add("bank/train", "1", layers_, /*in_index=*/true);
  Start(3);
  for (const auto& result : PullAll(Request())) ASSERT_OK(result);
  EXPECT_EQ(registry_.blob_bytes.load(), registry_.TotalBytes()) << "1.00";
}

TEST_F(Pulls, ExportIsAWholeLayout) {
  registry_.Add("bank/train", "1", layers_);
  Start(1);
  ASSERT_OK(PullAll(Request(false))[0]);
  const testing::TempDir dir;
  ASSERT_OK(services_[0]->Export(Request().reference(), dir / "out"));
  EXPECT_TRUE(util::Exists(dir / "out/oci-layout"));
  for (const auto& layer : layers_) {
    const std::string hex = security::Sha256Digest(layer).substr(7);
    EXPECT_EQ(security::Sha256Digest(*util::ReadFile(dir / ("out/blobs/sha256/" + hex))),
              "sha256:" + hex);
  }
  EXPECT_TRUE(absl::IsAlreadyExists(services_[0]->Export(Request().reference(), dir / "out")));
  EXPECT_TRUE(absl::IsNotFound(services_[0]->Export(registry_.host() + "/none:1", dir / "x")));
  EXPECT_FALSE(util::Exists(dir / "x"));
}

TEST_F(Pulls, WrongBytesAreRefused) {
  registry_.Add("bank/train", "1", layers_);
  Start(2);
  registry_.corrupt_blobs = true;
  for (const auto& result : PullAll(Request())) {
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(absl::IsDataLoss(result.status())) << result.status();
  }
  EXPECT_EQ(services_[0]->List()->images_size(), 0);
  registry_.corrupt_blobs = false;
  for (const auto& result : PullAll(Request())) ASSERT_OK(result);
}

TEST_F(Pulls, AWrongManifestIsRefused) {
  const std::string digest = registry_.Add("bank/train", "1", layers_);
  Start(1);
  registry_.corrupt_manifests = true;
  auto request = Request(false);
  request.set_reference(registry_.host() + "/bank/train@" + digest);
  EXPECT_TRUE(absl::IsDataLoss(PullAll(request)[0].status()));
}

TEST_F(Pulls, WhatIsNotThere) {
  registry_.Add("bank/train", "1", layers_, true);
  Start(1);
  auto request = Request(false);
  request.set_reference(registry_.host() + "/bank/none:1");
  EXPECT_TRUE(absl::IsNotFound(PullAll(request)[0].status()));
  request = Request(false);
  request.set_platform("linux/s390x");
  const auto result = PullAll(request)[0];
  EXPECT_TRUE(absl::IsNotFound(result.status()));
  EXPECT_THAT(util::Message(result.status()), ::testing::HasSubstr("linux/arm64"))
      << "says what there is";
}

TEST_F(Pulls, BasicAndBearerCredentials) {
  const testing::TempDir dir;
  RegistryAccess access;
  access.username = "puller";
  access.password_file = dir.Write("password", "secret\n");
  registry_.Add("bank/train", "1", layers_);
  registry_.basic = "puller:secret";
  Start(1, access);
  ASSERT_OK(PullAll(Request(false))[0]);
  services_.clear();
  registry_.bearer = "token-1";
  Start(1, access);
  ASSERT_OK(PullAll(Request(false))[0]);
  services_.clear();
  registry_.basic = "puller:another";
  Start(1, access);
  const auto refused = PullAll(Request(false))[0];
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnauthenticated) << refused.status();
  EXPECT_EQ(util::Message(refused.status()).find("secret"), std::string::npos);
}

TEST_F(Pulls, PinsKeepFromEviction) {
  registry_.Add("bank/train", "1", layers_);
  Start(1);
  auto request = Request(false);
  request.set_pin(true);
  ASSERT_OK(PullAll(request)[0]);
  EXPECT_EQ(*(*cluster_)[0].store->Evict(0), 0u);
  ASSERT_OK(services_[0]->Pin(request.reference(), false));
  EXPECT_GT(*(*cluster_)[0].store->Evict(0), layers_[0].size());
  EXPECT_EQ(services_[0]->List()->images_size(), 0) << "an image without its blobs is none";
}

TEST_F(Pulls, ServesWhatItHas) {
  const std::string digest = registry_.Add("bank/train", "1", layers_);
  Start(1);
  ASSERT_OK(PullAll(Request(false))[0]);
  const auto mirror = net::HttpServer::Start({}, [this](const auto& q, auto& r) {
    return (*cluster_)[0].engine->Handles(q) ? (*cluster_)[0].engine->Handle(q, r)
                                             : services_[0]->Handle(q, r);
  });
  net::HttpClient client;
  util::OpControl control;
  net::HttpRequest request;
  request.use_proxy = false;
  const std::string base = util::StrCat("http://127.0.0.1:", (*mirror)->port());
  request.url = base + "/v2/";
  EXPECT_EQ(client.Fetch(request, control)->status, 200);
  request.url = base + "/v2/bank/train/manifests/1";
  const auto manifest = client.Fetch(request, control);
  EXPECT_EQ(security::Sha256Digest(manifest->body), digest);
  EXPECT_EQ(net::FindHeader(manifest->headers, "docker-content-digest"), digest);
  request.url = base + "/v2/bank/train/blobs/" + security::Sha256Digest(layers_[1]);
  request.headers = {{"Range", "bytes=5-9"}};
  const auto blob = client.Fetch(request, control);
  EXPECT_EQ(blob->status, 206);
  EXPECT_EQ(blob->body, layers_[1].substr(5, 5));
  for (const char* bad : {"/v2/bank/train/manifests/2", "/v2/bank/train/blobs/sha256:zz"}) {
    request.url = base + bad;
    EXPECT_GE(client.Fetch(request, control)->status, 400) << bad;
  }
}

}  // namespace
}  // namespace aistation::image
