// SPDX-License-Identifier: Apache-2.0
// Keys: alloc/decision (number of decisions so far: every change is conditional on it),
// alloc/inventory, alloc/grant/<id> (held), alloc/cordon/<node>[/<card>] (value: why),
// alloc-history/<id> (given back).
#include "alloc/allocator.h"

#include <algorithm>
#include <set>

#include "util/strings.h"
#include "wire/wire.h"

namespace aistation::alloc {
namespace {

constexpr const char* kDecision = "alloc/decision";
constexpr const char* kInventory = "alloc/inventory";
constexpr std::string_view kGrant = "alloc/grant/";
constexpr std::string_view kCordon = "alloc/cordon/";
constexpr std::string_view kHistory = "alloc-history/";
constexpr uint32_t kMaxEntries = 200'000;
constexpr int kMaxRetries = 1000;

struct Snapshot {
  v1::AllocationState state;
  uint64_t decisions = 0;
  int64_t decision_revision = 0;
};

template <class M>
absl::StatusOr<M> Decode(const store::Entry& entry) {
  M message;
  if (!message.ParseFromString(entry.value)) {
    return util::DataLoss("alloc.record", util::StrCat("store key ", entry.key,
                                                       " does not hold the record it should"));
  }
  return message;
}

class StoreAllocator final : public Allocator {
 public:
  StoreAllocator(std::shared_ptr<store::Store> store, util::Clock& clock)
      : store_(std::move(store)), clock_(clock) {}

  absl::Status SetInventory(const v1::Inventory& inventory) {
    AIST_RETURN_IF_ERROR(CheckInventory(inventory));
    return Change([&](const Snapshot&, std::vector<store::Write>* writes) {
      writes->push_back({kInventory, wire::Serialize(inventory), 0});
      return absl::OkStatus();
    });
  }

  absl::StatusOr<v1::AllocationState> State() override {
    AIST_ASSIGN_OR_RETURN(Snapshot snapshot, Read());
    return std::move(snapshot.state);
  }

  absl::StatusOr<v1::Placement> DryRun(const v1::PlacementRequest& request) override {
    AIST_RETURN_IF_ERROR(CheckRequest(request));
    AIST_ASSIGN_OR_RETURN(const Snapshot snapshot, Read());
    return Plan(snapshot.state, request);
  }

  absl::StatusOr<v1::Placement> Allocate(const v1::PlacementRequest& request) override;
  absl::Status Release(std::string_view grant_id) override;
  absl::Status Cordon(std::string_view node, std::string_view card_id, bool on,
                      std::string_view why) override;

 private:
  absl::StatusOr<Snapshot> Read();
  // Decides anew until nobody else has decided meanwhile. `decide` adds no writes: nothing to do.
  template <class Decide>
  absl::Status Change(Decide&& decide);

