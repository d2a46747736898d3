// SPDX-License-Identifier: Apache-2.0
#include "image/image_service.h"

#include <algorithm>
#include <atomic>

#include "security/digest.h"
#include "transfer/peer.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/strings.h"
#include "util/thread.h"
#include "wire/wire.h"

namespace aistation::image {
namespace {

constexpr size_t kParallelBlobs = 3;

std::string RecordPath(const std::string& directory, std::string_view reference) {
  return util::StrCat(directory, "/images/", security::Sha256Digest(reference).substr(7, 40),
                      ".json");
}

std::string PinOwner(const v1::Image& image) {
  return util::StrCat("image-", security::Sha256Digest(image.reference()).substr(7, 16));
}

// Without the digest that a coordinator added: the name that people use.
std::string NameOf(const Reference& reference) {
  Reference name = reference;
  if (!name.tag.empty()) name.digest.clear();
  return name.ToString();
}

void AddStats(const v1::TransferStats& part, v1::TransferStats* sum) {
  sum->set_bytes_total(sum->bytes_total() + part.bytes_total());
  sum->set_bytes_source(sum->bytes_source() + part.bytes_source());
  sum->set_bytes_peers(sum->bytes_peers() + part.bytes_peers());
  sum->set_bytes_local(sum->bytes_local() + part.bytes_local());
  sum->set_bytes_sent(sum->bytes_sent() + part.bytes_sent());
  sum->set_retries(sum->retries() + part.retries());
  for (const auto& peer : part.quarantined()) {
    if (std::find(sum->quarantined().begin(), sum->quarantined().end(), peer) ==
        sum->quarantined().end()) {
      sum->add_quarantined(peer);
    }
  }
}

class BlobSource final : public transfer::Source {
 public:
  BlobSource(RegistryClient& registry, const Reference& reference, std::string digest)
      : registry_(registry), reference_(reference), digest_(std::move(digest)) {}
  absl::Status Read(uint64_t offset, uint64_t length,
                    const std::function<absl::Status(std::string_view)>& sink,
                    util::OpControl& control) override {
    return registry_.ReadBlob(reference_, digest_, offset, length, sink, control);
  }

