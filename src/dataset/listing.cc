// SPDX-License-Identifier: Apache-2.0
#include "dataset/listing.h"

#include <set>

#include "dataset/manifest.h"
#include "net/http_client.h"
#include "util/strings.h"
#include "wire/json_reader.h"

namespace aistation::dataset {
namespace {

using wire::Json;

constexpr size_t kMaxEntries = 1'000'000;

absl::Status Bad(std::string_view source, std::string_view what) {
  return util::InvalidArgument("dataset.listing", util::StrCat(source, ": ", what));
}

bool IsPart(std::string_view name) {
  return IsSafePath(name) && name.find('/') == std::string_view::npos;
}

std::string DecodeEntities(std::string_view text) {
  std::string out = util::ReplaceAll(text, "&lt;", "<");
  out = util::ReplaceAll(out, "&gt;", ">");
  out = util::ReplaceAll(out, "&quot;", "\"");
  out = util::ReplaceAll(out, "&#39;", "'");
  return util::ReplaceAll(out, "&amp;", "&");
}

}  // namespace

absl::StatusOr<std::vector<ListedEntry>> ParseJsonListing(std::string_view text,
                                                          std::string_view source) {
  AIST_ASSIGN_OR_RETURN(const Json json, wire::ParseJson(text, source));
  if (!json.is_array() || json.size() > kMaxEntries) {
    return Bad(source, "expected an array of at most 1,000,000 entries");
  }
  std::vector<ListedEntry> entries;
  for (size_t i = 0; i < json.size(); ++i) {
    const Json& item = json[i];
    const auto text_of = [&item](const char* key) {
      const auto found = item.find(key);
      return found != item.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    ListedEntry entry;
    if (!item.is_object() || !IsPart(text_of("name"))) {
      return Bad(source, util::StrCat("[", i, "].name: expected the name of a file, without '/'"));
    }
    entry.name = text_of("name");
    entry.directory = text_of("type") == "directory";
    if (!entry.directory && text_of("type") != "file") continue;  // sockets, devices
    if (!entry.directory) {
      const auto size = item.find("size");
      if (size == item.end() || !size->is_number_unsigned()) {
        return Bad(source, util::StrCat("[", i, "].size: expected a number of bytes"));
      }
      entry.size = size->get<uint64_t>();
      entry.size_known = true;
      if (const std::string time = text_of("mtime"); !time.empty()) entry.etag = "mtime:" + time;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::vector<ListedEntry>> ParseHtmlListing(std::string_view text,
                                                          std::string_view source) {
  std::vector<ListedEntry> entries;
  std::set<std::string> seen;
  size_t at = 0;
  while (true) {
    const size_t tag = text.find('<', at);
    if (tag == std::string_view::npos) break;
    const size_t end = text.find('>', tag);
    if (end == std::string_view::npos) break;
    const std::string_view inside = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.size() < 2 || (inside[0] != 'a' && inside[0] != 'A') || inside[1] != ' ') continue;
    size_t href = inside.find("href=");
    if (href == std::string_view::npos) href = inside.find("HREF=");
    if (href == std::string_view::npos || href + 6 > inside.size()) continue;
    const char quote = inside[href + 5];
    if (quote != '"' && quote != '\'') continue;
    const std::string_view rest = inside.substr(href + 6);
    const size_t close = rest.find(quote);
    if (close == std::string_view::npos) continue;
    auto name = net::PercentDecode(DecodeEntities(rest.substr(0, close)));
    // Sort links ("?C=M"), absolute links and the parent are not children.
    if (!name.ok() || name->find_first_of("?#:") != std::string::npos) continue;
    ListedEntry entry;
    if (name->ends_with('/')) {
      entry.directory = true;
      name->pop_back();
    }
    if (!IsPart(*name) || !seen.insert(*name).second) continue;
    entry.name = *std::move(name);
    entries.push_back(std::move(entry));
    if (entries.size() > kMaxEntries) return Bad(source, "more than 1,000,000 links");
  }
  return entries;
}

}  // namespace aistation::dataset
