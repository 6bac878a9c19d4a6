// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/slurm_script.h"

#include <algorithm>
#include <cctype>

#include "apps/experiment/config_file.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

// Options of sbatch that the script must have as they are.
const std::vector<std::string> kOwn = {"array",    "error",   "no-requeue", "open-mode", "output",
                                       "parsable", "requeue", "test-only",  "wait",      "wrap"};

// After the options: what a task does. It takes $lssm, $sweep, $runs and $force from above.
constexpr const char* kBody = R"(
# Slurm may send TERM to lssm as well as to this shell, and lssm ends at once, without saving, at
# the second TERM: so it gets HUP from here, and only once.
stop() {
  signal=yes
  [[ -n $stopped ]] || kill -HUP "$run" 2>/dev/null
  stopped=yes
}

echo "run $SLURM_ARRAY_TASK_ID starts on $HOSTNAME"
stopped= again=
"$lssm" sweep "$sweep" --runs "$runs" --run "$SLURM_ARRAY_TASK_ID" $force &
run=$!
trap stop TERM
trap 'again=yes; stop' USR1  # the time limit is near

while true; do
  signal=
  wait "$run"
  code=$?
  [[ -n $signal ]] || break  # else a signal cut the wait short
done
echo "run $SLURM_ARRAY_TASK_ID ended with code $code"

# Stopped by the time limit: it goes on when there is time again.
if [[ -n $again && $code -gt 128 ]]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit "$code"
)";

bool is_control(unsigned char c) { return c < ' ' || c == 127; }

std::string shell_word(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// A value in an #SBATCH line. sbatch reads these lines by itself; it knows quotes, backslashes and
// comments.
std::string sbatch_value(const std::string& value) {
  const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("._-+=,/:@%*").find(char(c)) != std::string::npos;
  });
  if (plain) return value;
  std::string quoted = "\"";
  for (const char c : value) quoted += c == '"' || c == '\\' ? text('\\', c) : text(c);
  return quoted + "\"";
}

fs::path full_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

// Where tasks write. In this option % begins a pattern, and a backslash has a meaning of its own.
std::string output_pattern(const SweepPlan& plan) {
  const std::string folder = full_path(slurm_folder(plan)).string();
  const bool usable =
      std::none_of(folder.begin(), folder.end(), [](char c) { return c == '\\' || is_control(c); });
  LSSM_CHECK(usable, "sweep ", plan.file, ": Slurm cannot write below the folder ",
             Json(folder).dump(-1, ' ', true, Json::error_handler_t::replace),
             ": its path holds a backslash or a control character");
  std::string pattern;
  for (const char c : folder) pattern += c == '%' ? "%%" : std::string(1, c);
  return pattern + "/%A_%a.out";
}

// One entry of the sweep's "slurm" as an #SBATCH line; "" if it is switched off.
std::string option_line(const std::string& source, const std::string& key, const Json& value) {
  const auto is_name = [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-';
  };
  LSSM_CHECK(!key.empty() && key[0] != '-' && std::all_of(key.begin(), key.end(), is_name), source,
             ": expected the long name of an option of sbatch, without the dashes in front, got ",
             Json(key).dump(-1, ' ', true, Json::error_handler_t::replace));
  LSSM_CHECK(std::find(kOwn.begin(), kOwn.end(), key) == kOwn.end(), source, "/", key,
             ": this option belongs to the sweep: it cannot be set");
  LSSM_CHECK(value.is_boolean() || value.is_number() || value.is_string(), source, "/", key,
             ": expected a string, a number, true or false, got ", value.dump());
  if (value == false) return "";
  if (value == true) return "#SBATCH --" + key + "\n";
  const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
  LSSM_CHECK(std::none_of(word.begin(), word.end(), is_control), source, "/", key,
             ": the value holds a control character");
  LSSM_CHECK(key != "signal" || word.starts_with("B:USR1"), source,
             "/signal: expected B:USR1@SECONDS, by which a run saves before its time is up, got ",
             value.dump());
  return "#SBATCH --" + key + "=" + sbatch_value(word) + "\n";
}

// The sweep file with the configs that it names written out.
Json frozen_sweep(const SweepPlan& plan) {
  const auto write_out = [&plan](Json& config) {
    if (config.is_string())
      config =
          read_config((fs::path(plan.file).parent_path() / config.get<std::string>()).string());
  };
  Json sweep = plan.sweep;
  write_out(sweep["config"]);
  for (Json& variant : sweep["variants"])
    if (variant.contains("config")) write_out(variant["config"]);
  return sweep;
}

