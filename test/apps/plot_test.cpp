// SPDX-License-Identifier: Apache-2.0
// Plots: which ones a report has and what is in them, and what gnuplot makes of them.
#include "apps/report/plot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/report/gnuplot.h"
#include "apps/report/html_plots.h"
#include "apps/report/html_text.h"
#include "apps/report/plot_look.h"
#include "test/apps/html_checks.h"

namespace lssm {
namespace {

bool gnuplot_is_there() {
  if (run_gnuplot("exit\n").found) return true;
  WARN("skipped: there is no gnuplot");
  return false;
}

Plot sample_plot() {
  Plot plot = {.title = "A title", .x_label = "x", .y_label = "y"};
  plot.series.push_back({"one", 0, {{1, 2, 1, 3}, {2, 3, 2, 4}, {64, 4, 3, 5}}});
  plot.series.push_back({"two", 1, {{1, 1, 1, 1}, {2, 2, 2, 2}}});
  plot.references.push_back({"a ceiling", "ceiling", {{2, 3.5, 3.5, 3.5}}});
  plot.marks.push_back({8, "training length 8"});
  return plot;
}

const Figure& figure(const std::vector<Figure>& figures, const std::string& title) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const Figure& f) { return f.plot.title == title; });
  INFO(title);
  REQUIRE(found != figures.end());
  return *found;
}

std::vector<Figure> figures_of(const Results& results) {
  return report_figures(analyse(results, {}), results);
}

TEST_CASE("A report's plots are means over seeds with bands from smallest to largest") {
  Results results;
  results.variants.push_back(sample_variant("a", {0.50, 0.52, 0.57}));
  results.variants.push_back(sample_variant("b", {0.90, 0.92, 0.94}));
  results.variants[1].runs.pop_back();
  const std::vector<Figure> figures = figures_of(results);

  // Losses of a at step 10: 0.1, 0.11, 0.12.
  const Plot& loss = figure(figures, "Training loss").plot;
  REQUIRE(loss.series.size() == 2);
  CHECK(loss.series[0].label == "a");
  CHECK(loss.series[1].look == 1);
  REQUIRE(loss.series[0].points.size() == 2);
  CHECK(loss.series[0].points[0].x == 10);
  CHECK(loss.series[0].points[0].y == Approx(0.11));
  CHECK(loss.series[0].points[0].low == Approx(0.10));
  CHECK(loss.series[0].points[0].high == Approx(0.12));

  const Plot& by_length = figure(figures, "Final step by test length").plot;
  CHECK_FALSE(by_length.log2_x);  // 8 to 64: a factor of 8, no more
  CHECK(by_length.y_label == "final step (%)");
  CHECK(by_length.series[1].points[1].x == 64);
  CHECK(by_length.series[1].points[1].y == Approx(86));  // 85 and 87
  REQUIRE(by_length.marks.size() == 1);
  CHECK(by_length.marks[0].x == 8);
  REQUIRE(by_length.references.size() == 1);
  CHECK(by_length.references[0].label == "chance at length 8: 12.50 %");
  CHECK(by_length.references[0].points[0].y == Approx(12.5));

  // Position 2 is not scored: it has no accuracy.
  const Figure& by_position = figure(figures, "Accuracy by position");
  CHECK(by_position.caption == "Test sequences of length 64.");
  REQUIRE(by_position.plot.series[0].points.size() == 2);
  CHECK(by_position.plot.series[0].points[1].x == 8);
  CHECK(by_position.plot.series[0].points[1].low == Approx(45));
  CHECK(figure(figures, "Sequences without an error by position").plot.series[0].points.size() ==
        3);

  const Plot& drift = figure(figures, "Drift by test length").plot;
  CHECK(drift.log10_y);
  CHECK(drift.series[0].points[0].y == Approx(1e-6));
  for (const Figure& f : figures) CHECK(f.plot.title != "Drift in validation");  // all are null
}

