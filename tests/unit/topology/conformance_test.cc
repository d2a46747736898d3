// SPDX-License-Identifier: Apache-2.0
// Machines of other people, where they are at hand: AISTATION_SHARED, or ../shared beside the
// checkout.
#include <cstdlib>

#include "topology/topology.h"
#include "unit/testing/matchers.h"
#include "util/file.h"
#include "util/strings.h"

namespace aistation::topology {
namespace {

std::string SharedDirectory() {
  const char* named = getenv("AISTATION_SHARED");
  return util::JoinPath(named != nullptr ? named : AIST_SOURCE_DIR "/../shared", "data/topology");
}

TEST(Conformance, MachinesOfOthersAreRead) {
  const std::string base = SharedDirectory();
  if (!util::Exists(base)) GTEST_SKIP() << "no machines of others at " << base;
  std::vector<std::string> directories = {base};
  int read = 0;
  int failed = 0;
  while (!directories.empty()) {
    const std::string directory = directories.back();
    directories.pop_back();
    const auto names = util::ListDirectory(directory);
    if (!names.ok()) continue;
    for (const auto& name : *names) {
      const std::string path = util::JoinPath(directory, name);
      if (util::ListDirectory(path).ok()) {
        directories.push_back(path);
        continue;
      }
      if (!name.ends_with(".xml")) continue;
      const auto topology = Load(SourceKind::kGuess, path);
      // Version 1 of hwloc's format is refused with a message that says so.
      if (topology.ok() || util::Message(topology.status()).find("version") != std::string::npos) {
        ++read;
      } else {
        ++failed;
        ADD_FAILURE() << path << ": " << topology.status();
      }
    }
  }
  std::printf("%d files\n", read + failed);
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace aistation::topology
