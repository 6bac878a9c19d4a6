// SPDX-License-Identifier: Apache-2.0
// What lssm watch is made of: following files, the states of runs, the screen.
#include <algorithm>
#include <chrono>

#include "apps/experiment/watched_run.h"
#include "test/apps/watched_folder.h"
#include "test/core/temporary_folder.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

// ---- following a file ----

std::vector<int> steps_of(const MetricsFollower::News& news) {
  std::vector<int> steps;
  for (const Json& line : news.lines) steps.push_back(line["step"]);
  return steps;
}

TEST_CASE("a file is followed as it grows", "[watch]") {
  const TemporaryFolder folder;
  const fs::path file = folder / "metrics.jsonl";
  MetricsFollower follower(file);
  CHECK(follower.poll().lines.empty());  // not there yet
  append(file, "{\"step\": 1}\n{\"step\": 2}\n{\"st");
  CHECK(steps_of(follower.poll()) == std::vector<int>{1, 2});
  CHECK(follower.poll().lines.empty());
  append(file, "ep\": 3}");
  CHECK(follower.poll().lines.empty());  // it may go on: {"step": 3} or more
  append(file, "\nno JSON\n[1]\n{\"loss\": 1}\n{\"step\": \"4\"}\n\n{\"step\": 5}\n");
  const MetricsFollower::News news = follower.poll();
  CHECK_FALSE(news.restarted);
  CHECK(steps_of(news) == std::vector<int>{3, 5});
}

TEST_CASE("a file that is rewound, cut or removed is read again", "[watch]") {
  const TemporaryFolder folder;
  const fs::path file = folder / "metrics.jsonl";
  const std::string lines = "{\"step\": 1}\n{\"step\": 2}\n";
  append(file, lines);
  MetricsFollower follower(file);
  CHECK(steps_of(follower.poll()) == std::vector<int>{1, 2});

  write_file_atomically(file, lines);  // another file of the same length
  MetricsFollower::News news = follower.poll();
  CHECK(news.restarted);
  CHECK(steps_of(news) == std::vector<int>{1, 2});

  append(file, "{\"step\": 3");
  CHECK_FALSE(follower.poll().restarted);
  write_file_atomically(file, lines + "{\"step\": 7}\n{\"step\": 8}\n");  // and it has grown
  news = follower.poll();
  CHECK(news.restarted);
  CHECK(steps_of(news) == std::vector<int>{1, 2, 7, 8});

  fs::resize_file(file, 12);
  news = follower.poll();
  CHECK(news.restarted);
  CHECK(steps_of(news) == std::vector<int>{1});

  fs::remove(file);
  CHECK(follower.poll().restarted);
  CHECK_FALSE(follower.poll().restarted);
  append(file, "{\"step\": 9}\n");
  CHECK(steps_of(follower.poll()) == std::vector<int>{9});
}

// ---- runs ----

TEST_CASE("a run is running, testing, finished, stopped or failed", "[watch]") {
  const TemporaryFolder folder;
  const fs::path path = make_run(folder / "run", 30);
  WatchedRun run(path);
  const auto state = [&run] {
    run.refresh();
    return run.view().state;
  };
  CHECK(state() == WatchState::stopped);
  CHECK(run.view().step == 30);
  CHECK(run.view().steps == 100);
  {
    const HeldFolder trainer(path);
    CHECK(state() == WatchState::running);
    append(path / "metrics.jsonl", "{\"step\": 100, \"loss\": 0.5}\n");
    CHECK(state() == WatchState::testing);
    write_file_atomically(path / "summary.json", "{}");
    CHECK(state() == WatchState::testing);  // until it lets go
  }
  CHECK(state() == WatchState::finished);
  write_file_atomically(path / "failure.json", R"({"error": "no luck", "exit_code": 4})");
  CHECK(state() == WatchState::failed);
  CHECK(run.view().error == "no luck");
  const HeldFolder trainer(path);
  CHECK(state() == WatchState::testing);
  CHECK(run.view().error.empty());
}