TEST_CASE("A report has a plot of every list named by_x, and of every metric of the validation") {
  Results results;
  results.variants.push_back(sample_variant("a", {0.50, 0.54}));
  for (RunResult& run : results.variants[0].runs) {
    const double a = 0.01 * double(run.seed);
    run.summary["test"]["64"]["by_depth"] = {{{"depth", 1}, {"accuracy", 1.0}, {"sequences", 7}},
                                             {{"depth", 20}, {"accuracy", a}, {"sequences", 9}}};
    for (Json& line : run.metrics)
      if (line.contains("valid")) line["valid"]["degrees"] = 90 * a;
  }
  const std::vector<Figure> figures = figures_of(results);
  const Plot& by_depth = figure(figures, "Accuracy by depth, test length 64").plot;
  CHECK(by_depth.log2_x);  // 1 to 20
  CHECK(by_depth.x_label == "depth");
  REQUIRE(by_depth.series[0].points.size() == 2);
  CHECK(by_depth.series[0].points[1].y == Approx(1.5));
  CHECK(figure(figures, "Validation: degrees").plot.series[0].points[0].high == Approx(1.8));
}

TEST_CASE("Ceilings by position do not hang on the metrics that are shown") {
  Results results;
  results.variants.push_back(sample_variant("a", {0.50, 0.54}));
  ReportOptions options;
  options.metrics = {"drift"};
  size_t plots = 0;
  for (const Figure& figure : report_figures(analyse(results, options), results)) {
    if (figure.plot.title != "Accuracy by position") continue;
    ++plots;
    REQUIRE(figure.plot.references.size() == 1);
    CHECK(figure.plot.references[0].label == "chance at position 8: 12.50 %");
    CHECK(figure.plot.references[0].points[0].y == 12.5);
  }
  CHECK(plots == 1);
}

TEST_CASE("A plot of one length has no accuracy by length, and long curves are thinned") {
  Results results;
  results.variants.push_back(sample_variant("a", {0.5}));
  RunResult& run = results.variants[0].runs[0];
  run.summary["test"].erase("64");
  run.metrics.clear();
  for (int step = 1; step <= 1000; ++step)
    run.metrics.push_back({{"step", step}, {"loss", step == 500 ? 77 : 1}});
  const std::vector<Figure> figures = figures_of(results);
  for (const Figure& f : figures) CHECK(f.section != "By test length");
  const PlotSeries& loss = figure(figures, "Training loss").plot.series[0];
  CHECK(loss.points.size() == 250);
  // 497 to 500 are one point now; its band still says that there was a 77.
  CHECK(loss.points[124].x == Approx(498.5));
  CHECK(loss.points[124].y == Approx(20));
  CHECK(loss.points[124].low == 1);
  CHECK(loss.points[124].high == 77);
}

TEST_CASE("Looks differ in more than colour") {
  std::set<std::string> seen, in_black_and_white;
  for (int64_t i = 0; i < 24; ++i) {
    const Look look = look_of(i);
    in_black_and_white.insert(text(look.dashes, "/", look.gnuplot_marker));
    seen.insert(text(look.colour, "/", look.dashes, "/", look.gnuplot_marker));
  }
  CHECK(seen.size() == 24);
  CHECK(in_black_and_white.size() == 24);
}

TEST_CASE("gnuplot's SVG follows the page") {
  if (!gnuplot_is_there()) return;
  const Drawing drawing = draw(sample_plot(), "fig7");
  REQUIRE(drawing.problem == "");
  const std::string& svg = drawing.svg;
  CHECK(first_unbalanced_tag(svg) == "");
  CHECK(repeated_ids(svg).empty());
  CHECK(dangling_references(svg).empty());
  CHECK(attributes(svg, " id=").size() > 3);
  for (const std::string& id : attributes(svg, " id=")) CHECK(id.starts_with("fig7-"));
  CHECK(svg.find("role=\"img\" aria-labelledby=\"fig7-title\"") != std::string::npos);
  CHECK(svg.find("<title id=\"fig7-title\">A title</title>") != std::string::npos);
  CHECK(svg.find("<title>two</title>") != std::string::npos);
  CHECK(svg.find("training length 8") != std::string::npos);
  CHECK(svg.find(">ceiling<") != std::string::npos);
  // No colour of its own: neither black nor those that stand for the page's.
  CHECK(svg.find("rgb(") == std::string::npos);
  CHECK(svg.find("black") == std::string::npos);
  CHECK(svg.find("var(--c0)") != std::string::npos);
  CHECK(svg.find("var(--c1)") != std::string::npos);
  CHECK(svg.find("http") == std::string::npos);
  // One band: the second curve's has no width.
  CHECK(count_of(svg, "<polygon") == 1);
}

