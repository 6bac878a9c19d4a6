// SPDX-License-Identifier: Apache-2.0
// Curves as terminals show them, against drawings made by hand.
#include "apps/experiment/terminal_plot.h"

#include "test/test.h"

namespace lssm {
namespace {

using Lines = std::vector<std::string>;

TerminalPlotOptions ascii(int columns, int rows) {
  TerminalPlotOptions options;
  options.columns = columns;
  options.rows = rows;
  options.ascii = true;
  return options;
}

TerminalCurve curve(std::vector<CurvePoint> points) { return {.points = std::move(points)}; }

TEST_CASE("a line from corner to corner", "[watch]") {
  TerminalPlotOptions options = ascii(4, 4);
  options.title = "t";
  CHECK(terminal_plot({curve({{0, 0}, {3, 3}})}, options) ==
        Lines{"         t   ", "       3+   *", "        |  * ", "        | *  ", "       0+*   ",
              "        +----", "         0  3"});
  // Two by four dots in a character.
  options.ascii = false;
  options.rows = 2;
  CHECK(terminal_plot({curve({{0, 0}, {1, 1}})}, options) ==
        Lines{"         t   ", "       1┤  ⡠⠊", "       0┤⡠⠊  ", "        └────", "         0  1"});
}

TEST_CASE("each Braille dot is where its point is", "[watch]") {
  TerminalPlotOptions options;
  options.columns = options.rows = 1;
  options.x = {0, 1};
  options.y = {0, 3};
  const char* expected[4][2] = {{"⡀", "⢀"}, {"⠄", "⠠"}, {"⠂", "⠐"}, {"⠁", "⠈"}};
  for (const int y : {0, 1, 2, 3}) {
    for (const int x : {0, 1}) {
      CHECK(terminal_plot({curve({{double(x), double(y)}})}, options)[1] ==
            std::string("       3┤") + expected[y][x]);
    }
  }
}

TEST_CASE("a constant curve lies in the middle", "[watch]") {
  CHECK(terminal_plot({curve({{0, 2}, {1, 2}, {2, 2}})}, ascii(3, 3)) ==
        Lines{"            ", "       3+   ", "       2+***", "       1+   ", "        +---",
              "         0 2"});
}

TEST_CASE("a single point lies in the middle", "[watch]") {
  CHECK(terminal_plot({curve({{5, 7}})}, ascii(7, 3)) ==
        Lines{"                ", "    10.5+       ", "       7+   *   ", "     3.5+       ",
              "        +-------", "         2.5 7.5"});
}

TEST_CASE("a curve is broken where it has no number", "[watch]") {
  for (const double gap : {double(NAN), double(INFINITY), -double(INFINITY)}) {
    const Lines lines =
        terminal_plot({curve({{0, 0}, {1, 0}, {2, gap}, {3, 0}, {4, 1}})}, ascii(5, 2));
    CHECK(lines[1] == "       1+    *");
    CHECK(lines[2] == "       0+** * ");
  }
}

TEST_CASE("ranges may be as large or as small as numbers are", "[watch]") {
  const Lines huge = terminal_plot({curve({{0, -1e308}, {1, 0}, {2, 1e308}})}, ascii(3, 3));
  CHECK(huge[1] == "  1e+308+  *");
  CHECK(huge[2] == "       0+ * ");
  CHECK(huge[3] == " -1e+308+*  ");
  const Lines tiny = terminal_plot({curve({{0, -1e-308}, {1, 0}, {2, 1e-308}})}, ascii(3, 3));
  CHECK(tiny[1] == "  1e-308+  *");
  CHECK(tiny[2] == "       0+ * ");
  CHECK(tiny[3] == " -1e-308+*  ");
  for (const double value : {1.7e308, -1.7e308, 5e-324}) {  // constant: nowhere to widen
    const Lines constant = terminal_plot({curve({{0, value}})}, ascii(3, 3));
    INFO(constant[1] << "\n" << constant[2] << "\n" << constant[3]);
    CHECK((constant[1] + constant[2] + constant[3]).find('*') != std::string::npos);
  }
}

TEST_CASE("a log scale has equal steps for equal factors", "[watch]") {
  TerminalPlotOptions options = ascii(3, 3);
  options.log_y = true;
  const Lines lines = terminal_plot({curve({{0, 1}, {1, 10}, {2, 100}, {3, 0}})}, options);
  CHECK(lines[1] == "     100+  *");  // the 0 has no place
  CHECK(lines[2] == "      10+ * ");
  CHECK(lines[3] == "       1+*  ");
}

TEST_CASE("ranges given cut nothing off", "[watch]") {
  TerminalPlotOptions options = ascii(5, 3);
  options.x = {0, 4};
  options.y = {0, 100};
  const Lines lines = terminal_plot({curve({{1, 50}, {2, 130}, {4, -5}})}, options);
  CHECK(lines[1] == "     100+  *  ");
  CHECK(lines[2] == "      50+ * * ");
  CHECK(lines[3] == "       0+    *");
}

TEST_CASE("curves have marks and colors", "[watch]") {
  TerminalPlotOptions options = ascii(4, 1);
  options.y = {0, 3};
  options.color = true;
  const std::vector<TerminalCurve> curves = {{{{0, 2}, {1, 2}}, 'a', 0},
                                             {{{2, 2}, {3, 2}}, 'b', 1}};
  CHECK(terminal_plot(curves, options)[1] == "       3+\033[36maa\033[33mbb\033[0m");
  options.color = false;
  options.ascii = false;  // the mark is at the end of the curve
  CHECK(terminal_plot(curves, options)[1] == "       3┤⠒a⠐b");
  CHECK(color_code(7) == color_code(1));
}

TEST_CASE("without points a plot says so", "[watch]") {
  const Lines lines = terminal_plot({curve({}), curve({{0, NAN}})}, ascii(14, 3));
  CHECK(lines == Lines{"                       ", "        |              ",
                       "        | nothing yet  ", "        |              ",
                       "        +--------------", "                       "});
}

TEST_CASE("texts are fitted to columns", "[watch]") {
  CHECK(left_aligned("ab", 4) == "ab  ");
  CHECK(left_aligned("abcdef", 4) == "abcd");
  CHECK(left_aligned("größer", 4) == "größ");
  CHECK(right_aligned("größe", 7) == "  größe");
  CHECK(right_aligned("abcdef", 4) == "abcd");
}

}  // namespace
}  // namespace lssm
