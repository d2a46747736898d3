// SPDX-License-Identifier: Apache-2.0
// The command line tool: finds the subcommand, runs it, turns errors into messages and exit codes.
#include <cstdio>

#include "aistation/cli.h"

namespace {

using cli::Command;
using cli::Json;

constexpr const char* kExitCodes =
    "exit codes:\n"
    "  0    done\n"
    "  1    the operation failed\n"
    "  2    wrong command line, or a file or document that is not what was expected\n"
    "  3    refused: quota or placement (plan, alloc, submit), permission, identity\n"
    "  4    not found\n"
    "  5    the job ended without success\n"
    "  6    a check failed: a pair of NICs does not reach, the audit log or data are damaged\n"
    "  7    unavailable for now: an agent, a registry, a time limit; trying again may help\n"
    "  130  interrupted by Ctrl-C\n";

std::vector<Command> AllCommands() {
  std::vector<Command> all;
  for (auto part : {cli::DeviceCommands, cli::AllocCommands, cli::ImageCommands,
                    cli::DatasetCommands, cli::JobCommands, cli::ReportCommands}) {
    for (Command& command : part()) all.push_back(std::move(command));
  }
  return all;
}

std::string GlobalHelp(const std::vector<Command>& commands) {
  std::string out =
      "aistation: cards, topology, placement, images, datasets and jobs of an AI computing centre\n"
      "\nusage: aistation COMMAND [options] [arguments]\n\ncommands:\n";
  for (const Command& command : commands) {
    std::string left = "  " + command.spec.name;
    left.resize(std::max<size_t>(left.size(), 12), ' ');
    out += left + "  " + command.spec.summary + "\n";
  }
  out += "  help        this text, 'help COMMAND', or 'help exit-codes'\n";
  out +=
      "\nexamples:\n"
      "  aistation discover\n"
      "  aistation plan --inventory examples/data/cluster.json --cards 16 --need-nics\n"
      "  aistation submit job.json --inventory cluster.json --store centre.db\n"
      "  aistation report --store centre.db --output report.html\n"
      "\n--json gives one JSON document on stdout for every command, also for errors.\n";
  return out + "\n" + kExitCodes;
}

void PrintError(bool json, const char* code, const std::string& reason,
                const std::string& message) {
  if (json) {
    const Json error = {{"code", code}, {"reason", reason}, {"message", message}};
    std::printf("%s\n", error.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    std::fprintf(stderr, "aistation: %s%s%s%s\n", message.c_str(), reason.empty() ? "" : " (",
                 reason.c_str(), reason.empty() ? "" : ")");
  }
}

const Command* Find(const std::vector<Command>& commands, const std::string& name) {
  for (const Command& command : commands) {
    if (command.spec.name == name) return &command;
  }
  return nullptr;
}

int RunHelp(const std::vector<Command>& commands, const std::string& topic) {
  if (topic.empty()) {
    std::fputs(GlobalHelp(commands).c_str(), stdout);
    return cli::kOk;
  }
  if (topic == "exit-codes") {
    std::fputs(kExitCodes, stdout);
    return cli::kOk;
  }
  if (const Command* command = Find(commands, topic)) {
    std::fputs(examples::Help("aistation", command->spec, cli::CommonOptions()).c_str(), stdout);
    return cli::kOk;
  }
  std::fprintf(stderr, "aistation: no help on '%s'\n", topic.c_str());
  return cli::kUsage;
}

int Run(const Command& command, const std::vector<std::string>& words, bool json) {
  try {
    const cli::Args args = cli::Args::Parse(command.spec, cli::CommonOptions(), words);
    if (args.Has("help")) {
      std::fputs(examples::Help("aistation", command.spec, cli::CommonOptions()).c_str(), stdout);
      return cli::kOk;
    }
    cli::Session session(args);
    return command.run(session);
  } catch (const cli::UsageError& error) {
    PrintError(json, "INVALID_ARGUMENT", json ? "cli.usage" : "", error.what());
    if (!json) std::fprintf(stderr, "Try 'aistation %s --help'.\n", command.spec.name.c_str());
    return cli::kUsage;
  } catch (const aist::Error& error) {
    PrintError(json, aist_status_name(error.code()), error.reason(), error.message());
    return cli::ExitCode(error);
  } catch (const std::exception& error) {
    PrintError(json, "INTERNAL", "cli.exception", error.what());
    return cli::kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Command> commands = AllCommands();
  std::vector<std::string> words(argv + 1, argv + argc);
  bool json = false;
  for (const std::string& word : words) json = json || word == "--json";
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    return RunHelp(commands, words.size() > 1 && words[0] == "help" ? words[1] : "");
  }
  if (words[0] == "--version") words[0] = "version";
  const std::string name = words[0];
  const Command* command = Find(commands, name);
  if (command == nullptr) {
    PrintError(json, "INVALID_ARGUMENT", json ? "cli.usage" : "",
               "no command '" + name + "'; 'aistation help' lists them");
    return cli::kUsage;
  }
  words.erase(words.begin());
  return Run(*command, words, json);
}
