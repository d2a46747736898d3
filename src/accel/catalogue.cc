// SPDX-License-Identifier: Apache-2.0
#include "accel/catalogue.h"

#include <sys/stat.h>

#include "util/embedded.h"
#include "util/file.h"
#include "util/json_writer.h"
#include "util/strings.h"
#include "wire/json_reader.h"

namespace aistation::accel {
namespace {

using wire::Json;
using wire::Path;
namespace in = wire::internal;

constexpr size_t kMaxModels = 10'000;
constexpr std::string_view kFields =
    "vendor, model, pci_ids, pci_vf_ids, shared_pci_id, memory_gib, device_nodes, drivers, "
    "visible_devices_env, interconnect, link_gbytes_per_s";

absl::Status ReadStrings(const Json& json, const Path& path, std::vector<std::string>* out) {
  AIST_RETURN_IF_ERROR(in::ExpectArray(json, path));
  if (json.size() > 100) return in::Expected(path, "at most 100 strings", json);
  for (size_t i = 0; i < json.size(); ++i) {
    AIST_RETURN_IF_ERROR(in::ReadString(json[i], Path(&path, i), &out->emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status ReadPciIds(const Json& json, const Path& path, std::vector<std::string>* out) {
  AIST_RETURN_IF_ERROR(ReadStrings(json, path, out));
  for (size_t i = 0; i < out->size(); ++i) {
    const std::string& id = (*out)[i];
    if (id.size() != 9 || id[4] != ':' ||
        id.find_first_not_of("0123456789abcdef:") != std::string::npos) {
      return in::Expected(Path(&path, i), "vendor:device as in 10de:2330, lower case", json[i]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Model> ReadModel(const Json& json, const Path& path) {
  AIST_RETURN_IF_ERROR(in::ExpectObject(json, path));
  Model model;
  for (const auto& [key, value] : json.items()) {
    const Path field(&path, key);
    absl::Status status;
    double number = 0;
    if (key == "vendor") {
      status = in::ReadString(value, field, &model.vendor);
    } else if (key == "model") {
      status = in::ReadString(value, field, &model.model);
    } else if (key == "pci_ids") {
      status = ReadPciIds(value, field, &model.pci_ids);
    } else if (key == "pci_vf_ids") {
      status = ReadPciIds(value, field, &model.pci_vf_ids);
    } else if (key == "shared_pci_id") {
      status = in::ReadBool(value, field, &model.shared_pci_id);
    } else if (key == "memory_gib") {
      status = in::ReadDouble(value, field, &number);
      if (status.ok() && !(number > 0 && number < 65'536)) {
        status = in::Expected(field, "a number of GiB", value);
      }
      model.memory_bytes = static_cast<uint64_t>(number * (1u << 30));
    } else if (key == "device_nodes") {
      status = ReadStrings(value, field, &model.device_nodes);
    } else if (key == "drivers") {
      status = ReadStrings(value, field, &model.drivers);
    } else if (key == "visible_devices_env") {
      status = in::ReadString(value, field, &model.visible_devices_env);
    } else if (key == "interconnect") {
      status = in::ReadString(value, field, &model.interconnect);
    } else if (key == "link_gbytes_per_s") {
      status = in::ReadInt(value, field, &model.link_gbytes_per_s);
    } else {
      status = in::UnknownField(path, key, kFields);
    }
    if (!status.ok()) return status;
  }
  if (model.vendor.empty() || model.model.empty() || model.pci_ids.empty()) {
    return util::InvalidArgument("accel.catalogue",
                                 path.ToString() + ": vendor, model and pci_ids are needed");
  }
  return model;
}

void WriteStrings(util::JsonWriter& w, std::string_view key, const std::vector<std::string>& list) {
  w.Key(key);
  w.BeginArray();
  for (const auto& item : list) w.String(item);
  w.EndArray();
}

}  // namespace

absl::Status Catalogue::Add(std::string_view text, std::string_view source) {
  AIST_ASSIGN_OR_RETURN(const Json json, wire::ParseJson(text, source));
  const Path root(nullptr, source);
  AIST_RETURN_IF_ERROR(in::ExpectObject(json, root));
  for (const auto& [key, value] : json.items()) {
    if (key != "models") return in::UnknownField(root, key, "models");
    const Path list(&root, key);
    AIST_RETURN_IF_ERROR(in::ExpectArray(value, list));
    if (models_.size() + value.size() > kMaxModels) {
      return in::Expected(list, "at most 10,000 models", Json(value.size()));
    }
    for (size_t i = 0; i < value.size(); ++i) {
      AIST_ASSIGN_OR_RETURN(Model model, ReadModel(value[i], Path(&list, i)));
      for (const auto& known : models_) {
        for (const auto& id : model.pci_ids) {
          const Model* other = FindByPciId(id);
          const bool clash = other != nullptr && !(other->shared_pci_id && model.shared_pci_id);
          if (!clash && known.model != model.model) continue;
          return util::Error(absl::StatusCode::kAlreadyExists, "accel.duplicate",
                             util::StrCat(Path(&list, i).ToString(), ": ", model.model, " (", id,
                                          ") is in the catalogue already as ",
                                          clash ? other->model : known.model));
        }
      }
      models_.push_back(std::move(model));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Catalogue>> Catalogue::Parse(std::string_view text,
                                                                  std::string_view source) {
  auto catalogue = std::make_shared<Catalogue>();
  AIST_RETURN_IF_ERROR(catalogue->Add(text, source));
  return std::shared_ptr<const Catalogue>(std::move(catalogue));
}

absl::StatusOr<std::shared_ptr<const Catalogue>> Catalogue::Load(const std::string& path) {
  auto catalogue = std::make_shared<Catalogue>();
  if (path.empty()) {
    for (const auto& file : util::EmbeddedFiles()) {
      if (!file.name.starts_with("accel/catalogue/")) continue;
      AIST_RETURN_IF_ERROR(catalogue->Add(file.content, file.name));
    }
    return std::shared_ptr<const Catalogue>(std::move(catalogue));
  }
  std::vector<std::string> files = {path};
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    files.clear();
    AIST_ASSIGN_OR_RETURN(const auto names, util::ListDirectory(path, 1000));
    for (const auto& name : names) {
      if (name.ends_with(".jsonc") || name.ends_with(".json")) {
        files.push_back(util::JoinPath(path, name));
      }
    }
  }
  for (const auto& file : files) {
    AIST_ASSIGN_OR_RETURN(const std::string text, util::ReadFile(file, 16u << 20));
    AIST_RETURN_IF_ERROR(catalogue->Add(text, file));
  }
  return std::shared_ptr<const Catalogue>(std::move(catalogue));
}

const Model* Catalogue::FindByPciId(std::string_view pci_id) const {
  for (const auto& model : models_) {
    for (const auto* ids : {&model.pci_ids, &model.pci_vf_ids}) {
      for (const auto& id : *ids) {
        if (id == pci_id) return &model;
      }
    }
  }
  return nullptr;
}

const Model* Catalogue::FindByName(std::string_view name) const {
  for (const auto& model : models_) {
    if (model.model == name) return &model;
  }
  return nullptr;
}

std::string Catalogue::ToJson() const {
  util::JsonWriter w;
  w.BeginObject();
  w.Key("models");
  w.BeginArray();
  for (const auto& model : models_) {
    w.BeginObject();
    w.Field("vendor", model.vendor);
    w.Field("model", model.model);
    WriteStrings(w, "pci_ids", model.pci_ids);
    WriteStrings(w, "pci_vf_ids", model.pci_vf_ids);
    w.Field("shared_pci_id", model.shared_pci_id);
    if (model.memory_bytes != 0) {
      w.Key("memory_gib");
      w.Double(static_cast<double>(model.memory_bytes) / (1u << 30));
    }
    WriteStrings(w, "device_nodes", model.device_nodes);
    WriteStrings(w, "drivers", model.drivers);
    w.Field("visible_devices_env", model.visible_devices_env);
    w.Field("interconnect", model.interconnect);
    w.Field("link_gbytes_per_s", model.link_gbytes_per_s);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return w.Take();
}

}  // namespace aistation::accel
