// SPDX-License-Identifier: Apache-2.0
#include "wire/json_reader.h"

#include <cmath>
#include <set>
#include <vector>

namespace aistation::wire {

std::string Path::ToString() const {
  if (parent == nullptr) return std::string(name);
  std::string out = parent->ToString();
  if (is_index) return util::StrCat(out, "[", index, "]");
  return util::StrCat(out, parent->parent == nullptr ? ": " : ".", util::Excerpt(name, 64));
}

absl::StatusOr<Json> ParseJson(std::string_view text, std::string_view source) {
  if (text.size() > kMaxJsonBytes) {
    return util::InvalidArgument(
        "json.too_large", util::StrCat(source, ": larger than ", util::FormatBytes(kMaxJsonBytes)));
  }
  // The callback sees each key as it is read: the only place where duplicates are still visible.
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxJsonDepth) too_deep = true;
    if (event == Json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key && duplicate.empty()) {
      if (!keys.back().insert(value.get_ref<const std::string&>()).second) {
        duplicate = value.get<std::string>();
      }
    }
    return !too_deep;  // discarding keeps the tree shallow
  };
  Json json;
  try {
    json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/true,
                       /*ignore_comments=*/true);
  } catch (const Json::exception& e) {
    std::string_view what = e.what();
    if (const size_t at = what.find("] "); at != std::string_view::npos) what.remove_prefix(at + 2);
    return util::InvalidArgument(
        "json.syntax", util::StrCat(source, ": not valid JSON: ", util::Excerpt(what, 300)));
  }
  if (too_deep) {
    return util::InvalidArgument(
        "json.too_deep", util::StrCat(source, ": nested deeper than ", kMaxJsonDepth, " levels"));
  }
  if (!duplicate.empty()) {
    return util::InvalidArgument("json.duplicate_key",
                                 util::StrCat(source, ": the key \"", util::Excerpt(duplicate),
                                              "\" occurs twice in one object"));
  }
  return json;
}

namespace internal {

absl::Status Expected(const Path& path, std::string_view expected, const Json& got) {
  std::string seen = got.type_name();
  if (got.is_primitive() && !got.is_null()) {
    seen = util::Excerpt(got.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
  }
  return util::InvalidArgument(
      "json.field", util::StrCat(path.ToString(), ": expected ", expected, ", got ", seen));
}

absl::Status UnknownField(const Path& path, std::string_view key, std::string_view known) {
  const Path at{&path, key};
  return util::InvalidArgument(
      "json.unknown_field",
      util::StrCat(at.ToString(), ": unknown field; expected one of: ", known));
}

absl::Status ExpectObject(const Json& json, const Path& path) {
  return json.is_object() ? absl::OkStatus() : Expected(path, "an object", json);
}

absl::Status ExpectArray(const Json& json, const Path& path) {
  return json.is_array() ? absl::OkStatus() : Expected(path, "an array", json);
}

absl::Status ReadString(const Json& json, const Path& path, std::string* out) {
  if (!json.is_string()) return Expected(path, "a string", json);
  *out = json.get_ref<const std::string&>();
  return absl::OkStatus();
}

absl::Status ReadBytes(const Json& json, const Path& path, std::string* out) {
  std::string text;
  AIST_RETURN_IF_ERROR(ReadString(json, path, &text));
  auto decoded = util::Base64Decode(text);
  if (!decoded.has_value()) return Expected(path, "base64", json);
  *out = std::move(*decoded);
  return absl::OkStatus();
}

absl::Status ReadBool(const Json& json, const Path& path, bool* out) {
  if (!json.is_boolean()) return Expected(path, "true or false", json);
  *out = json.get<bool>();
  return absl::OkStatus();
}

absl::Status ReadDouble(const Json& json, const Path& path, double* out) {
  if (!json.is_number()) return Expected(path, "a number", json);
  *out = json.get<double>();
  return std::isfinite(*out) ? absl::OkStatus() : Expected(path, "a finite number", json);
}

absl::Status ReadSigned(const Json& json, const Path& path, int64_t least, int64_t most,
                        int64_t* out) {
  const std::string range = util::StrCat("an integer from ", least, " to ", most);
  if (json.is_string()) {
    const auto value = util::ParseInt<int64_t>(json.get_ref<const std::string&>());
    if (!value.has_value() || *value < least || *value > most) return Expected(path, range, json);
    *out = *value;
    return absl::OkStatus();
  }
  if (!json.is_number_integer()) return Expected(path, range, json);
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return Expected(path, range, json);
  }
  *out = json.get<int64_t>();
  return *out < least || *out > most ? Expected(path, range, json) : absl::OkStatus();
}

absl::Status ReadUnsigned(const Json& json, const Path& path, uint64_t most, uint64_t* out) {
  const std::string range = util::StrCat("an integer from 0 to ", most);
  if (json.is_string()) {
    const auto value = util::ParseInt<uint64_t>(json.get_ref<const std::string&>());
    if (!value.has_value() || *value > most) return Expected(path, range, json);
    *out = *value;
    return absl::OkStatus();
  }
  if (!json.is_number_unsigned()) return Expected(path, range, json);
  *out = json.get<uint64_t>();
  return *out > most ? Expected(path, range, json) : absl::OkStatus();
}

absl::Status ReadEnum(const Json& json, const Path& path,
                      bool (*parse)(const std::string& name, int* value), int* out) {
  if (json.is_string()) {
    if (parse(json.get_ref<const std::string&>(), out)) return absl::OkStatus();
    return Expected(path, "a known name of the enum", json);
  }
  int32_t value = 0;
  AIST_RETURN_IF_ERROR(ReadInt<int32_t>(json, path, &value));
  *out = value;
  return absl::OkStatus();
}

}  // namespace internal
}  // namespace aistation::wire
