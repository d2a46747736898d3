// SPDX-License-Identifier: Apache-2.0
// Strict reading of JSON into values: bounded, no duplicate keys, errors that name the field.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "util/status.h"
#include "util/strings.h"

namespace aistation::wire {

using Json = nlohmann::json;

inline constexpr size_t kMaxJsonBytes = 64u << 20;
inline constexpr int kMaxJsonDepth = 64;

// Parses JSON; // and /* */ comments are allowed. Errors name `source`, line and column. Depth at
// most 64, size at most 64 MiB, no key twice in one object.
absl::StatusOr<Json> ParseJson(std::string_view text, std::string_view source);

// Where a value lies in a document; lives on the stack while reading.
struct Path {
  Path(const Path* parent_path, std::string_view key) : parent(parent_path), name(key) {}
  Path(const Path* parent_path, size_t position)
      : parent(parent_path), index(position), is_index(true) {}
  std::string ToString() const;  // "file.json: nodes[2].cards"

  const Path* parent;
  std::string_view name;
  size_t index = 0;
  bool is_index = false;
};

namespace internal {

absl::Status Expected(const Path& path, std::string_view expected, const Json& got);
absl::Status UnknownField(const Path& path, std::string_view key, std::string_view known);
absl::Status ExpectObject(const Json& json, const Path& path);
absl::Status ExpectArray(const Json& json, const Path& path);
absl::Status ReadString(const Json& json, const Path& path, std::string* out);
absl::Status ReadBytes(const Json& json, const Path& path, std::string* out);
absl::Status ReadBool(const Json& json, const Path& path, bool* out);
absl::Status ReadDouble(const Json& json, const Path& path, double* out);
absl::Status ReadSigned(const Json& json, const Path& path, int64_t least, int64_t most,
                        int64_t* out);
absl::Status ReadUnsigned(const Json& json, const Path& path, uint64_t most, uint64_t* out);
absl::Status ReadEnum(const Json& json, const Path& path,
                      bool (*parse)(const std::string& name, int* value), int* out);

template <class T>
absl::Status ReadInt(const Json& json, const Path& path, T* out) {
  if constexpr (std::is_signed_v<T>) {
    int64_t value = 0;
    AIST_RETURN_IF_ERROR(ReadSigned(json, path, std::numeric_limits<T>::min(),
                                    std::numeric_limits<T>::max(), &value));
    *out = static_cast<T>(value);
  } else {
    uint64_t value = 0;
    AIST_RETURN_IF_ERROR(ReadUnsigned(json, path, std::numeric_limits<T>::max(), &value));
    *out = static_cast<T>(value);
  }
  return absl::OkStatus();
}

template <class T>
absl::Status ReadKey(const std::string& key, const Path& path, T* out) {
  const auto value = util::ParseInt<T>(key);
  if (!value.has_value()) return Expected(path, "a number as key", Json(key));
  *out = *value;
  return absl::OkStatus();
}

}  // namespace internal
}  // namespace aistation::wire