TEST_CASE("a run that resumes forgets what it took back", "[watch]") {
  const TemporaryFolder folder;
  const fs::path path = make_run(folder / "run", 30);
  append(path / "metrics.jsonl", R"({"step": 30, "valid": {"prefix": 0.5, "loss": 2.5}})"
                                 "\n");
  WatchedRun run(path);
  run.refresh();
  REQUIRE(run.view().loss.size() == 3);
  CHECK(run.view().loss[2].x == 30);
  CHECK(run.view().loss[2].y == 1);
  REQUIRE(run.view().valid_accuracy.size() == 1);
  CHECK(run.view().valid_accuracy[0].y == 0.5);
  CHECK(run.view().valid_loss.at(0).y == 2.5);
  write_file_atomically(path / "metrics.jsonl", "{\"step\": 10, \"loss\": 3, \"wall_s\": 1}\n");
  run.refresh();
  CHECK(run.view().step == 10);
  CHECK(run.view().loss.size() == 1);
  CHECK(run.view().valid_accuracy.empty());
}

TEST_CASE("the time left goes by the last quarter of the lines", "[watch]") {
  const TemporaryFolder folder;
  const fs::path path = make_run(folder / "run", 0), metrics = path / "metrics.jsonl";
  const auto left = [&](double age) {
    const auto long_ago = std::chrono::duration<double>(age);
    fs::last_write_time(metrics,
                        fs::file_time_type::clock::now() -
                            std::chrono::duration_cast<fs::file_time_type::duration>(long_ago));
    WatchedRun run(path);
    run.refresh();
    return run.view().seconds_left;
  };
  append(metrics, "{\"step\": 10, \"wall_s\": 100}\n");
  CHECK(left(0) == Approx(900).margin(5));  // 90 steps of 10 s
  append(metrics,
         "{\"step\": 20, \"wall_s\": 101}\n{\"step\": 30, \"wall_s\": 102}\n"
         "{\"step\": 40, \"wall_s\": 162}\n");
  CHECK(left(0) == Approx(360).margin(5));  // 60 steps of 6 s
  CHECK(left(60) == Approx(300).margin(5));
  CHECK(left(1000) == 0);
}

TEST_CASE("runs are found in and below folders, each once", "[watch]") {
  const TemporaryFolder folder;
  make_run(folder / "a" / "seed-1", 0);
  make_run(folder / "a" / "seed-12", 0);
  make_run(folder / "a" / "seed-2", 0);
  make_run(folder / "b" / "seed-1", 0);
  fs::create_directories(folder / "configs");  // a sweep's configs are no run
  write_file_atomically(folder / "configs" / "config.json", "{}");
  const auto names = [&](const std::vector<fs::path>& paths) {
    std::vector<WatchedRun> runs;
    for (const fs::path& path : find_runs(paths)) runs.emplace_back(path);
    name_runs(runs);
    std::vector<std::string> all;
    for (const WatchedRun& run : runs) all.push_back(run.view().name);
    return all;
  };
  CHECK(names({folder.path()}) ==
        std::vector<std::string>{"a/seed-1", "a/seed-2", "a/seed-12", "b/seed-1"});
  CHECK(names({folder / "b" / "seed-1" / "", folder.path()}) ==
        std::vector<std::string>{"b/seed-1", "a/seed-1", "a/seed-2", "a/seed-12"});
  make_run(folder / "c" / "a" / "seed-1", 0);
  CHECK(names({folder / "a", folder / "c"}) ==
        std::vector<std::string>{(folder / "a" / "seed-1").string(), "a/seed-2", "a/seed-12",
                                 (folder / "c" / "a" / "seed-1").string()});
  CHECK_THROWS_WITH(find_runs({folder / "configs"}), Contains("holds no run"));
  CHECK_THROWS_WITH(find_runs({folder / "d"}), Contains("there is no such folder"));
}

// ---- the screen ----

RunView a_view(const std::string& name, WatchState state) {
  RunView run;
  run.name = name;
  run.state = state;
  run.step = 300;
  run.steps = 600;
  run.tokens_per_s = 1234567;
  run.seconds_left = 7200;
  run.loss = {{100, 4}, {200, 2}, {300, 0.5}};
  run.valid_accuracy = {{150, 0.25}, {300, 0.875}};
  return run;
}

