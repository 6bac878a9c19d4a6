// SPDX-License-Identifier: Apache-2.0
// Messages to the terminal (standard error) and, once a run has a folder, to its log file too. The
// only header that includes spdlog: its fmt does not compile under nvcc.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace lssm {

// Plain lines on standard error.
void log_to_terminal();
// From now on only errors reach the terminal, and warnings if they are wanted.
void quiet_terminal(bool warnings);
// From now on every message also goes to the end of the file at `path`.
void log_to_file(const std::string& path);

}  // namespace lssm
