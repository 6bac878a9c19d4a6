// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/local_runner.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <thread>

#include "apps/experiment/child_process.h"
#include "apps/experiment/interrupt.h"
#include "apps/experiment/run_folder.h"

namespace lssm {
namespace {

constexpr int kExitInterrupted = 130;   // of a run that was stopped and has saved
constexpr double kProgressEvery = 0.5;  // seconds

std::atomic<int> stop_signals = 0;  // a second Ctrl-C counts, a second SIGTERM does not

void on_signal(int signal) {
  if (stop_signals == 0 || signal == SIGINT) ++stop_signals;
}

double seconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

int64_t core_count() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  char line[32];
  if (s >= 3600) {
    std::snprintf(line, sizeof line, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  } else {
    std::snprintf(line, sizeof line, "%lld:%02lld", s / 60, s % 60);
  }
  return line;
}

class LocalRunner {
 public:
  LocalRunner(const SweepPlan& plan, std::vector<RunStatus> statuses, const CoreShare& share)
      : plan_(plan), share_(share), statuses_(std::move(statuses)) {
    for (size_t run = 0; run < statuses_.size(); ++run) {
      const RunState state = statuses_[run].state;
      if (state == RunState::running) elsewhere_.push_back(run);
      if (state != RunState::running && state != RunState::done) queue_.push_back(run);
    }
  }

  LocalResult run() {
    catch_stop_signals(on_signal);
    if (!elsewhere_.empty())
      say("waiting for " + runs_text(elsewhere_.size()) + " of other processes");
    while (!finished()) {
      if (stop_signals > 0) stop();
      while (stop_signals == 0 && !queue_.empty() && int64_t(jobs_.size()) < share_.jobs) start();
      wait();
      collect();
      if (seconds_now() >= next_look_) look();
    }
    clear_line();
    return {std::move(statuses_), stop_signals > 0};
  }

 private:
  struct Job {
    size_t run;
    ChildProcess process;
    double start;
    int64_t first_step;
  };

  bool finished() const {
    return jobs_.empty() && (stop_signals > 0 || (queue_.empty() && elsewhere_.empty()));
  }

  void start() {
    const size_t run = queue_.front();
    const SweepRun& which = plan_.runs[run];
    const RunState state = statuses_[run].state;
    std::vector<std::string> arguments =
        run_arguments(plan_, which, state, threads_of(plan_.variant_of(which), share_));
    arguments.push_back("--quiet");
    const bool resumes = state == RunState::interrupted || state == RunState::failed;
    jobs_.push_back({run, ChildProcess(arguments, share_.threads), seconds_now(),
                     resumes ? logged_step(which) : 0});
    queue_.pop_front();
    statuses_[run] = {RunState::running};
  }

  // Until a child writes or ends, a signal comes, or it is time to look again.
  void wait() const {
    std::vector<pollfd> pipes;
    for (const Job& job : jobs_)
      if (job.process.pipe() >= 0) pipes.push_back({job.process.pipe(), POLLIN, 0});
    ::poll(pipes.data(), pipes.size(), 100);
  }

  void collect() {
    for (size_t i = 0; i < jobs_.size();) {
      if (!jobs_[i].process.poll()) {
        ++i;
        continue;
      }
      const Job job = std::move(jobs_[i]);
      jobs_.erase(jobs_.begin() + int64_t(i));
      statuses_[job.run] = end_of(job);
      say_end(job.run, seconds_now() - job.start);
      steps_done_ += std::max<int64_t>(0, steps_of(job.run) - job.first_step);
    }
  }

  // What has become of a run whose process has ended.
  RunStatus end_of(const Job& job) const {
    const SweepRun& run = plan_.runs[job.run];
    const int code = job.process.exit_code(), signal = job.process.killed_by();
    RunStatus status = run_status(plan_, run);
    const bool stopped = code == kExitInterrupted || (signal != 0 && stop_signals > 0);
    if ((code == 0 && status.state == RunState::done) || stopped) return status;
    std::string message = job.process.last_line();
    if (message.starts_with("lssm: ")) message.erase(0, 6);
    if (signal != 0) {
      message =
          text("killed by signal ", signal, message.empty() ? "" : "; its last words: ", message);
    } else if (message.empty()) {
      message = !status.message.empty() ? status.message : text("it ended with exit code ", code);
    }
    keep_failure(run, status, message, code);
    return {RunState::failed, message, code == 0 ? 1 : code};
  }

  // A process that was killed could not say why it ended; whoever looks at the folder wants to
  // know.
  static void keep_failure(const SweepRun& run, const RunStatus& status, const std::string& message,
                           int code) {
    if (status.state != RunState::interrupted) return;
    try {
      RunFolder::open(run.folder).write_failure(message, code);
    } catch (const Error&) {  // a full disk, or a process that works there again
    }
  }

