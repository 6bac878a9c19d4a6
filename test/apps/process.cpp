// SPDX-License-Identifier: Apache-2.0
#include "test/apps/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>

namespace lssm {
namespace {

constexpr int kCannotStart = 127;
constexpr uid_t kNobody = 65534;

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// In the child, after fork: only system calls.
void prepare_child(const ProcessOptions& options, const std::string& folder) {
  if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(kCannotStart);
  if (options.file_size_limit >= 0) {
    const rlimit limit = {rlim_t(options.file_size_limit), rlim_t(options.file_size_limit)};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(kCannotStart);
  }
  if (options.unprivileged && geteuid() == 0 &&
      (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0)) {
    _exit(kCannotStart);
  }
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const ProcessOptions& options)
    : name_(arguments.at(0)), deadline_(now() + options.timeout_s) {
  std::vector<std::string> settings = {"OMP_WAIT_POLICY=passive"};
  for (char** entry = environ; *entry; ++entry) settings.push_back(*entry);
  for (const auto& [key, value] : options.environment) {
    std::erase_if(settings, [&](const std::string& s) { return s.starts_with(key + "="); });
    settings.push_back(key + "=" + value);
  }
  std::vector<char*> argv, environment;
  for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : settings) environment.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  const std::string folder = options.folder.string();

  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
    throw std::runtime_error("no pipes for " + name_);
  child_ = fork();
  if (child_ < 0) throw std::runtime_error("cannot fork for " + name_);
  if (child_ == 0) {
    const int sink = options.stdout_to.empty() ? out[1] : open(options.stdout_to.c_str(), O_WRONLY);
    const int input = open("/dev/null", O_RDONLY);
    if (dup2(input, 0) < 0 || dup2(sink, 1) < 0 || dup2(err[1], 2) < 0) _exit(kCannotStart);
    prepare_child(options, folder);
    execvpe(argv[0], argv.data(), environment.data());
    _exit(kCannotStart);
  }
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Process::~Process() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

bool Process::read_some() {
  if (out_ < 0 && err_ < 0) return false;
  if (now() > deadline_)
    throw std::runtime_error(name_ + " runs for too long; stderr: " + result_.err);
  pollfd both[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  poll(both, 2, 100);
  const auto take = [](const pollfd& ready, int& pipe, std::string& text) {
    if (pipe < 0 || ready.revents == 0) return;
    char buffer[1 << 14];
    const ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got > 0) {
      text.append(buffer, size_t(got));
    } else if (got == 0 || errno != EINTR) {
      close(pipe);
      pipe = -1;
    }
  };
  take(both[0], out_, result_.out);
  take(both[1], err_, result_.err);
  return true;
}

void Process::wait_for_lines(int64_t lines) {
  while (std::count(result_.err.begin(), result_.err.end(), '\n') < lines && read_some()) {
  }
}

void Process::send(int signal) { kill(child_, signal); }

ProcessResult Process::wait() {
  while (read_some()) {
  }
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  result_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result_;
}

ProcessResult run(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  return Process(arguments, options).wait();
}

}  // namespace lssm
