// SPDX-License-Identifier: Apache-2.0
// Who reads which chunk from the source, and who gets it from whom. Pure: every member computes the
// same plan from the same members.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aistation/v1/transfer.pb.h"

namespace aistation::transfer {

// Runs of this many chunks are read from the source in one request.
inline constexpr uint64_t kRunChunks = 4;

class Plan {
 public:
  // Members in any order; names are unique. At least one member.
  Plan(std::string_view object_id, uint64_t chunks, std::span<const v1::Member> members);

  size_t members() const { return order_.size(); }
  uint64_t chunks() const { return chunks_; }
  // Position of a member by name; members() when it is none.
  size_t Find(std::string_view name) const;
  const v1::Member& member(size_t position) const { return order_[position]; }

  // Elected to read `chunk` from the source. Counts of any two members differ by one run at most.
  size_t Reader(uint64_t chunk) const;
  // From whom `member` gets `chunk`; itself for the reader. The relays of one chunk form a tree
  // rooted at its reader: first one member of each other rack, then within the racks, so that a
  // chunk crosses into each rack once; nobody forwards to more than four.
  size_t Parent(uint64_t chunk, size_t member) const;
  // Order in which `member` should ask for the chunks it does not read: as they become available,
  // starting beside its own, so that members ask different readers at first.
  std::vector<uint64_t> FetchOrder(size_t member) const;
  // Turn of `member` to read `chunk` from the source if the reader fails: 0 for the reader.
  size_t Succession(uint64_t chunk, size_t member) const;

 private:
  std::vector<v1::Member> order_;  // by a hash of object and name
  std::vector<std::vector<size_t>> racks_;
  std::vector<size_t> rack_of_;
  uint64_t chunks_;
};

}  // namespace aistation::transfer
