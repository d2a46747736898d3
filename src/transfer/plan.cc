// SPDX-License-Identifier: Apache-2.0
#include "transfer/plan.h"

#include <algorithm>
#include <map>

#include "security/digest.h"
#include "util/strings.h"

namespace aistation::transfer {

Plan::Plan(std::string_view object_id, uint64_t chunks, std::span<const v1::Member> members)
    : chunks_(chunks) {
  std::vector<std::pair<std::string, const v1::Member*>> keyed;
  for (const auto& member : members) {
    keyed.emplace_back(security::Sha256(util::StrCat(object_id, "\n", member.node())), &member);
  }
  std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->node() < b.second->node();
  });
  std::map<std::string, size_t> rack_ids;
  for (const auto& [key, member] : keyed) {
    if (!order_.empty() && order_.back().node() == member->node()) continue;
    const auto [found, fresh] = rack_ids.emplace(member->rack(), racks_.size());
    if (fresh) racks_.emplace_back();
    racks_[found->second].push_back(order_.size());
    rack_of_.push_back(found->second);
    order_.push_back(*member);
  }
}

size_t Plan::Find(std::string_view name) const {
  for (size_t i = 0; i < order_.size(); ++i) {
    if (order_[i].node() == name) return i;
  }
  return order_.size();
}

size_t Plan::Reader(uint64_t chunk) const { return chunk / kRunChunks % order_.size(); }

size_t Plan::Parent(uint64_t chunk, size_t member) const {
  const size_t reader = Reader(chunk);
  if (member == reader) return reader;
  const size_t home = rack_of_[reader];
  const uint64_t turn = chunk / kRunChunks;
  // The member of a rack that brings the chunk in; another one for each run.
  const auto leader = [&](size_t rack) {
    return rack == home ? reader : racks_[rack][turn % racks_[rack].size()];
  };
  const size_t rack = rack_of_[member];
  if (member == leader(rack)) {
    // Binary tree over the racks, the reader's first.
    const size_t place = (rack + racks_.size() - home) % racks_.size();
    return leader(((place - 1) / 2 + home) % racks_.size());
  }
  // Binary tree within the rack, starting at the leader.
  const auto& mates = racks_[rack];
  const size_t start =
      static_cast<size_t>(std::find(mates.begin(), mates.end(), leader(rack)) - mates.begin());
  const size_t at =
      static_cast<size_t>(std::find(mates.begin(), mates.end(), member) - mates.begin());
  const size_t place = (at + mates.size() - start) % mates.size();
  return mates[((place - 1) / 2 + start) % mates.size()];
}

std::vector<uint64_t> Plan::FetchOrder(size_t member) const {
  std::vector<uint64_t> order;
  const uint64_t runs = (chunks_ + kRunChunks - 1) / kRunChunks;
  for (uint64_t round = 0; round * order_.size() < runs; ++round) {
    for (uint64_t in_run = 0; in_run < kRunChunks; ++in_run) {
      for (size_t i = 1; i < order_.size(); ++i) {
        const uint64_t run = round * order_.size() + (member + i) % order_.size();
        const uint64_t chunk = run * kRunChunks + in_run;
        if (chunk < chunks_) order.push_back(chunk);
      }
    }
  }
  return order;
}

size_t Plan::Succession(uint64_t chunk, size_t member) const {
  return (member + order_.size() - Reader(chunk)) % order_.size();
}

}  // namespace aistation::transfer
