// SPDX-License-Identifier: Apache-2.0
#include "core/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "core/check.h"

namespace lssm {

void log_to_terminal() {
  auto logger =
      std::make_shared<spdlog::logger>("lssm", std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern("%v");
  spdlog::set_default_logger(std::move(logger));
}

void quiet_terminal(bool warnings) {
  spdlog::default_logger()->sinks().front()->set_level(warnings ? spdlog::level::warn
                                                                : spdlog::level::err);
}

void log_to_file(const std::string& path) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(path);
    sink->set_pattern("%Y-%m-%d %H:%M:%S %v");
    spdlog::default_logger()->sinks().push_back(std::move(sink));
    spdlog::default_logger()->flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex& error) {
    fail_file("log: ", error.what());
  }
}

}  // namespace lssm
