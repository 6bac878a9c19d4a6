// SPDX-License-Identifier: Apache-2.0
// Whole files: read in one go, written all or nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lssm {

// The bytes of a file; a pipe such as /dev/stdin works too.
std::string read_file(const std::filesystem::path& path);

// Replaces the file, or makes it. Whoever reads `path` sees the old bytes or the new ones, never a
// mixture, whatever happens in between: a full disk, a crash, a power cut. When it throws before
// the last step the old file is untouched and nothing is left behind; only a killed process can
// leave a temporary `<path>.tmp-<process>-<number>`.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace lssm