TEST_CASE("Texts of a plot stay texts") {
  const TemporaryFolder folder;
  const std::string victim = (folder / "victim").string();
  const std::vector<std::string> tries = {
      "'; system('touch " + victim + "'); '",
      "\"; system(\"touch " + victim + "\"); \"",
      "x'\nsystem('touch " + victim + "')\n'",
      "`touch " + victim + "`",
      "@x ^2 _3 {/Bold y} \\n %d $1 #",
      "EOD\nset output '" + victim + "'",
      "back\\",
      "<script>alert('&')</script>",
  };
  const bool drawn = gnuplot_is_there();
  for (const std::string& evil : tries) {
    INFO(evil);
    Plot plot = sample_plot();
    plot.title = plot.x_label = plot.y_label = evil;
    plot.series[0].label = plot.marks[0].label = plot.references[0].short_label = evil;
    // No line of the script begins within a text.
    CHECK(count_of(plot_script(plot), "\n") == count_of(plot_script(sample_plot()), "\n"));
    if (!drawn) continue;
    const Drawing drawing = draw(plot, "fig1");
    REQUIRE(drawing.problem == "");
    CHECK(first_unbalanced_tag(drawing.svg) == "");
    CHECK(drawing.svg.find("<script") == std::string::npos);
    CHECK(drawing.svg.find("<title>" + escaped(evil) + "</title>") != std::string::npos);
    // gnuplot writes the characters that it was given: axis, mark and reference.
    std::string plain = evil;
    std::replace(plain.begin(), plain.end(), '\n', ' ');
    std::string in_svg;
    for (const char c : plain) in_svg += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
    CHECK(count_of(drawing.svg, "<text>" + in_svg + "</text>") >= 2);
    CHECK_FALSE(std::filesystem::exists(victim));
  }
}

TEST_CASE("Plots of what cannot be drawn as it is") {
  if (!gnuplot_is_there()) return;
  Plot plot = {.title = "t", .x_label = "x", .y_label = "y"};
  SECTION("a constant") { plot.series.push_back({"a", 0, {{1, 5, 5, 5}, {2, 5, 5, 5}}}); }
  SECTION("zeros") { plot.series.push_back({"a", 0, {{1, 0, 0, 0}, {2, 0, 0, 0}}}); }
  SECTION("one point, logarithmic") {
    plot.log2_x = plot.log10_y = true;
    plot.series.push_back({"a", 0, {{8, 1e-6, 1e-6, 1e-6}}});
  }
  SECTION("less than a decade") {
    plot.log10_y = true;
    plot.series.push_back({"a", 0, {{1, 2e-6, 2e-6, 2e-6}, {2, 3e-6, 2e-6, 4e-6}}});
  }
  SECTION("nan, and 0 on a logarithmic axis") {
    plot.log10_y = true;
    plot.series.push_back({"a", 0, {{1, NAN, 1, 2}, {2, 0, 0, 0}, {3, 1, 1, 1}, {4, 2, 1, 3}}});
  }
  SECTION("many ticks") {
    plot.log2_x = true;
    plot.series.push_back({"a", 0, {{1, 1, 1, 1}, {1 << 30, 2, 2, 2}}});
  }
  const Drawing drawing = draw(plot, "fig1");
  CHECK(drawing.problem == "");
  CHECK(first_unbalanced_tag(drawing.svg) == "");
  CHECK(words_of(drawing.svg).count("nan") == 0);
}

TEST_CASE("gnuplot as a child: large scripts, early ends, none at all") {
  const std::string large(1 << 20, '#');
  SECTION("it reads while it writes") {
    if (!gnuplot_is_there()) return;
    std::string script = "set print '-'\n";
    for (int i = 0; i < 20000; ++i) script += "print 'a line that is long enough to fill pipes'\n";
    const GnuplotResult result = run_gnuplot(script);
    CHECK(result.code == 0);
    CHECK(count_of(result.out, "\n") == 20000);
  }
  SECTION("it ends without reading") {
    const TemporaryFolder folder;
    make_program(folder / "gnuplot", "#!/bin/sh\nexit 3\n");
    const PathSetting path(folder.path().string() + ":/bin:/usr/bin");
    const GnuplotResult result = run_gnuplot(large);
    CHECK(result.found);
    CHECK(result.code == 3);
  }
  SECTION("there is none") {
    const PathSetting nowhere("/nonexistent");
    CHECK_FALSE(run_gnuplot(large).found);
    CHECK(draw(sample_plot(), "fig1").missing);
  }
}

}  // namespace
}  // namespace lssm
