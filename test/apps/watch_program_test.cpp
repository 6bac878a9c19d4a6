// SPDX-License-Identifier: Apache-2.0
// lssm watch as users run it: into a pipe, and on a terminal.
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <iomanip>

#include "test/apps/program.h"
#include "test/apps/watched_folder.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

bool only_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return uint8_t(c) < 128; });
}

TEST_CASE("watch prints the present state where the output is no terminal", "[watch]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json"});
  make_run(place.path("runs") / "other" / "seed-1", 20);
  make_run(place.path("runs") / "other" / "seed-2", 50);
  place.write("runs/other/seed-2/failure.json", Json{{"error", "no luck"}, {"exit_code", 4}});
  const HeldFolder trainer(place.path("runs") / "other" / "seed-1");

  ProcessOptions options = place.options();
  options.environment = {{"LC_ALL", "C"}, {"COLUMNS", "90"}};
  for (const bool once : {false, true}) {
    std::vector<std::string> arguments = {"watch", "runs"};
    if (once) arguments.push_back("--once");
    const ProcessResult result = place.lssm(arguments, options);
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK_THAT(result.out, Contains("3 runs: 1 running, 1 finished, 1 failed\n"));
    CHECK_THAT(result.out, Contains("a other/seed-1  20/100    2.0000"));
    CHECK_THAT(result.out, Contains("b other/seed-2  50/100    0.2500"));
    CHECK_THAT(result.out, Contains("    no luck\nc tiny/seed-7    40/40"));
    CHECK_THAT(result.out, !Contains("\033"));
    CHECK(only_ascii(result.out));
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 90);
  }
  {
    const HeldFolder sweep(place.path("runs"));
    CHECK_THAT(place.lssm({"watch", "runs/tiny"}, options).out, Contains("All runs have ended."));
    fs::remove_all(place.path("runs") / "other");
    CHECK_THAT(place.lssm({"watch", "runs"}, options).out, !Contains("All runs have ended."));
  }
  CHECK_THAT(place.lssm({"watch", "runs"}, options).out, Contains("All runs have ended."));
  const std::string loss = text(std::fixed, std::setprecision(4),
                                timeless_metrics(place.tiny_run("runs"))[3]["loss"].get<double>());
  options.environment = {{"LC_ALL", "C.UTF-8"}};
  const ProcessResult one = place.lssm({"watch", place.tiny_run("runs").string()}, options);
  CHECK_THAT(one.out, Contains("1 run: 1 finished\n") && Contains("40/40    " + loss));
  CHECK_THAT(one.out, Contains("┤") && Contains("All runs have ended."));
  CHECK(only_ascii(place.lssm({"watch", "--ascii", place.tiny_run("runs").string()}, options).out));
}

TEST_CASE("watch refuses what is no run", "[watch]") {
  const Workplace place;
  fs::create_directories(place.path("empty"));
  for (const char* name : {"empty", "nowhere"}) {
    const ProcessResult result = place.lssm({"watch", name});
    CHECK(result.code == 3);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains(text("lssm: ", name, ": ")));
  }
  CHECK(place.lssm({"watch"}).code == 2);
}

// The program on a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& arguments) {
    winsize size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      setenv("LC_ALL", "C.UTF-8", 1);
      unsetenv("NO_COLOR");
      std::vector<char*> argv = {const_cast<char*>(LSSM_PROGRAM)};
      for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(terminal_);
  }

  // Reads on from the last text waited for until the program has written `text`, or has ended.
  bool wait_for(const std::string& text) {
    size_t place;
    while ((place = seen_.find(text, waited_for_)) == std::string::npos) {
      char bytes[4096];
      const ssize_t got = read(terminal_, bytes, sizeof bytes);  // ctest has a time limit
      if (got <= 0) return false;
      seen_.append(bytes, size_t(got));
    }
    waited_for_ = place + text.size();
    return true;
  }
  void type(const std::string& keys) const {
    REQUIRE(write(terminal_, keys.data(), keys.size()) == ssize_t(keys.size()));
  }
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size = {.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(ioctl(terminal_, TIOCSWINSZ, &size) == 0);
  }
  bool echoes() const {
    termios keys;
    return tcgetattr(terminal_, &keys) == 0 && (keys.c_lflag & ECHO) && (keys.c_lflag & ICANON);
  }
  // Waits for the end; returns the exit code.
  int end() {
    while (wait_for("\n")) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& seen() const { return seen_; }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string seen_;
  size_t waited_for_ = 0;  // in seen_
};

constexpr const char* kOtherScreen = "\033[?1049h";
constexpr const char* kFirstScreen = "\033[?1049l";

TEST_CASE("watch leaves the terminal as it was, on q and on Ctrl-C", "[watch]") {
  const Workplace place;
  const fs::path run = make_run(place.path("run"), 30);
  const HeldFolder trainer(run);
  for (const auto& [key, code] : std::map<std::string, int>{{"q", 0}, {"\x03", 130}}) {
    OnTerminal watch({"watch", run.string()});
    REQUIRE(watch.wait_for("q: leave"));
    REQUIRE(watch.wait_for("running"));
    CHECK_THAT(watch.seen(), Contains(kOtherScreen) && !Contains(kFirstScreen));
    CHECK_FALSE(watch.echoes());
    watch.type(key);
    CHECK(watch.end() == code);
    CHECK_THAT(watch.seen(), Contains(kFirstScreen));
    CHECK(watch.echoes());
  }
}

TEST_CASE("watch follows a run and the window, and ends with the run", "[watch]") {
  const Workplace place;
  const fs::path run = make_run(place.path("run"), 30);
  auto trainer = std::make_unique<HeldFolder>(run);
  OnTerminal watch({"watch", run.string()});
  REQUIRE(watch.wait_for("30/100"));
  CHECK_THAT(watch.seen(), Contains("\033[36m"));  // a color
  append(run / "metrics.jsonl", "{\"step\": 40, \"loss\": 0.125}\n");
  REQUIRE(watch.wait_for("40/100    0.1250"));
  watch.resize(40, 200);
  std::string line = "└";  // (200 - 2) / 2 - 9 columns of a plot beside another
  for (int i = 0; i < 90; ++i) line += "─";
  REQUIRE(watch.wait_for(line + "          └"));

  write_file_atomically(run / "summary.json", "{}");
  trainer.reset();
  CHECK(watch.end() == 0);
  const std::string last = watch.seen().substr(watch.seen().rfind(kFirstScreen));
  CHECK_THAT(last, Contains("1 run: 1 finished") && Contains("All runs have ended."));
}

}  // namespace
}  // namespace lssm
