// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "apps/experiment/folder_lock.h"
#include "apps/experiment/interrupt.h"
#include "apps/experiment/watched_run.h"
#include "apps/lssm/commands.h"

namespace lssm {
namespace {

using Clock = std::chrono::steady_clock;

// A folder of runs may get more of them: all must have ended for so long.
constexpr auto kGrace = std::chrono::seconds(5);

struct WatchArguments {
  std::vector<std::string> folders;
  bool once = false, ascii = false;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// What the locale says about the characters of the terminal.
bool utf8_locale() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = environment(name);
  std::transform(locale.begin(), locale.end(), locale.begin(), [](char c) { return tolower(c); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

// The screen as the terminal has it now; rows = 0 where it is no terminal.
ScreenOptions screen_options(const WatchArguments& arguments) {
  const bool terminal = isatty(STDOUT_FILENO);
  ScreenOptions options;
  options.ascii = arguments.ascii || !utf8_locale();
  options.color = terminal && environment("NO_COLOR").empty();
  winsize size = {};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options.columns = size.ws_col;
    options.rows = size.ws_row;
  } else if (const int columns = std::atoi(environment("COLUMNS").c_str()); columns > 0) {
    options.columns = std::min(columns, 1000);
  }
  return options;
}

// The runs to watch; folders are looked through again for new ones.
class Watched {
 public:
  explicit Watched(const std::vector<std::string>& folders)
      : paths_(folders.begin(), folders.end()) {
    look_for_runs();
    may_grow_ = runs_.size() != paths_.size();
    for (size_t i = 0; !may_grow_ && i < runs_.size(); ++i)
      may_grow_ = runs_[i].folder() != paths_[i];
  }

  void refresh() {
    if (may_grow_) look_for_runs();
    for (WatchedRun& run : runs_) run.refresh();
  }
  // Whether the paths are folders of runs, not the runs themselves.
  bool may_grow() const { return may_grow_; }
  // A sweep that goes on holds its folder.
  bool all_ended() const {
    return std::none_of(paths_.begin(), paths_.end(), is_locked) &&
           std::all_of(runs_.begin(), runs_.end(),
                       [](const WatchedRun& run) { return has_ended(run.view()); });
  }
  std::vector<RunView> views() const {
    std::vector<RunView> all;
    for (const WatchedRun& run : runs_) all.push_back(run.view());
    return all;
  }

 private:
  // New runs come last, so that those known keep their letters.
  void look_for_runs() {
    for (const std::filesystem::path& folder : find_runs(paths_)) {
      const auto same = [&folder](const WatchedRun& run) { return run.folder() == folder; };
      if (std::none_of(runs_.begin(), runs_.end(), same)) runs_.emplace_back(folder);
    }
    name_runs(runs_);
  }

  std::vector<std::filesystem::path> paths_;
  std::vector<WatchedRun> runs_;
  bool may_grow_ = false;
};

void print_state(const Watched& watched, ScreenOptions options) {
  options.rows = 0;
  for (const std::string& line : watch_screen(watched.views(), options)) std::puts(line.c_str());
}

// The alternate screen, without cursor and echo. It gives back the terminal as it was.
class Terminal {
 public:
  Terminal() : has_keys_(isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (has_keys_) {
      termios keys = before_;
      keys.c_lflag &= ~tcflag_t(ICANON | ECHO);
      keys.c_cc[VSUSP] = _POSIX_VDISABLE;  // Ctrl-Z would leave a shell on this screen
      tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    std::fputs("\033[?1049h\033[?25l", stdout);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    std::fputs("\033[?25h\033[?1049l", stdout);
    std::fflush(stdout);
    if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  void show(const std::vector<std::string>& lines) const {
    std::string bytes = "\033[H";
    for (size_t i = 0; i < lines.size(); ++i) bytes += (i ? "\r\n" : "") + lines[i] + "\033[K";
    bytes += "\033[J";
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
  }

  // Waits for a key, a signal, or a second. Returns the key, or 0.
  char wait() const {
    pollfd keyboard = {STDIN_FILENO, POLLIN, 0};
    char key = 0;
    if (poll(&keyboard, has_keys_ ? 1 : 0, 1000) <= 0) return 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';  // the terminal is gone
  }

 private:
  termios before_ = {};
  bool has_keys_;
};

// Signals end the wait of Terminal::wait(): poll() is never restarted.
void watch_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, [](int) { stop_requested = true; });
  std::signal(SIGWINCH, [](int) {});
}

// Until all runs have ended (true), or the user wants to leave (false).
bool follow(Watched& watched, const WatchArguments& arguments) {
  const Terminal terminal;
  Clock::time_point last_active = Clock::now();
  while (!stop_requested) {
    watched.refresh();
    if (!watched.all_ended()) last_active = Clock::now();
    if (Clock::now() - last_active > kGrace || (watched.all_ended() && !watched.may_grow()))
      return true;
    ScreenOptions options = screen_options(arguments);
    options.hint = "q: leave";
    terminal.show(watch_screen(watched.views(), options));
    const char key = terminal.wait();
    if (key == 'q' || key == 'Q') return false;
  }
  return false;
}

void watch(const WatchArguments& arguments) {
  Watched watched(arguments.folders);
  watched.refresh();
  if (!arguments.once && isatty(STDOUT_FILENO) && !watched.all_ended()) {
    watch_signals();
    const bool ended = follow(watched, arguments);
    if (stop_requested) set_exit_code(kExitInterrupted);
    if (!ended) return;
  }
  print_state(watched, screen_options(arguments));
  if (watched.all_ended()) std::puts("All runs have ended.");
}

}  // namespace

void add_watch(CLI::App& app) {
  CLI::App* command = app.add_subcommand("watch", "curves of runs, live in the terminal");
  auto arguments = std::make_shared<WatchArguments>();
  command->add_option("RUN", arguments->folders, "run folders, or folders with runs below them")
      ->required();
  command->add_flag("--once", arguments->once, "print the present state and end");
  command->add_flag("--ascii", arguments->ascii, "no characters beyond ASCII");
  command->footer(
      "Ends when all runs have ended, or on q. Where the output is no terminal: as --once.\n"
      "Example: lssm watch runs/a5_so3/seed-42");
  command->callback([arguments] { watch(*arguments); });
}

}  // namespace lssm