// The name of the next submission: its place in jobs.json, from 1.
std::string next_name(const SweepPlan& plan) {
  return std::to_string(submitted_jobs(plan).size() + 1);
}

}  // namespace

fs::path slurm_folder(const SweepPlan& plan) { return plan.folder / "slurm"; }

Json submitted_jobs(const SweepPlan& plan) {
  const fs::path path = slurm_folder(plan) / "jobs.json";
  std::error_code error;
  if (!fs::exists(path, error)) return Json::array();
  Json jobs = parse_json(read_file(path), path.string());
  const auto is_job = [](const Json& job) {
    return job.is_object() && job.value("id", Json()).is_string() &&
           job.value("runs", Json()).is_object();
  };
  if (!jobs.is_array() || !std::all_of(jobs.begin(), jobs.end(), is_job))
    fail_file(path.string(), ": expected a list of jobs, each with \"id\" and \"runs\"");
  return jobs;
}

size_t task_number(const SweepPlan& plan, const SweepRun& run) {
  const Json& seeds = plan.sweep["seeds"];
  const auto at = std::find(seeds.begin(), seeds.end(), Json(run.seed));
  return run.variant * seeds.size() + size_t(at - seeds.begin()) + 1;
}

std::string array_text(const std::vector<size_t>& numbers) {
  std::string list;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!list.empty()) list += ",";
    list += std::to_string(numbers[i]);
    if (last > i) list += text(last == i + 1 ? "," : "-", numbers[last]);
    i = last + 1;
  }
  return list;
}

std::string slurm_script(const SweepPlan& plan, const SlurmOptions& options,
                         const std::vector<size_t>& runs) {
  const Json& slurm = plan.sweep["slurm"];
  std::vector<size_t> numbers;
  int64_t threads = 1;
  for (const size_t run : runs) {
    numbers.push_back(task_number(plan, plan.runs[run]));
    threads = std::max(threads, plan.variant_of(plan.runs[run]).threads);
  }
  std::string array = array_text(numbers);
  if (options.jobs > 0) array += text("%", options.jobs);
  const std::string name = plan.sweep["name"];
  std::string script =
      "#!/bin/bash\n"
      "# Written by lssm sweep --on slurm. A task of the array is a run of the sweep; a task that "
      "is\n"
      "# requeued goes on from the checkpoint of its run.\n"
      "#SBATCH --array=" +
      array + "\n";
  const std::pair<std::string, std::string> defaults[] = {
      {"job-name", "lssm-" + name},
      {"cpus-per-task", std::to_string(threads)},
      {"signal", "B:USR1@90"}};
  for (const auto& [key, value] : defaults)
    if (!slurm.contains(key)) script += "#SBATCH --" + key + "=" + sbatch_value(value) + "\n";
  script += "#SBATCH --output=" + sbatch_value(output_pattern(plan)) + "\n" +
            "#SBATCH --open-mode=append\n#SBATCH --requeue\n";
  for (const auto& [key, value] : slurm.items())
    script += option_line("sweep " + plan.file + ": /slurm", key, value);
  const fs::path folder = full_path(slurm_folder(plan));
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  script += "\nlssm=" + shell_word(program) + "\n" +
            "sweep=" + shell_word((folder / (next_name(plan) + ".json")).string()) + "\n" +
            "runs=" + shell_word(full_path(plan.folder).parent_path().string()) + "\n" +
            "force=" + (options.force ? "--force" : "") + "\n";
  return script + kBody;
}

std::string write_submission(const SweepPlan& plan, const SlurmOptions& options,
                             const std::vector<size_t>& runs) {
  const std::string script = slurm_script(plan, options, runs);
  const std::string name = (slurm_folder(plan) / next_name(plan)).string();
  const std::string sweep = name + ".json", path = name + ".sh";
  write_file_atomically(sweep, frozen_sweep(plan).dump(2) + "\n");
  SweepOptions elsewhere;
  elsewhere.runs = plan.folder.parent_path().string();
  elsewhere.runs_here = false;
  write_plan(plan_sweep(sweep, elsewhere));  // what the tasks find, so that none needs to write it
  write_file_atomically(path, script);
  return path;
}

}  // namespace lssm
