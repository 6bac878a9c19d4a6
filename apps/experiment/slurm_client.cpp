// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/slurm_client.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <sstream>

#include "core/check.h"

namespace lssm {
namespace {

constexpr int kNotFound = 127;

// Reads both pipes to their ends, and closes them.
void read_both(int out, int err, CommandResult& result) {
  pollfd pipes[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[2] = {&result.out, &result.err};
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    if (::poll(pipes, 2, -1) < 0) continue;  // a signal
    for (int i = 0; i < 2; ++i) {
      if (pipes[i].fd < 0 || pipes[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = ::read(pipes[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, size_t(got));
      } else if (got == 0 || errno != EINTR) {
        ::close(pipes[i].fd);
        pipes[i].fd = -1;
      }
    }
  }
}

// The message of a command in one line.
std::string one_line(std::string message) {
  while (!message.empty() && std::isspace(static_cast<unsigned char>(message.back())))
    message.pop_back();
  for (size_t at = 0; (at = message.find('\n', at)) != std::string::npos;)
    message.replace(at, 1, "; ");
  return message;
}

// The result of a command of Slurm that must be there and succeed.
std::string ask(const std::vector<std::string>& arguments) {
  const CommandResult result = run_command(arguments);
  LSSM_CHECK(result.code != kNotFound, "sweep --on slurm: ", arguments[0],
             " was not found on PATH; run this on a machine that submits jobs to Slurm");
  if (result.code != 0) {
    const std::string message = one_line(result.err.empty() ? result.out : result.err);
    fail_file("sweep --on slurm: ", arguments[0], " failed with exit code ", result.code, ": ",
              message.empty() ? "it says nothing" : message);
  }
  return result.out;
}

// The value after "key=" up to the next space; "" if there is none.
std::string value_after(const std::string& text, const std::string& key) {
  const size_t at = text.find(key + "=");
  if (at == std::string::npos) return "";
  const size_t from = at + key.size() + 1;
  return text.substr(from, text.find_first_of(" \n", from) - from);
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0) fail_file(arguments[0], ": no pipe");
  if (::pipe2(err, O_CLOEXEC) != 0) fail_file(arguments[0], ": no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  pid_t child = -1;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  CommandResult result{kNotFound, "", ""};
  read_both(out[0], err[0], result);
  if (error != 0) return result;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string slurm_submit(const std::string& script) {
  const std::string out = ask({"sbatch", "--parsable", script});
  const std::string id = out.substr(0, out.find_first_of(";\n"));  // "12" or "12;cluster"
  const bool number = !id.empty() && std::all_of(id.begin(), id.end(),
                                                 [](unsigned char c) { return std::isdigit(c); });
  if (!number)
    fail_file("sweep --on slurm: sbatch: expected the id of a job, got \"", one_line(out), "\"");
  return id;
}

std::string SlurmTask::about() const {
  std::string text = state;
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  if (!reason.empty() && reason != "None") text += " (" + reason + ")";
  return text + " as " + job + "_" + std::to_string(index);
}

std::vector<SlurmTask> slurm_queue() {
  const std::string out = ask({"squeue", "--noheader", "--array", "--user",
                               std::to_string(::geteuid()), "--format=%F|%K|%T|%r"});
  std::vector<SlurmTask> tasks;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    SlurmTask task;
    std::string index;
    std::getline(fields, task.job, '|');
    std::getline(fields, index, '|');
    std::getline(fields, task.state, '|');
    std::getline(fields, task.reason);
    if (index.empty() || !std::isdigit(static_cast<unsigned char>(index[0]))) continue;  // no array
    task.index = std::stoul(index);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::string slurm_end_of(const std::string& job, size_t index) {
  const std::string task = job + "_" + std::to_string(index);
  const CommandResult known = run_command({"scontrol", "show", "job", task});
  if (known.code == 0 && !value_after(known.out, "JobState").empty()) {
    const std::string reason = value_after(known.out, "Reason");
    return value_after(known.out, "JobState") + (reason == "None" ? "" : " " + reason);
  }
  const CommandResult accounted = run_command(
      {"sacct", "--noheader", "--parsable2", "--allocations", "--jobs", task, "--format=State"});
  return accounted.code == 0 ? one_line(accounted.out) : "";
}

}  // namespace lssm
