// SPDX-License-Identifier: Apache-2.0
// Documents: the messages of include/aistation/v1 as protobuf bytes or as JSON.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/json_writer.h"
#include "util/op.h"
#include "util/status.h"
#include "util/strings.h"
#include "wire/messages.h"  // generated: WriteJson() of each message

namespace aistation::wire {

enum class Format { kProtobuf = 1, kJson = 2 };  // as AIST_FORMAT_*

inline constexpr size_t kMaxDocumentBytes = 64u << 20;

// Reads a document strictly. `source` names it in errors: a file, or "inventory". Generated.
template <class M>
absl::StatusOr<M> FromJson(std::string_view text, std::string_view source);

template <class M>
std::string ToJson(const M& message, int indent = 0) {
  util::JsonWriter writer(indent);
  WriteJson(writer, message);
  return writer.Take();
}

namespace internal {
// Same message, same bytes, also with maps: documents are hashed and compared.
std::string SerializeDeterministic(const google::protobuf::MessageLite& message);
absl::Status ParseProtobuf(std::string_view bytes, std::string_view source,
                           google::protobuf::MessageLite* out);

template <class Map>
auto Sorted(const Map& map) {
  std::vector<const typename Map::value_type*> entries;
  entries.reserve(map.size());
  for (const auto& entry : map) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->first < b->first; });
  return entries;
}

inline void WriteEnum(util::JsonWriter& w, int value, const std::string& name) {
  if (name.empty()) {
    w.Int(value);
  } else {
    w.String(name);
  }
}
}  // namespace internal

inline std::string Serialize(const google::protobuf::MessageLite& message) {
  return internal::SerializeDeterministic(message);
}

template <class M>
absl::StatusOr<M> Parse(Format format, std::string_view bytes, std::string_view source) {
  if (format == Format::kJson) return FromJson<M>(bytes, source);
  M message;
  AIST_RETURN_IF_ERROR(internal::ParseProtobuf(bytes, source, &message));
  return message;
}

template <class M>
std::string Render(Format format, const M& message) {
  return format == Format::kJson ? ToJson(message) : Serialize(message);
}

// Result of an operation: rendered when asked for.
template <class M>
util::OpResult Result(M message) {
  return [m = std::make_shared<const M>(std::move(message))](bool as_json) {
    return Render(as_json ? Format::kJson : Format::kProtobuf, *m);
  };
}

}  // namespace aistation::wire
