// SPDX-License-Identifier: Apache-2.0
// Directory listings of web servers. Pure and bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.h"

namespace aistation::dataset {

struct ListedEntry {
  std::string name;  // decoded, one part of a path
  bool directory = false;
  bool size_known = false;
  uint64_t size = 0;
  std::string etag;  // "mtime:…" when the listing tells a time
};

// As nginx writes it with autoindex_format json. `source` names it in errors.
absl::StatusOr<std::vector<ListedEntry>> ParseJsonListing(std::string_view text,
                                                          std::string_view source);
// Links of an HTML page that name a child: relative, one part, '/' at the end for directories.
// Sizes are not known.
absl::StatusOr<std::vector<ListedEntry>> ParseHtmlListing(std::string_view text,
                                                          std::string_view source);

}  // namespace aistation::dataset
