// SPDX-License-Identifier: Apache-2.0
#include "job/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "util/strings.h"

namespace aistation::job {
namespace {

absl::StatusOr<std::string> FindProgram(const std::string& name,
                                        const std::map<std::string, std::string>& environment,
                                        const std::string& directory) {
  if (name.empty()) return util::InvalidArgument("job.program", "the command is empty");
  if (name.find('/') != std::string::npos) {
    const std::string path = name[0] == '/' ? name : util::JoinPath(directory, name);
    if (access(path.c_str(), X_OK) != 0) {
      return util::ErrnoError(errno, "job.program",
                              util::StrCat("program ", path, " cannot be run on this node"));
    }
    return path;
  }
  const auto it = environment.find("PATH");
  const std::string path = it != environment.end() ? it->second : "/usr/local/bin:/usr/bin:/bin";
  for (const std::string_view part : util::Split(path, ':')) {
    if (part.empty()) continue;
    std::string candidate = util::JoinPath(part, name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return util::NotFound("job.program", util::StrCat("program ", name, " is not in PATH ", path));
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* directory;
  int null_fd;
  int output_fd;
  pid_t parent;
};

// Runs in the memory of the parent until exec: only system calls, no allocation. Returns the errno.
__attribute__((noinline)) int RunChild(const ChildPlan& plan) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.parent) return ESRCH;  // died meanwhile
  setpgid(0, 0);
  for (const int sig : {SIGPIPE, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    signal(sig, SIG_DFL);  // "ignored" would be inherited
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (chdir(plan.directory) != 0) return errno;
  if (dup2(plan.null_fd, 0) < 0 || dup2(plan.output_fd, 1) < 0 || dup2(plan.output_fd, 2) < 0) {
    return errno;
  }
  syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  execve(plan.program, plan.argv, plan.envp);
  return errno;
}

}  // namespace

absl::StatusOr<Spawned> Spawn(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& environment,
                              const std::string& directory) {
  if (command.empty()) return util::InvalidArgument("job.program", "the command is empty");
  AIST_ASSIGN_OR_RETURN(const std::string program, FindProgram(command[0], environment, directory));
  if (access(directory.c_str(), X_OK) != 0) {
    return util::ErrnoError(errno, "job.directory",
                            util::StrCat("cannot work in directory ", directory));
  }
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(variables);
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return util::ErrnoError(errno, "job.pipe", "cannot make a pipe for the output of a process");
  }
  util::Fd read_end(pipe_fds[0]);
  util::Fd write_end(pipe_fds[1]);
  fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  fcntl(read_end.get(), F_SETPIPE_SZ,
        1 << 20);  // fewer stops of one that prints much; may be refused
  AIST_ASSIGN_OR_RETURN(const util::Fd null_fd, util::OpenFile("/dev/null", O_RDONLY));
  const ChildPlan plan{program.c_str(), argv.data(),     envp.data(), directory.c_str(),
                       null_fd.get(),   write_end.get(), getpid()};
  volatile int child_errno = 0;  // written by the child in our memory
  // vfork: no copy of page tables, and no fork handlers of the host run.
  const pid_t pid = vfork();
  if (pid == 0) {
    child_errno = RunChild(plan);
    _exit(127);
  }
  if (pid < 0) return util::ErrnoError(errno, "job.spawn", "cannot start a process");
  const int failed = child_errno;
  if (failed != 0) {
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
    return util::ErrnoError(failed, "job.program",
                            util::StrCat("cannot run ", program, " in ", directory));
  }
  Spawned out;
  out.pid = pid;
  out.pidfd = util::Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  out.output = std::move(read_end);
  if (!out.pidfd.valid()) {
    const int error = errno;
    kill(-pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
    return util::ErrnoError(error, "job.spawn", "cannot watch a process (pidfd_open)");
  }
  return out;
}

}  // namespace aistation::job
