// SPDX-License-Identifier: Apache-2.0
#include "dataset/index.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "dataset/listing.h"
#include "dataset/manifest.h"
#include "util/file.h"
#include "util/strings.h"

namespace aistation::dataset {
namespace {

constexpr int kMaxDepth = 32;

bool IsHttp(std::string_view source) {
  return source.starts_with("http://") || source.starts_with("https://");
}

absl::StatusOr<std::string> LocalPath(std::string_view source) {
  std::string_view path = source;
  if (path.starts_with("file://")) path.remove_prefix(7);
  if (path.empty() || path[0] != '/') {
    return util::InvalidArgument(
        "dataset.source",
        util::StrCat("source \"", util::Excerpt(source),
                     "\": expected http://, https://, file:/// or an absolute path"));
  }
  return std::string(path);
}

class Indexer {
 public:
  Indexer(const IndexOptions& options, net::HttpClient& client, util::OpControl& control)
      : options_(options),
        client_(client),
        control_(control),
        max_files_(options.max_files == 0 ? kMaxFiles : options.max_files) {}

  absl::Status Http(const std::string& url, const std::string& prefix, int depth) {
    AIST_RETURN_IF_ERROR(CheckDepth(url, depth));
    net::HttpRequest request = Request(url);
    request.max_body_bytes = 256u << 20;
    AIST_ASSIGN_OR_RETURN(const auto response, client_.Fetch(request, control_));
    if (response.status == 404) {
      return util::NotFound("dataset.not_found", util::StrCat(url, ": HTTP status 404"));
    }
    if (response.status != 200) {
      return util::Unavailable(
          "dataset.source",
          util::StrCat(url, ": HTTP status ", response.status, "; a directory listing is needed"));
    }
    const bool json =
        net::FindHeader(response.headers, "Content-Type").find("json") != std::string_view::npos;
    AIST_ASSIGN_OR_RETURN(const auto entries, json ? ParseJsonListing(response.body, url)
                                                   : ParseHtmlListing(response.body, url));
    for (const auto& entry : entries) {
      AIST_RETURN_IF_ERROR(control_.Check());
      const std::string child = url + net::PercentEncodePath(entry.name);
      if (entry.directory) {
        AIST_RETURN_IF_ERROR(Http(child + "/", prefix + entry.name + "/", depth + 1));
      } else if (entry.size_known) {
        AIST_RETURN_IF_ERROR(Add(prefix + entry.name, entry.size, entry.etag));
      } else {
        AIST_RETURN_IF_ERROR(AskSize(child, prefix + entry.name));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Local(const std::string& directory, const std::string& prefix, int depth) {
    AIST_RETURN_IF_ERROR(CheckDepth(directory, depth));
    AIST_ASSIGN_OR_RETURN(const auto names, util::ListDirectory(directory));
    for (const auto& name : names) {
      AIST_RETURN_IF_ERROR(control_.Check());
      const std::string path = util::JoinPath(directory, name);
      struct stat info {};
      if (lstat(path.c_str(), &info) != 0) return util::ErrnoError(errno, "dataset.source", path);
      if (S_ISDIR(info.st_mode)) {
        AIST_RETURN_IF_ERROR(Local(path, prefix + name + "/", depth + 1));
      } else if (S_ISREG(info.st_mode)) {
        AIST_RETURN_IF_ERROR(
            Add(prefix + name, static_cast<uint64_t>(info.st_size),
                util::StrCat("mtime:", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec)));
      }
    }
    return absl::OkStatus();
  }

  v1::DatasetManifest Take() { return std::move(manifest_); }

 private:
  net::HttpRequest Request(const std::string& url) const {
    net::HttpRequest request;
    request.url = url;
    request.ca_file = options_.ca_file;
    request.max_redirects = 3;
    return request;
  }

  absl::Status CheckDepth(const std::string& where, int depth) const {
    if (depth <= kMaxDepth) return absl::OkStatus();
    return util::InvalidArgument("dataset.depth",
                                 util::StrCat(where, ": more than ", kMaxDepth, " levels"));
  }

  absl::Status AskSize(const std::string& url, std::string path) {
    net::HttpRequest request = Request(url);
    request.method = "HEAD";
    AIST_ASSIGN_OR_RETURN(const auto response, client_.Fetch(request, control_));
    const auto size = util::ParseInt<uint64_t>(net::FindHeader(response.headers, "Content-Length"));
    if (response.status != 200 || !size.has_value()) {
      return util::Unavailable(
          "dataset.source",
          util::StrCat(url, ": HTTP status ", response.status, " without Content-Length"));
    }
    std::string etag(net::FindHeader(response.headers, "ETag"));
    if (etag.empty()) {
      etag = util::StrCat("mtime:", net::FindHeader(response.headers, "Last-Modified"));
    }
    return Add(std::move(path), *size, std::move(etag));
  }

  absl::Status Add(std::string path, uint64_t size, std::string etag) {
    if (static_cast<uint64_t>(manifest_.files_size()) >= max_files_) {
      return util::Error(absl::StatusCode::kResourceExhausted, "dataset.too_many_files",
                         util::StrCat(options_.source, ": more than ", max_files_, " files"));
    }
    if (!IsSafePath(path)) {
      return util::InvalidArgument(
          "dataset.path",
          util::StrCat(options_.source, ": file name \"", util::Excerpt(util::ToValidUtf8(path)),
                       "\": expected UTF-8 without control over other "
                       "directories"));
    }
    auto* file = manifest_.add_files();
    file->set_path(std::move(path));
    file->set_size_bytes(size);
    file->set_etag(std::move(etag));
    control_.SetProgress(static_cast<uint64_t>(manifest_.files_size()), 0, "listing");
    return absl::OkStatus();
  }

  const IndexOptions& options_;
  net::HttpClient& client_;
  util::OpControl& control_;
  const uint64_t max_files_;
  v1::DatasetManifest manifest_;
};

class DatasetSource final : public transfer::Source {
 public:
  DatasetSource(const v1::DatasetManifest& manifest, std::shared_ptr<net::HttpClient> client,
                std::string ca_file)
      : manifest_(manifest), client_(std::move(client)), ca_file_(std::move(ca_file)) {}

  absl::Status Read(uint64_t offset, uint64_t length,
                    const std::function<absl::Status(std::string_view)>& sink,
                    util::OpControl& control) override {
    const auto& files = manifest_.files();
    // The last file that begins at or before `offset`.
    auto file = std::upper_bound(
        files.begin(), files.end(), offset,
        [](uint64_t value, const v1::DatasetFile& f) { return value < f.offset(); });
    if (file != files.begin()) --file;
    for (; length > 0 && file != files.end(); ++file) {
      const uint64_t from = offset - file->offset();
      if (from >= file->size_bytes()) continue;
      const uint64_t take = std::min(length, file->size_bytes() - from);
      AIST_RETURN_IF_ERROR(control.Check());
      AIST_RETURN_IF_ERROR(IsHttp(manifest_.source()) ? ReadHttp(*file, from, take, sink, control)
                                                      : ReadLocal(*file, from, take, sink));
      offset += take;
      length -= take;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Changed(const v1::DatasetFile& file, std::string_view now) const {
    return util::DataLoss(
        "dataset.changed",
        util::StrCat(manifest_.source(), ": ", file.path(), " had ", file.size_bytes(),
                     " bytes when it was listed, now ", now, "; index the dataset again"));
  }

  absl::Status ReadHttp(const v1::DatasetFile& file, uint64_t from, uint64_t length,
                        const std::function<absl::Status(std::string_view)>& sink,
                        util::OpControl& control) {
    net::HttpRequest request;
    request.url = manifest_.source() + net::PercentEncodePath(file.path());
    request.ca_file = ca_file_;
    request.max_redirects = 3;
    request.max_body_bytes = 0;
    const bool whole = from == 0 && length == file.size_bytes();
    if (!whole) {
      request.headers.emplace_back("Range", util::StrCat("bytes=", from, "-", from + length - 1));
    }
    uint64_t skip = 0;
    uint64_t left = length;
    const auto head = [&](const net::HttpResponse& r) -> absl::Status {
      if (r.status == 206) {
        const std::string_view range = net::FindHeader(r.headers, "Content-Range");
        const size_t slash = range.rfind('/');
        const std::string_view total =
            slash == std::string_view::npos ? "*" : range.substr(slash + 1);
        if (total != "*" && total != util::StrCat(file.size_bytes())) return Changed(file, total);
        return absl::OkStatus();
      }
      if (r.status == 200) {
        const std::string_view size = net::FindHeader(r.headers, "Content-Length");
        if (!size.empty() && size != util::StrCat(file.size_bytes())) return Changed(file, size);
        skip = from;  // a server without ranges sends all of it
        return absl::OkStatus();
      }
      const std::string what = util::StrCat(request.url, ": HTTP status ", r.status);
      if (r.status == 404 || r.status == 416) return Changed(file, "none of them");
      if (r.status == 429 || r.status >= 500) return util::Unavailable("dataset.source", what);
      return util::FailedPrecondition("dataset.source", what);
    };
    const auto response = client_->Stream(
        request, head,
        [&](std::string_view bytes) -> absl::Status {
          const uint64_t drop = std::min<uint64_t>(skip, bytes.size());
          skip -= drop;
          bytes.remove_prefix(drop);
          bytes = bytes.substr(0, left);
          left -= bytes.size();
          return bytes.empty() ? absl::OkStatus() : sink(bytes);
        },
        control);
    if (!response.ok()) return response.status();
    return left == 0 ? absl::OkStatus() : Changed(file, util::StrCat(file.size_bytes() - left));
  }

  absl::Status ReadLocal(const v1::DatasetFile& file, uint64_t from, uint64_t length,
                         const std::function<absl::Status(std::string_view)>& sink) {
    AIST_ASSIGN_OR_RETURN(const std::string base, LocalPath(manifest_.source()));
    const std::string path = util::JoinPath(base, file.path());
    AIST_ASSIGN_OR_RETURN(const util::Fd fd, util::OpenFile(path, O_RDONLY | O_NOFOLLOW));
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) return util::ErrnoError(errno, "dataset.source", path);
    if (static_cast<uint64_t>(info.st_size) != file.size_bytes()) {
      return Changed(file, util::StrCat(static_cast<uint64_t>(info.st_size)));
    }
    std::string piece;
    while (length > 0) {
      piece.resize(std::min<uint64_t>(length, 1u << 20));
      AIST_ASSIGN_OR_RETURN(const size_t got,
                            util::PreadFull(fd.get(), piece.data(), piece.size(), from, path));
      if (got != piece.size()) return Changed(file, "fewer");
      AIST_RETURN_IF_ERROR(sink(piece));
      from += got;
      length -= got;
    }
    return absl::OkStatus();
  }

  const v1::DatasetManifest& manifest_;
  const std::shared_ptr<net::HttpClient> client_;
  const std::string ca_file_;
};

}  // namespace

absl::StatusOr<v1::DatasetManifest> Index(const IndexOptions& options, net::HttpClient& client,
                                          util::OpControl& control, util::Clock& clock) {
  if (!util::IsSafeName(options.name)) {
    return util::InvalidArgument("dataset.name",
                                 util::StrCat("dataset name \"", util::Excerpt(options.name),
                                              "\": expected letters, digits, '.', '_', '-'"));
  }
  Indexer indexer(options, client, control);
  std::string source = options.source;
  if (IsHttp(source)) {
    AIST_RETURN_IF_ERROR(net::ParseUrl(source).status());
    if (source.back() != '/') source += '/';
    AIST_RETURN_IF_ERROR(indexer.Http(source, "", 0));
  } else {
    AIST_ASSIGN_OR_RETURN(const std::string path, LocalPath(source));
    AIST_RETURN_IF_ERROR(indexer.Local(path, "", 0));
  }
  v1::DatasetManifest manifest = indexer.Take();
  manifest.set_name(options.name);
  manifest.set_source(source);
  manifest.set_chunk_bytes(options.chunk_bytes == 0 ? 4u << 20 : options.chunk_bytes);
  manifest.set_made_unix_ns(clock.UnixNanos());
  Finish(&manifest);
  AIST_RETURN_IF_ERROR(CheckManifest(manifest));
  return manifest;
}

std::unique_ptr<transfer::Source> MakeSource(const v1::DatasetManifest& manifest,
                                             std::shared_ptr<net::HttpClient> client,
                                             const std::string& ca_file) {
  return std::make_unique<DatasetSource>(manifest, std::move(client), ca_file);
}

}  // namespace aistation::dataset
