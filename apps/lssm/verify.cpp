// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "apps/experiment/theory.h"
#include "apps/lssm/commands.h"

namespace lssm {
namespace {

struct VerifyArguments {
  std::string only;
  bool json = false;
};

std::string bound(const Claim& claim) {
  char line[64];
  if (claim.high - claim.low <= 1e-6 * claim.high) {
    std::snprintf(line, sizeof line, "= %.4g", claim.low);
  } else if (claim.low == 0) {
    std::snprintf(line, sizeof line, "<= %.2g", claim.high);
  } else {
    std::snprintf(line, sizeof line, "%.3g to %.3g", claim.low, claim.high);
  }
  return line;
}

void print(const Claim& claim) {
  std::printf("%-9s %-55s %10.4g  %-16s %s\n", claim.check.c_str(), claim.text.c_str(),
              claim.measured, bound(claim).c_str(), claim.ok() ? "ok" : "FAILED");
  std::fflush(stdout);
}

void verify(const VerifyArguments& arguments) {
  const std::vector<std::string> checks =
      arguments.only.empty() ? theory_checks() : std::vector<std::string>{arguments.only};
  int64_t failed = 0;
  Json report = Json::array();
  for (const std::string& check : checks) {
    for (const Claim& claim : check_theory(check)) {
      failed += !claim.ok();
      report.push_back({{"check", claim.check},
                        {"claim", claim.text},
                        {"measured", claim.measured},
                        {"low", claim.low},
                        {"high", claim.high},
                        {"ok", claim.ok()}});
      if (!arguments.json) print(claim);
    }
  }
  if (arguments.json) std::printf("%s\n", report.dump(2).c_str());
  if (failed > 0) fail_numeric("verify: ", failed, " of ", report.size(), " claims failed");
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("verify", "measure what theory says of these models: a line per claim");
  auto arguments = std::make_shared<VerifyArguments>();
  std::string names;
  for (const std::string& check : theory_checks()) names += (names.empty() ? "" : ", ") + check;
  command->add_option("--only", arguments->only, "a single check: " + names)->type_name("NAME");
  command->add_flag("--json", arguments->json, "print as JSON");
  command->callback([arguments] { verify(*arguments); });
}

}  // namespace lssm
