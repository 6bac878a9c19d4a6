// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <optional>

#include "apps/lssm/commands.h"
#include "apps/report/analysis.h"
#include "apps/report/csv.h"
#include "apps/report/html.h"
#include "apps/report/json.h"
#include "apps/report/latex.h"
#include "apps/report/markdown.h"
#include "apps/report/paper_table.h"
#include "apps/report/selection.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFormats = {"markdown", "csv", "latex", "json", "html"};

struct ReportArguments {
  std::vector<std::string> runs, formats;
  std::string select, out, paper;
  std::vector<uint64_t> seeds;
  double margin = 0;
  ReportOptions options;
};

// The names of the folders, as a title.
std::string title_of(const std::vector<fs::path>& paths) {
  constexpr size_t kNamed = 4;
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    if (names.size() == kNamed) {
      names.push_back(text("and ", paths.size() - kNamed, " more"));
      break;
    }
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    names.push_back((whole.has_filename() ? whole.filename() : whole).string());
  }
  return comma_list(names);
}

// The full name of the baseline: the one that was asked for, else the sweep's where it can be one.
std::string choose_baseline(const std::string& asked, const std::vector<fs::path>& paths,
                            Results& results) {
  const std::string name = asked.empty() ? sweep_baseline(paths) : asked;
  if (name.empty()) return "";
  const std::vector<std::string> configs = configs_named(results, name);
  if (configs.size() == 1) return configs.front();
  if (configs.size() > 1) {
    const std::string words =
        text("the baseline ", name, " has ", configs.size(),
             " configs: name one by --baseline, or let --select choose: ", comma_list(configs));
    LSSM_CHECK(asked.empty(), "report: ", words);
    results.notes.push_back(words + "; nothing is tested");
    return "";
  }
  if (!asked.empty()) return asked;  // there is none: the report says so
  results.notes.push_back("no finished variant has the name of the sweep's baseline, " + name +
                          ": nothing is tested against it; --baseline names another");
  return "";
}

// The files of a format: name and bytes. The first is the report itself.
std::vector<std::pair<std::string, std::string>> files_of(const std::string& format,
                                                          const Report& report,
                                                          const Results& results) {
  if (format == "markdown") return {{"report.md", markdown(report)}};
  if (format == "csv") {
    std::vector<std::pair<std::string, std::string>> files = {
        {"report.csv", csv(report)}, {"report_seeds.csv", csv_seeds(report)}};
    if (report.paper) files.emplace_back("report_paper.csv", csv_paper(*report.paper));
    return files;
  }
  if (format == "latex") return {{"report.tex", latex(report)}};
  if (format == "json") return {{"report.json", json(report)}};
  return {{"report.html", html(report, results)}};
}

void write_report(const ReportArguments& arguments, const Report& report, const Results& results) {
  std::vector<std::string> formats = arguments.formats;
  if (arguments.out.empty()) {
    LSSM_CHECK(formats.size() < 2, "report: one --format goes to the standard output, got ",
               comma_list(formats), "; name a folder with --out for several");
    const std::string format = formats.empty() ? "markdown" : formats.front();
    const std::string bytes = files_of(format, report, results).front().second;
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return;
  }
  if (formats.empty()) formats = kFormats;
  std::error_code error;
  fs::create_directories(arguments.out, error);
  if (error) fail_file(arguments.out, ": the folder cannot be made: ", error.message());
  for (const std::string& format : formats) {
    for (const auto& [name, bytes] : files_of(format, report, results)) {
      const fs::path path = fs::path(arguments.out) / name;
      write_file_atomically(path, bytes);
      std::printf("%s\n", path.c_str());
    }
  }
}

void report_runs(const ReportArguments& arguments) {
  std::vector<fs::path> paths(arguments.runs.begin(), arguments.runs.end());
  std::optional<PaperFile> paper;
  if (!arguments.paper.empty()) paper = read_paper_file(arguments.paper);
  if (paper && paths.empty()) paths = {fs::path("runs") / paper->sweep};
  LSSM_CHECK(!paths.empty(),
             "report: RUNS is required: folders of runs, or a paper's table by --paper");
  Results results = read_results(paths);
  if (!arguments.seeds.empty()) keep_seeds(results, arguments.seeds);
  ReportOptions options = arguments.options;
  if (paper) compare_with_paper(paper->table, results);  // with all runs, selected or not
  if (!arguments.select.empty())
    options.selection = select_configs(results, options.baseline, arguments.select);
  options.baseline = choose_baseline(options.baseline, paths, results);
  if (options.title.empty()) options.title = paper ? paper->table.title : title_of(paths);
  if (arguments.margin > 0) options.margin = arguments.margin;
  put_first(results, options.baseline);
  Report report = analyse(results, options);
  if (paper) report.paper = paper->table;
  write_report(arguments, report, results);
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "compare finished runs: tables, tests, a page");
  auto arguments = std::make_shared<ReportArguments>();
  ReportOptions& options = arguments->options;
  // One value, or several with commas; never the words that follow.
  const auto list = [command](const char* name, auto& values, const char* about) {
    return command->add_option(name, values, about)->delimiter(',')->take_all()->expected(1);
  };
  command->add_option("RUNS", arguments->runs, "folders of runs, of variants or of sweeps");
  command
      ->add_option("--paper", arguments->paper,
                   "put a published table beside ours: a name in configs/papers, or a file; RUNS "
                   "are then by default those of its sweep")
      ->type_name("TABLE");
  command
      ->add_option("--baseline", options.baseline,
                   "the variant that the others are tested against; a sweep may name its own")
      ->type_name("NAME");
  list("--metric", options.metrics,
       "figures of the test, e.g. final,prefix; all but loss and drift")
      ->type_name("NAME");
  list("--length", options.lengths, "test lengths, e.g. 32,1024; all")
      ->check(at_least_number(0))
      ->type_name("LENGTH");
  list("--seeds", arguments->seeds, "runs of these seeds alone, e.g. 1,2,3; all")
      ->check(at_least_number(0))
      ->type_name("SEED");
  command
      ->add_option("--margin", arguments->margin,
                   "differences below it count as none, for equivalence; 1 for figures in %")
      ->check(CLI::PositiveNumber)
      ->type_name("X");
  command
      ->add_option("--select", arguments->select,
                   "of each variant's configs in a sweep with a grid keep the one that is best by "
                   "valid.prefix, valid.final or valid.loss")
      ->type_name("FIGURE");
  list("--format", arguments->formats, "markdown, csv, latex, json, html")
      ->check(CLI::IsMember(kFormats))
      ->type_name("FORMAT");
  command
      ->add_option("--out", arguments->out,
                   "write files into this folder, all formats unless --format says which; "
                   "without it one format goes to the standard output")
      ->type_name("FOLDER");
  command->add_option("--title", options.title, "title; else the names of the folders");
  command->add_option("--origin", options.origin, "a line on where the results come from")
      ->take_all()
      ->expected(1)
      ->type_name("LINE");
  command->footer("Example: lssm report runs --baseline a5_so2 --length 32,1024 --out report");
  command->callback([arguments] { report_runs(*arguments); });
}

}  // namespace lssm
