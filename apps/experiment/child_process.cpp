// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace lssm {
namespace {

constexpr int kCannotStart = 127;
constexpr const char* kThisProgram = "/proc/self/exe";

// In the child, after fork: only system calls. Returns if it failed.
void become_program(char* const* arguments, char* const* environment, int errors, pid_t parent,
                    const sigset_t& signals) {
  // The parent's handler must not swallow what is meant for this process.
  if (std::signal(SIGTERM, SIG_DFL) == SIG_IGN) std::signal(SIGTERM, SIG_IGN);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int none = open("/dev/null", O_RDWR);
  if (none < 0 || dup2(none, 0) < 0 || dup2(none, 1) < 0 || dup2(errors, 2) < 0) return;
  if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return;
  if (getppid() != parent) return;  // it ended before it could be watched
  execve(kThisProgram, arguments, environment);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, int64_t thread_limit) {
  std::vector<std::string> words = arguments, settings;
  words.insert(words.begin(), "lssm");
  for (char** entry = environ; *entry; ++entry) settings.push_back(*entry);
  if (thread_limit > 0) {
    const std::string name = "OMP_THREAD_LIMIT=";
    std::erase_if(settings, [&](const std::string& s) { return s.starts_with(name); });
    settings.push_back(text(name, thread_limit));
  }
  const std::vector<char*> argv = pointers(words), environment = pointers(settings);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    fail_file("a run cannot be started: no pipe: ", std::strerror(errno));
  sigset_t term, signals;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &signals);
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) {
    fcntl(ends[1], F_SETFL, 0);  // its writes may wait
    become_program(argv.data(), environment.data(), ends[1], parent, signals);
    _exit(kCannotStart);
  }
  const int error = errno;
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  close(ends[1]);
  pipe_ = ends[0];
  if (child_ < 0) {
    close(pipe_);
    fail_file("a run cannot be started: ", std::strerror(error));
  }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(child_, other.child_);
  std::swap(pipe_, other.pipe_);
  std::swap(status_, other.status_);
  std::swap(errors_, other.errors_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (child_ > 0) {
    kill(child_, SIGTERM);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (pipe_ >= 0) close(pipe_);
}

void ChildProcess::read_errors() {
  constexpr size_t kKept = 1 << 14;
  char buffer[1 << 12];
  while (pipe_ >= 0) {
    const ssize_t got = read(pipe_, buffer, sizeof buffer);
    if (got > 0) {
      errors_.append(buffer, size_t(got));
      if (errors_.size() > kKept) errors_.erase(0, errors_.size() - kKept);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && errno == EAGAIN) {
      return;
    } else {
      close(pipe_);
      pipe_ = -1;
    }
  }
}

bool ChildProcess::poll() {
  read_errors();
  // Nothing but its end closes its stderr.
  if (child_ > 0 && waitpid(child_, &status_, pipe_ < 0 ? 0 : WNOHANG) == child_) {
    child_ = -1;
    read_errors();
  }
  return child_ < 0;
}

void ChildProcess::send(int signal) const {
  if (child_ > 0) kill(child_, signal);
}

int ChildProcess::killed_by() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

int ChildProcess::exit_code() const {
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::string ChildProcess::last_line() const {
  const size_t end = errors_.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const size_t before = errors_.find_last_of("\r\n", end);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return errors_.substr(begin, end + 1 - begin);
}

}  // namespace lssm