 private:
  RegistryClient& registry_;
  const Reference& reference_;
  const std::string digest_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ImageService>> ImageService::Open(ImageOptions options) {
  AIST_RETURN_IF_ERROR(util::MakeDirectories(options.directory + "/images"));
  AIST_RETURN_IF_ERROR(util::MakeDirectories(options.directory + "/layouts"));
  return std::unique_ptr<ImageService>(new ImageService(std::move(options)));
}

absl::StatusOr<std::string> ImageService::ManifestBytes(const Reference& reference,
                                                        const std::string& selector,
                                                        const v1::ImagePullRequest& request,
                                                        std::string* digest,
                                                        util::OpControl& control) {
  auto& store = options_.engine->store();
  if (selector.find(':') != std::string::npos) {
    *digest = selector;
    if (const auto info = store.Info(selector); info.ok() && info->complete) {
      return store.Read(selector, 0, info->size);
    }
    for (const auto& member : request.members()) {
      if (member.node() == options_.self) continue;
      auto peer =
          transfer::PeerRequest(member, util::StrCat("/v2/_/blobs/", selector), options_.identity);
      peer.max_body_bytes = kMaxManifestBytes;
      auto response = options_.client->Fetch(peer, control);
      AIST_RETURN_IF_ERROR(control.Check());
      if (!response.ok() || response->status != 200) continue;
      if (security::Sha256Digest(response->body) != selector) continue;  // it lies or is torn
      AIST_RETURN_IF_ERROR(store.PutWhole(selector, response->body));
      return std::move(response->body);
    }
  }
  RegistryClient registry(options_.client, options_.registries);
  AIST_ASSIGN_OR_RETURN(auto fetched, registry.GetManifest(reference, selector, control));
  AIST_RETURN_IF_ERROR(store.PutWhole(fetched.digest, fetched.bytes));
  *digest = fetched.digest;
  return std::move(fetched.bytes);
}

absl::StatusOr<std::string> ImageService::Resolve(const v1::ImagePullRequest& request,
                                                  util::OpControl& control) {
  AIST_ASSIGN_OR_RETURN(const Reference reference, ParseReference(request.reference()));
  control.SetProgress(0, 0, "manifest");
  std::string digest;
  AIST_ASSIGN_OR_RETURN(std::string bytes,
                        ManifestBytes(reference, reference.Selector(), request, &digest, control));
  AIST_ASSIGN_OR_RETURN(const Manifest manifest, ParseManifest(bytes, request.reference()));
  if (!manifest.is_index) return digest;
  AIST_ASSIGN_OR_RETURN(const Descriptor child,
                        PickPlatform(manifest, request.platform(), request.reference()));
  AIST_RETURN_IF_ERROR(ManifestBytes(reference, child.digest, request, &digest, control).status());
  return digest;
}

absl::StatusOr<Manifest> ImageService::LocalManifest(const std::string& digest) {
  auto& store = options_.engine->store();
  AIST_ASSIGN_OR_RETURN(const auto info, store.Info(digest));
  AIST_ASSIGN_OR_RETURN(const std::string bytes,
                        store.Read(digest, 0, std::min<uint64_t>(info.size, kMaxManifestBytes)));
  return ParseManifest(bytes, digest);
}

absl::Status ImageService::FetchBlobs(const Reference& reference, const Manifest& manifest,
                                      const v1::ImagePullRequest& request, v1::ImageResult* result,
                                      util::OpControl& control) {
  std::vector<Descriptor> blobs = {manifest.config};
  blobs.insert(blobs.end(), manifest.layers.begin(), manifest.layers.end());
  uint64_t total = 0;
  for (const auto& blob : blobs) {
    total += blob.size;
    auto* layer = result->add_layers();
    layer->set_digest(blob.digest);
    layer->set_media_type(blob.media_type);
    layer->set_size_bytes(blob.size);
  }
  const std::vector<v1::Member> members(request.members().begin(), request.members().end());
  RegistryClient registry(options_.client, options_.registries);
  std::vector<std::unique_ptr<util::OpControl>> controls;
  for (size_t i = 0; i < blobs.size(); ++i) {
    controls.push_back(std::make_unique<util::OpControl>(control.deadline_ns()));
  }
  const auto cancel_all = [&controls] {
    for (auto& one : controls) one->Cancel();
  };
  const uint64_t hook = control.OnCancel(cancel_all);
  std::atomic<size_t> next{0};
  std::atomic<size_t> running{0};
  util::Mutex mutex;
  absl::Status failure;
  const auto work = [&] {
    for (size_t i = next++; i < blobs.size(); i = next++) {
      BlobSource source(registry, reference, blobs[i].digest);
      transfer::ObjectSpec spec;
      spec.id = blobs[i].digest;
      spec.size = blobs[i].size;
      spec.chunk_bytes = options_.chunk_bytes;
      spec.expected_digest = blobs[i].digest;
      spec.label = util::StrCat(i == 0 ? "configuration" : util::StrCat("layer ", i), " of ",
                                NameOf(reference));
      auto stats = options_.engine->Fetch(spec, source, members, *controls[i]);
      const util::MutexLock lock(mutex);
      if (stats.ok()) {
        *result->mutable_layers(static_cast<int>(i))->mutable_stats() = *stats;
        continue;
      }
      if (failure.ok()) failure = stats.status();
      next = blobs.size();
      cancel_all();
    }
    --running;
  };
  std::vector<util::Thread> threads;
  for (size_t i = 0; i < std::min(kParallelBlobs, blobs.size()); ++i) {
    ++running;
    auto thread = util::Thread::Start("aist-blob", work);
    if (thread.joinable()) {
      threads.push_back(std::move(thread));
    } else {
      --running;
    }
  }
  if (threads.empty()) {
    ++running;
    work();
  }
  while (running.load() > 0) {
    uint64_t done = 0;
    for (const auto& one : controls) done += one->progress().done;
    control.SetProgress(std::min(done, total), total, "image " + NameOf(reference));
    util::RealClock().SleepNanos(50'000'000);
  }
  threads.clear();  // joins
  control.RemoveCancelHook(hook);
  AIST_RETURN_IF_ERROR(control.Check());
  control.SetProgress(total, total, "image " + NameOf(reference));
  return failure;
}

absl::StatusOr<v1::ImageResult> ImageService::Pull(const v1::ImagePullRequest& request,
                                                   util::OpControl& control) {
  const int64_t started = util::RealClock().MonotonicNanos();
  AIST_ASSIGN_OR_RETURN(const Reference reference, ParseReference(request.reference()));
  v1::ImageResult result;
  result.set_reference(NameOf(reference));
  AIST_ASSIGN_OR_RETURN(const std::string digest, Resolve(request, control));
  result.set_digest(digest);
  AIST_ASSIGN_OR_RETURN(const Manifest manifest, LocalManifest(digest));
  if (manifest.is_index) {
    return util::InvalidArgument("image.manifest", digest + ": an index inside an index");
  }
  AIST_RETURN_IF_ERROR(FetchBlobs(reference, manifest, request, &result, control));
  v1::Image record;
  record.set_reference(NameOf(reference));
  record.set_digest(digest);
  for (const auto& layer : result.layers()) {
    record.set_size_bytes(record.size_bytes() + layer.size_bytes());
    AddStats(layer.stats(), result.mutable_stats());
  }
  record.set_pinned(request.pin());
  record.set_last_used_unix_ns(util::RealClock().UnixNanos());
  {
    const util::MutexLock lock(mutex_);
    if (request.pin()) AIST_RETURN_IF_ERROR(SetPins(record, true));
    AIST_RETURN_IF_ERROR(util::WriteFileDurably(RecordPath(options_.directory, record.reference()),
                                                wire::ToJson(record)));
  }
  if (!request.job().empty()) {
    const std::string path =
        util::StrCat(options_.directory, "/layouts/", digest.substr(digest.find(':') + 1));
    if (!util::Exists(path + "/index.json")) AIST_RETURN_IF_ERROR(WriteLayout(record, path));
    result.set_path(path);
  }
  result.mutable_stats()->set_elapsed_ns(
      static_cast<uint64_t>(util::RealClock().MonotonicNanos() - started));
  return result;
}

absl::StatusOr<std::vector<v1::Image>> ImageService::Records() {
  const std::string base = options_.directory + "/images";
  AIST_ASSIGN_OR_RETURN(const auto names, util::ListDirectory(base));
  std::vector<v1::Image> records;
  for (const auto& name : names) {
    if (!name.ends_with(".json")) continue;
    const auto text = util::ReadFile(util::JoinPath(base, name), 1u << 20);
    if (!text.ok()) continue;  // removed meanwhile
    auto record = wire::FromJson<v1::Image>(*text, name);
    if (record.ok()) records.push_back(*std::move(record));
  }
  return records;
}

absl::StatusOr<v1::ImageList> ImageService::List() {
  const util::MutexLock lock(mutex_);
  AIST_ASSIGN_OR_RETURN(auto records, Records());
  v1::ImageList list;
  for (auto& record : records) {
    const auto manifest = LocalManifest(record.digest());
    if (!manifest.ok()) continue;
    bool whole = !options_.engine->store().PathOf(manifest->config.digest).empty();
    for (const auto& layer : manifest->layers) {
      whole = whole && !options_.engine->store().PathOf(layer.digest).empty();
    }
    if (whole) *list.add_images() = std::move(record);
  }
  return list;
}

absl::StatusOr<v1::Image> ImageService::Find(std::string_view text) {
  AIST_ASSIGN_OR_RETURN(const Reference reference, ParseReference(text));
  const auto record = util::ReadFile(RecordPath(options_.directory, NameOf(reference)), 1u << 20);
  if (!record.ok()) {
    return util::NotFound("image.not_here", util::StrCat("image ", NameOf(reference),
                                                         " is not on this node; pull it"));
  }
  return wire::FromJson<v1::Image>(*record, NameOf(reference));
}

absl::Status ImageService::SetPins(const v1::Image& image, bool on) {
  AIST_ASSIGN_OR_RETURN(const Manifest manifest, LocalManifest(image.digest()));
  auto& store = options_.engine->store();
  AIST_RETURN_IF_ERROR(store.Pin(image.digest(), PinOwner(image), on));
  AIST_RETURN_IF_ERROR(store.Pin(manifest.config.digest, PinOwner(image), on));
  for (const auto& layer : manifest.layers) {
    AIST_RETURN_IF_ERROR(store.Pin(layer.digest, PinOwner(image), on));
  }
  return absl::OkStatus();
}

absl::Status ImageService::Pin(std::string_view reference, bool on) {
  const util::MutexLock lock(mutex_);
  AIST_ASSIGN_OR_RETURN(v1::Image image, Find(reference));
  AIST_RETURN_IF_ERROR(SetPins(image, on));
  image.set_pinned(on);
  return util::WriteFileDurably(RecordPath(options_.directory, image.reference()),
                                wire::ToJson(image));
}

absl::Status ImageService::Export(std::string_view reference, const std::string& directory) {
  v1::Image image;
  {
    const util::MutexLock lock(mutex_);
    AIST_ASSIGN_OR_RETURN(image, Find(reference));
  }
  if (util::Exists(directory + "/index.json")) {
    return util::Error(absl::StatusCode::kAlreadyExists, "image.exists",
                       util::StrCat(directory, ": an OCI layout is there already"));
  }
  return WriteLayout(image, directory);
}

}  // namespace aistation::image
