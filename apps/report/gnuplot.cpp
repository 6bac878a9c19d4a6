// SPDX-License-Identifier: Apache-2.0
#include "apps/report/gnuplot.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "core/check.h"

namespace lssm {
namespace {

constexpr int kPatience_ms = 60'000;  // without a sign of life: then gnuplot is stopped

// A descriptor that is closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Channels {
  Descriptor in, out, err;                    // ours
  Descriptor child_in, child_out, child_err;  // gnuplot's

  Channels() {
    int input[2], output[2], errors[2];
    // A socket, as only sockets can be written without a signal when the reader has gone.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0) fail_pipes();
    in.reset(input[0]);
    child_in.reset(input[1]);
    if (pipe2(output, O_CLOEXEC) != 0) fail_pipes();
    out.reset(output[0]);
    child_out.reset(output[1]);
    if (pipe2(errors, O_CLOEXEC) != 0) fail_pipes();
    err.reset(errors[0]);
    child_err.reset(errors[1]);
  }

 private:
  [[noreturn]] static void fail_pipes() { fail_file("gnuplot: no pipe to talk to it"); }
};

// -1 if it cannot be started.
pid_t start(const Channels& channels) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channels.child_in.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, channels.child_out.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, channels.child_err.get(), 2);
  std::string name = "gnuplot", defaults = "-d";  // -d: the user's own settings do not matter here
  char* const arguments[] = {name.data(), defaults.data(), nullptr};
  pid_t child = -1;
  if (posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

void send_some(Descriptor& to, std::string_view& rest) {
  const ssize_t sent = send(to.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) rest.remove_prefix(size_t(sent));
  const bool gone = sent < 0 && errno != EINTR && errno != EAGAIN;
  if (rest.empty() || gone) to.reset();
}

void read_some(Descriptor& from, std::string& into) {
  char buffer[1 << 14];
  const ssize_t got = read(from.get(), buffer, sizeof buffer);
  if (got > 0) {
    into.append(buffer, size_t(got));
  } else if (got == 0 || errno != EINTR) {
    from.reset();
  }
}

// Writes and reads in turns, so that neither side waits for the other. False: no sign of life.
bool talk(Channels& channels, std::string_view script, GnuplotResult& result) {
  if (script.empty()) channels.in.reset();
  while (channels.in.get() >= 0 || channels.out.get() >= 0 || channels.err.get() >= 0) {
    pollfd all[3] = {{channels.in.get(), POLLOUT, 0},
                     {channels.out.get(), POLLIN, 0},
                     {channels.err.get(), POLLIN, 0}};
    const int ready = poll(all, 3, kPatience_ms);
    if (ready == 0) return false;
    if (ready < 0) continue;  // a signal
    if (all[0].revents) send_some(channels.in, script);
    if (all[1].revents) read_some(channels.out, result.out);
    if (all[2].revents) read_some(channels.err, result.err);
  }
  return true;
}

}  // namespace

GnuplotResult run_gnuplot(const std::string& script) {
  GnuplotResult result;
  Channels channels;
  const pid_t child = start(channels);
  if (child < 0) return result;
  result.found = true;
  channels.child_in.reset();
  channels.child_out.reset();
  channels.child_err.reset();
  if (!talk(channels, script, result)) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace lssm