  const std::shared_ptr<store::Store> store_;
  util::Clock& clock_;
};

absl::StatusOr<Snapshot> StoreAllocator::Read() {
  AIST_ASSIGN_OR_RETURN(const auto range, store_->Range("alloc/", kMaxEntries));
  if (range.more) {
    return util::Error(absl::StatusCode::kResourceExhausted, "alloc.too_many",
                       "the ledger has more than 200,000 entries");
  }
  Snapshot out;
  for (const auto& entry : range.entries) {
    const std::string_view key = entry.key;
    if (key == kDecision) {
      out.decisions = util::ParseInt<uint64_t>(entry.value).value_or(0);
      out.decision_revision = entry.revision;
    } else if (key == kInventory) {
      AIST_ASSIGN_OR_RETURN(*out.state.mutable_inventory(), Decode<v1::Inventory>(entry));
    } else if (key.starts_with(kGrant)) {
      AIST_ASSIGN_OR_RETURN(*out.state.add_grants(), Decode<v1::Grant>(entry));
    } else if (key.starts_with(kCordon)) {
      const std::string_view name = key.substr(kCordon.size());
      const size_t slash = name.find('/');
      if (slash == std::string_view::npos) {
        out.state.add_cordoned_nodes(std::string(name));
      } else {
        out.state.add_cordoned_cards(std::string(name.substr(slash + 1)));
      }
    }
  }
  for (const auto& grant : out.state.grants()) {
    const auto& placement = grant.placement();
    uint32_t cards = 0;
    for (const auto& node : placement.nodes()) cards += static_cast<uint32_t>(node.cards_size());
    (*out.state.mutable_used_by_department())[placement.request().department()] += cards;
  }
  return out;
}

template <class Decide>
absl::Status StoreAllocator::Change(Decide&& decide) {
  for (int attempt = 0; attempt < kMaxRetries; ++attempt) {
    AIST_ASSIGN_OR_RETURN(const Snapshot snapshot, Read());
    std::vector<store::Write> writes;
    AIST_RETURN_IF_ERROR(decide(snapshot, &writes));
    if (writes.empty()) return absl::OkStatus();
    writes.push_back({kDecision, util::StrCat(snapshot.decisions + 1), 0});
    const auto revision = store_->Txn({{kDecision, snapshot.decision_revision}}, writes);
    if (revision.ok()) return absl::OkStatus();
    if (!absl::IsAborted(revision.status())) return revision.status();
  }
  return util::Error(absl::StatusCode::kAborted, "alloc.busy",
                     "other allocators decide faster than this one can; try again");
}

absl::StatusOr<v1::Placement> StoreAllocator::Allocate(const v1::PlacementRequest& request) {
  AIST_RETURN_IF_ERROR(CheckRequest(request));
  v1::Placement out;
  AIST_RETURN_IF_ERROR(Change([&](const Snapshot& snapshot, std::vector<store::Write>* writes) {
    const std::string id = request.request_id().empty()
                               ? util::StrCat("grant-", snapshot.decisions + 1)
                               : request.request_id();
    for (const auto& grant : snapshot.state.grants()) {
      if (grant.placement().grant_id() != id) continue;
      if (wire::Serialize(grant.placement().request()) != wire::Serialize(request)) {
        return util::Error(
            absl::StatusCode::kAlreadyExists, "alloc.request_id",
            util::StrCat("request id ", id, " was used for another request; choose a new one"));
      }
      out = grant.placement();
      return absl::OkStatus();
    }
    if (store_->Get(util::StrCat(kHistory, id)).ok()) {
      return util::FailedPrecondition(
          "alloc.released",
          util::StrCat("the grant of request id ", id, " was given back; choose a new one"));
    }
    out = Plan(snapshot.state, request);
    if (out.has_refusal()) {
      return util::Error(
          absl::StatusCode::kResourceExhausted, "alloc." + out.refusal().constraint(),
          out.refusal().nearest().empty()
              ? out.refusal().sentence()
              : util::StrCat(out.refusal().sentence(), " (", out.refusal().nearest(), ")"));
    }
    out.set_dry_run(false);
    out.set_grant_id(id);
    v1::Grant grant;
    *grant.mutable_placement() = out;
    grant.set_granted_unix_ns(clock_.UnixNanos());
    writes->push_back({util::StrCat(kGrant, id), wire::Serialize(grant), 0});
    return absl::OkStatus();
  }));
  return out;
}

absl::Status StoreAllocator::Release(std::string_view grant_id) {
  return Change([&](const Snapshot& snapshot, std::vector<store::Write>* writes) {
    for (const auto& held : snapshot.state.grants()) {
      if (held.placement().grant_id() != grant_id) continue;
      v1::Grant grant = held;
      grant.set_released_unix_ns(clock_.UnixNanos());
      writes->push_back({util::StrCat(kGrant, grant_id), std::nullopt, 0});
      writes->push_back({util::StrCat(kHistory, grant_id), wire::Serialize(grant), 0});
      return absl::OkStatus();
    }
    if (!grant_id.empty() && grant_id.size() <= 256 &&
        store_->Get(util::StrCat(kHistory, grant_id)).ok()) {
      return absl::OkStatus();
    }
    return util::NotFound("alloc.no_grant",
                          util::StrCat("there is no grant ", util::Excerpt(grant_id)));
  });
}

absl::Status StoreAllocator::Cordon(std::string_view node, std::string_view card_id, bool on,
                                    std::string_view why) {
  return Change([&](const Snapshot& snapshot, std::vector<store::Write>* writes) {
    bool known = false;
    for (const auto& entry : snapshot.state.inventory().nodes()) {
      if (entry.name() != node) continue;
      known = card_id.empty();
      for (const auto& card : entry.cards()) known = known || card.id() == card_id;
    }
    if (!known) {
      return util::NotFound(
          "alloc.no_device",
          util::StrCat("there is no ",
                       card_id.empty() ? "node "
                                       : util::StrCat("card ", util::Excerpt(card_id), " on node "),
                       util::Excerpt(node), " in the inventory"));
    }
    std::string key = util::StrCat(kCordon, node);
    if (!card_id.empty()) util::StrAppend(&key, "/", card_id);
    writes->push_back({key, on ? std::optional(std::string(why)) : std::nullopt, 0});
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<Allocator>> Allocator::Open(std::shared_ptr<store::Store> store,
                                                           const v1::Inventory* inventory,
                                                           util::Clock& clock) {
  auto out = std::make_shared<StoreAllocator>(std::move(store), clock);
  if (inventory != nullptr) {
    AIST_RETURN_IF_ERROR(out->SetInventory(*inventory));
  } else {
    AIST_ASSIGN_OR_RETURN(const v1::AllocationState state, out->State());
    if (state.inventory().nodes().empty()) {
      return util::NotFound("alloc.no_inventory",
                            "the store holds no inventory of machines; give one");
    }
  }
  return std::shared_ptr<Allocator>(std::move(out));
}

}  // namespace aistation::alloc
