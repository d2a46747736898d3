// SPDX-License-Identifier: Apache-2.0
#include "api/features.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <zstd.h>

#include <vector>

#include "util/file.h"
#include "util/json_writer.h"
#include "util/strings.h"

namespace aistation::api {
namespace {

struct Feature {
  const char* name;
  bool present;
  std::string detail;
};

std::vector<Feature> All() {
  const auto rdma = util::ListDirectory("/sys/class/infiniband");
  const bool verbs = rdma.ok() && !rdma->empty();
  std::vector<Feature> all;
  all.push_back({"tls1.3", true, OpenSSL_version(OPENSSL_VERSION)});
  all.push_back({"sqlite", true, sqlite3_libversion()});
  all.push_back({"http-client", true, curl_version()});
  all.push_back({"zstd", true, ZSTD_versionString()});
  all.push_back({"hwloc", false,
                 "this machine is read through sysfs; XML files of hwloc are read without hwloc"});
  all.push_back({"verbs", verbs,
                 verbs ? util::StrCat(rdma->size(), " RDMA devices")
                       : "no device in /sys/class/infiniband; TCP carries everything"});
  all.push_back({"rdma-transfer", false, "chunks travel by TCP in this version"});
  all.push_back({"etcd", false, "not in this version; use sqlite"});
  all.push_back({"bundled-protobuf", false, "links the system's protobuf-lite and Abseil"});
  return all;
}

}  // namespace

bool HasFeature(std::string_view name) {
  for (const Feature& f : All()) {
    if (f.name == name) return f.present;
  }
  return false;
}

std::string FeaturesJson() {
  util::JsonWriter w(2);
  w.BeginObject();
  for (const Feature& f : All()) {
    w.Key(f.name);
    w.BeginObject();
    w.Field("present", f.present);
    w.Field("detail", f.detail);
    w.EndObject();
  }
  w.EndObject();
  return w.Take();
}

}  // namespace aistation::api
