// SPDX-License-Identifier: Apache-2.0
// gnuplot as a child process.
#pragma once

#include <string>

namespace lssm {

struct GnuplotResult {
  bool found = false;  // whether there is a gnuplot on PATH
  int code = -1;       // its exit code, or 128 + the signal that ended it
  std::string out, err;
};

// Runs the gnuplot that PATH finds, with the script as its input. No shell and no files: the
// script's output comes back. A missing gnuplot is an answer, not an error.
GnuplotResult run_gnuplot(const std::string& script);

}  // namespace lssm
