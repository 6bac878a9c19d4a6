// SPDX-License-Identifier: Apache-2.0
// A real Slurm of one node on the loopback, for tests: munged, slurmctld and slurmd with a
// configuration, a key and ports of their own, in a folder of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/apps/process.h"
#include "test/core/temporary_folder.h"

namespace lssm {

class SlurmCluster {
 public:
  // Starts the daemons and waits until the node is idle. Null, with the reason in `why_not`, where
  // they are not installed or do not start.
  static std::unique_ptr<SlurmCluster> start(std::string& why_not);
  // Cancels all jobs and ends the daemons.
  ~SlurmCluster();

  // Environment by which commands find this Slurm.
  std::vector<std::pair<std::string, std::string>> environment() const;
  // Runs a command of Slurm; returns its standard output.
  std::string command(const std::vector<std::string>& arguments) const;
  // Waits until no job is queued or running; false if that takes too long.
  bool wait_until_empty(double seconds) const;

 private:
  SlurmCluster() = default;
  void write_configuration() const;
  void start_daemon(const std::string& name, std::vector<std::string> arguments);
  bool is_idle() const;
  // The last line of the log of a daemon.
  std::string last_words(const std::string& name) const;

  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Process>> daemons_;  // in the order in which they were started
};

}  // namespace lssm
