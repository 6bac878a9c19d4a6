// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/machine.h"

#include <fstream>

namespace lssm {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace lssm
