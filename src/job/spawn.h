// SPDX-License-Identifier: Apache-2.0
// One process in a group of its own, tied to the life of the thread that starts it.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "util/file.h"
#include "util/status.h"

namespace aistation::job {

struct Spawned {
  pid_t pid = -1;
  util::Fd pidfd;   // readable once ended
  util::Fd output;  // stdout and stderr, non-blocking
};

// `command[0]` without '/' is looked for in PATH of `environment`. The kernel kills the process
// when the calling thread ends. Nothing but stdin (/dev/null), stdout and stderr is inherited.
// NOT_FOUND `job.program`, PERMISSION_DENIED, RESOURCE_EXHAUSTED.
absl::StatusOr<Spawned> Spawn(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& environment,
                              const std::string& directory);

}  // namespace aistation::job
