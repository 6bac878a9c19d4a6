// SPDX-License-Identifier: Apache-2.0
// Runs what README.md tells its readers to run: every block that starts with ```sh, in order, in
// one shell session per block. Blocks that fetch the source, run all tests or train for minutes are
// left out.
#include <cstdlib>
#include <regex>

#include "test/apps/program.h"

namespace lssm {
namespace {

std::vector<std::string> shell_blocks(const std::string& markdown) {
  std::vector<std::string> blocks;
  bool inside = false;
  size_t indent = 0;  // of the fence: blocks may stand in lists
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string trimmed = line.substr(begin);
    if (!inside && (trimmed == "```sh" || trimmed.starts_with("```sh "))) {
      inside = true;
      indent = begin;
      blocks.emplace_back();
    } else if (inside && trimmed.starts_with("```")) {
      inside = false;
    } else if (inside) {
      blocks.back() += line.substr(std::min(indent, begin)) + "\n";
    }
  }
  return blocks;
}

bool is_left_out(const std::string& block) {
  return block.find("git clone") != std::string::npos ||
         block.find("scripts/test") != std::string::npos ||
         block.find("scripts/reproduce") != std::string::npos;
}

// The program that was built already stands in for scripts/lssm, which would build another one.
std::string with_program(const std::string& block) {
  static const std::regex script(R"((^|[\s;(&|])(\./)?scripts/lssm(?![\w./-]))");
  return std::regex_replace(block, script, std::string("$1") + LSSM_PROGRAM);
}

TEST_CASE("shell blocks of markdown", "[readme]") {
  const std::vector<std::string> blocks = shell_blocks(
      "text\n```sh\na\nb\n```\n```json\n{}\n```\n1. x\n   ```sh\n   c\n     d\n   "
      "```\n```\nno\n```\n");
  CHECK(blocks == std::vector<std::string>{"a\nb\n", "c\n  d\n"});
  const std::string program = LSSM_PROGRAM;
  CHECK(with_program("scripts/lssm x\n./scripts/lssm y; scripts/lssm-z scripts/lssm") ==
        program + " x\n" + program + " y; scripts/lssm-z " + program);
}

TEST_CASE("the commands of README.md work", "[readme]") {
  const char* other = std::getenv("LSSM_README");
  const std::string readme = read_file(other ? other : LSSM_SOURCE "/README.md");
  // The source tree by links, so that runs stay out of it.
  const Workplace place;
  for (const auto& entry : std::filesystem::directory_iterator(LSSM_SOURCE)) {
    const std::string name = entry.path().filename().string();
    if (name != "runs" && name != "build" && name != ".git")
      std::filesystem::create_symlink(entry.path(), place.path(name));
  }
  int ran = 0;
  for (const std::string& block : shell_blocks(readme)) {
    if (is_left_out(block)) continue;
    const ProcessResult result =
        run({"bash", "-euo", "pipefail", "-c", with_program(block)}, place.options());
    INFO(block << "\nexit code " << result.code << "\n" << result.err);
    CHECK(result.code == 0);
    ++ran;
  }
  CHECK(ran > 0);
}

}  // namespace
}  // namespace lssm