  void stop() {
    const int signals = stop_signals;
    if (signals == signals_passed_on_) return;
    for (const Job& job : jobs_) job.process.send(signals_passed_on_ == 0 ? SIGTERM : SIGKILL);
    signals_passed_on_ = signals;
    if (!jobs_.empty() && signals == 1)
      say("stopping: " + runs_text(jobs_.size()) + " to save; Ctrl-C again kills them");
  }

  // At runs of other processes, and at the clock.
  void look() {
    next_look_ = seconds_now() + kProgressEvery;
    std::erase_if(elsewhere_, [this](size_t run) {
      statuses_[run] = run_status(plan_, plan_.runs[run]);
      const RunState state = statuses_[run].state;
      if (state == RunState::running) return false;
      if (state == RunState::done) {
        say_end(run, -1);
      } else {
        queue_.push_front(run);
      }
      return true;
    });
    if (shows_progress_) show_progress();
  }

  void show_progress() {
    const auto count = [this](RunState state) {
      return std::count_if(statuses_.begin(), statuses_.end(),
                           [state](const RunStatus& s) { return s.state == state; });
    };
    int64_t now = steps_done_, left = 0;
    for (const Job& job : jobs_) {
      const int64_t step = std::max(logged_step(plan_.runs[job.run]), job.first_step);
      now += step - job.first_step;
      left += steps_of(job.run) - step;
    }
    for (const size_t run : queue_) left += steps_of(run) - logged_step(plan_.runs[run]);
    std::string line = text(count(RunState::done), " of ", statuses_.size(), " runs done, ",
                            jobs_.size(), " running, ", count(RunState::failed), " failed");
    if (now > 0)
      line += ", " + duration_text((seconds_now() - start_) * double(left) / double(now)) + " left";
    std::fprintf(stderr, "\r%s \033[K", line.c_str());
  }

  int64_t steps_of(size_t run) const { return plan_.variant_of(plan_.runs[run]).steps; }

  void clear_line() const {
    if (shows_progress_) std::fputs("\r\033[K", stderr);
  }

  void say(const std::string& line) const {
    clear_line();
    std::fprintf(stderr, "%s\n", line.c_str());
  }

  // Seconds below 0: another process did it.
  void say_end(size_t run, double seconds) const {
    const RunStatus& status = statuses_[run];
    char time[32] = "by another process";
    if (seconds >= 0) std::snprintf(time, sizeof time, "%.1f s", seconds);
    const std::string about =
        status.state == RunState::done ? result_text(status.summary) : status.message;
    say(text(state_name(status.state), "  ", plan_.name_of(plan_.runs[run]),
             about.empty() ? "" : ": ", about, " (", time, ")"));
  }

  const SweepPlan& plan_;
  const CoreShare share_;
  std::vector<RunStatus> statuses_;
  std::deque<size_t> queue_;       // to be started
  std::vector<size_t> elsewhere_;  // other processes work on them
  std::vector<Job> jobs_;
  int signals_passed_on_ = 0;
  int64_t steps_done_ = 0;  // by the runs that have ended
  const double start_ = seconds_now();
  double next_look_ = 0;
  const bool shows_progress_ = isatty(STDERR_FILENO);
};

}  // namespace

CoreShare share_cores(const SweepPlan& plan, int64_t jobs) {
  const int64_t cores = core_count();
  int64_t threads = 1;
  bool on_cuda = false;
  for (const SweepRun& run : plan.runs) {
    threads = std::max(threads, plan.variant_of(run).threads);
    on_cuda = on_cuda || plan.variant_of(run).on_cuda;
  }
  if (jobs == 0) jobs = on_cuda ? 1 : std::max<int64_t>(1, cores / threads);
  jobs = std::clamp<int64_t>(int64_t(plan.runs.size()), 1, jobs);
  const int64_t share = std::max<int64_t>(1, cores / jobs);
  if (threads <= share) return {jobs, threads};
  return {jobs, share,
          text(runs_text(size_t(jobs)), " at once on ", cores, " cores: threads are ", share,
               ", not ", threads, "; results do not depend on it")};
}

int64_t threads_of(const SweepVariant& variant, const CoreShare& share) {
  return variant.threads > share.threads ? share.threads : 0;
}

LocalResult run_locally(const SweepPlan& plan, std::vector<RunStatus> statuses,
                        const CoreShare& share) {
  return LocalRunner(plan, std::move(statuses), share).run();
}

}  // namespace lssm