// Columns that a terminal needs for a line.
int shown_columns(const std::string& line) {
  int columns = 0;
  bool in_code = false;
  for (const char c : line) {
    if (c == '\033') in_code = true;
    if (!in_code && (uint8_t(c) & 0xc0) != 0x80) ++columns;
    if (in_code && c == 'm') in_code = false;
  }
  return columns;
}

TEST_CASE("the table of runs", "[watch]") {
  std::vector<RunView> runs = {a_view("so3/seed-1", WatchState::running),
                               a_view("so3/seed-2", WatchState::failed)};
  runs[1].error = "step 17: not a finite number";
  runs[1].valid_accuracy.clear();
  const std::vector<std::string> lines = watch_screen(runs, {});
  CHECK(lines.front() == "2 runs: 1 running, 1 failed");
  REQUIRE(lines.size() > 4);
  const std::vector<std::string> table(lines.end() - 4, lines.end());
  CHECK(table == std::vector<std::string>{
                     "  run            step      loss  valid %  tokens/s     left  state",
                     "a so3/seed-1  300/600    0.5000    87.50    1.23 M    2.0 h  running",
                     "b so3/seed-2  300/600    0.5000             1.23 M           failed",
                     "    step 17: not a finite number"});
}

TEST_CASE("the screen fits every terminal", "[watch]") {
  std::vector<RunView> runs;
  for (const int count : {1, 2, 5, 20, 60}) {
    while (int(runs.size()) < count) {
      runs.push_back(a_view(text("große Läufe/seed-", runs.size()), WatchState(runs.size() % 5)));
      if (runs.back().state == WatchState::failed) runs.back().error = std::string(300, 'x');
    }
    for (const int columns : {1, 10, 40, 79, 80, 100, 250}) {
      for (const int rows : {1, 2, 3, 10, 24, 25, 60, 200}) {
        for (const bool plain : {true, false}) {
          const ScreenOptions options = {columns, rows, plain, !plain, "q: leave"};
          const std::vector<std::string> lines = watch_screen(runs, options);
          INFO(count << " runs, " << columns << " columns, " << rows << " rows");
          CHECK(int(lines.size()) <= rows);
          int widest = 0;
          bool only_ascii = true;
          for (const std::string& line : lines) {
            widest = std::max(widest, shown_columns(line));
            for (const char c : line) only_ascii &= c >= ' ' && c <= '~';
          }
          CHECK(widest <= columns);
          CHECK((only_ascii || !plain));
        }
      }
    }
  }
}

TEST_CASE("where 20 runs do not fit, those that run come first", "[watch]") {
  std::vector<RunView> runs;
  for (int i = 0; i < 20; ++i)
    runs.push_back(a_view(text("run-", i), i < 17 ? WatchState::finished : WatchState::running));
  const std::vector<std::string> lines = watch_screen(runs, {.columns = 120, .rows = 24});
  CHECK(lines.size() == 24);
  const auto table = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("  run ");
  });
  REQUIRE(lines.end() - table > 5);
  CHECK_THAT(table[1], Contains("r run-17 "));
  CHECK_THAT(table[3], Contains("t run-19 "));
  CHECK_THAT(table[4], Contains("a run-0 "));
  CHECK_THAT(lines.back(), Contains("finished"));
  const auto listed = lines.end() - table - 2;
  CHECK(lines.back() == text("  and ", 20 - listed, " runs: ", 20 - listed, " finished"));
  CHECK(lines[1].find("training loss, by step") != std::string::npos);
}

TEST_CASE("plots fit what there is", "[watch]") {
  RunView run = a_view("a", WatchState::running);
  const auto plotted = [&run] {
    std::string all;
    for (const std::string& line : watch_screen({run}, {})) all += line + "\n";
    return all;
  };
  CHECK_THAT(plotted(), Contains("training loss, by step") && Contains("validation accuracy (%)"));
  run.loss.push_back({400, 0.01});  // 4 / 0.01 = 400
  CHECK_THAT(plotted(), Contains("training loss (log scale), by step"));
  run.loss.push_back({500, 0});
  CHECK_THAT(plotted(), Contains("training loss, by step"));
  run.valid_accuracy.clear();
  run.valid_loss = {{300, 2}};
  CHECK_THAT(plotted(), Contains("validation loss, by step"));
}

}  // namespace
}  // namespace lssm
