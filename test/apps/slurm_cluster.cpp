// SPDX-License-Identifier: Apache-2.0
#include "test/apps/slurm_cluster.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

// Runs `done` every tenth of a second until it is true; false after so many seconds.
template <class F>
bool wait_until(double seconds, F done) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

// "" if it is not there. Debian keeps daemons in /usr/sbin, which users need not have on PATH.
std::string program(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return "";
}

// Two ports of the loopback that nobody has.
std::pair<int, int> free_ports() {
  int sockets[2], ports[2];
  for (int i = 0; i < 2; ++i) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    sockets[i] = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::bind(sockets[i], reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(sockets[i], reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no free port on the loopback");
    }
    ports[i] = ntohs(address.sin_port);
  }
  for (const int socket : sockets) ::close(socket);
  return {ports[0], ports[1]};
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const std::string full = name;
  return full.substr(0, full.find('.'));  // slurmd looks for the short one
}

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user ? user->pw_name : std::to_string(::geteuid());
}

}  // namespace

void SlurmCluster::write_configuration() const {
  const auto [controller, node] = free_ports();
  const std::string folder = folder_.path().string(), host = host_name(), user = user_name();
  std::ostringstream out;
  out << "ClusterName=lssmtest\nSlurmctldHost=" << host << "(127.0.0.1)\n"
      << "SlurmUser=" << user << "\nSlurmdUser=" << user << "\nSlurmctldPort=" << controller
      << "\nSlurmdPort="
      << node
      // cred_expire is also how long a requeued job waits, in seconds; at least 5
      << "\nAuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket=" << folder
      << "/munge.socket,cred_expire=5\nStateSaveLocation=" << folder
      << "/state\nSlurmdSpoolDir=" << folder << "/spool\nSlurmctldPidFile=" << folder
      << "/slurmctld.pid\nSlurmdPidFile=" << folder
      << "/slurmd.pid\n"
      // no cgroups, no accounting: containers often allow neither
      << "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
         "JobAcctGatherType=jobacct_gather/none\nJobCompType=jobcomp/none\n"
         "AccountingStorageType=accounting_storage/none\nMpiDefault=none\nMailProg=/bin/true\n"
         "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n"
         "SlurmdParameters=config_overrides\nKillWait=10\nMinJobAge=300\n"
         "SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1\n"
      << "NodeName=" << host << " NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\n"
      << "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
  write_file_atomically(folder_ / "slurm.conf", out.str());
}

// Its output goes to a log. It dies with this process, however that ends.
void SlurmCluster::start_daemon(const std::string& name, std::vector<std::string> arguments) {
  arguments[0] = program(arguments[0]);
  const std::string log = (folder_.path() / (name + ".log")).string();
  std::vector<std::string> words = {"setpriv", "--pdeathsig",
                                    "KILL",    "sh",
                                    "-c",      "log=$1; shift; exec \"$@\" >\"$log\" 2>&1",
                                    "sh",      log};
  words.insert(words.end(), arguments.begin(), arguments.end());
  daemons_.push_back(
      std::make_unique<Process>(words, ProcessOptions{.environment = environment()}));
}

std::unique_ptr<SlurmCluster> SlurmCluster::start(std::string& why_not) {
  for (const char* name : {"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol"}) {
    if (!program(name).empty()) continue;
    why_not = std::string(name) + " is not installed";
    return nullptr;
  }
  std::unique_ptr<SlurmCluster> cluster(new SlurmCluster);
  const fs::path folder = cluster->folder_.path();
  for (const char* name : {"state", "spool"}) fs::create_directory(folder / name);
  cluster->write_configuration();
  std::string key(64, '\0');
  std::ifstream("/dev/urandom", std::ios::binary).read(key.data(), std::streamsize(key.size()));
  write_file_atomically(folder / "munge.key", key);
  fs::permissions(folder / "munge.key", fs::perms::owner_read);
  const auto file = [&folder](const std::string& option, const std::string& name) {
    return "--" + option + "=" + (folder / name).string();
  };
  // --force: the temporary folder, which all may write, lies above the socket
  cluster->start_daemon("munged", {"munged", "--foreground", "--force", "--num-threads=2",
                                   file("socket", "munge.socket"), file("key-file", "munge.key"),
                                   file("pid-file", "munged.pid"), file("seed-file", "munge.seed"),
                                   file("log-file", "munged.out")});
  const bool munge = wait_until(10, [&] { return fs::exists(folder / "munge.socket"); });
  if (munge) {
    cluster->start_daemon("slurmctld", {"slurmctld", "-D", "-c"});
    cluster->start_daemon("slurmd", {"slurmd", "-D"});
    if (wait_until(20, [&] { return cluster->is_idle(); })) return cluster;
  }
  why_not = "the node of the test's Slurm does not become idle";
  for (const char* name : {"munged", "slurmctld", "slurmd"})
    why_not += std::string("; ") + name + ": " + cluster->last_words(name);
  return nullptr;
}

SlurmCluster::~SlurmCluster() {
  try {
    run({"scancel", "--user", user_name()}, {.environment = environment(), .timeout_s = 10});
    wait_until_empty(10);
  } catch (const std::exception&) {  // it does not answer: killed below
  }
  while (!daemons_.empty()) daemons_.pop_back();
}

std::vector<std::pair<std::string, std::string>> SlurmCluster::environment() const {
  return {{"SLURM_CONF", (folder_ / "slurm.conf").string()}};
}

std::string SlurmCluster::command(const std::vector<std::string>& arguments) const {
  const ProcessResult result = run(arguments, {.environment = environment(), .timeout_s = 30});
  if (result.code != 0) throw std::runtime_error(arguments[0] + ": " + result.err);
  return result.out;
}

bool SlurmCluster::is_idle() const {
  const ProcessResult result =
      run({"sinfo", "--noheader", "--format=%T"}, {.environment = environment(), .timeout_s = 30});
  return result.code == 0 && result.out == "idle\n";
}

bool SlurmCluster::wait_until_empty(double seconds) const {
  return wait_until(seconds, [this] { return command({"squeue", "--noheader"}).empty(); });
}

std::string SlurmCluster::last_words(const std::string& name) const {
  std::ifstream log(folder_.path() / (name + ".log"));
  std::string last = "(silent)";
  for (std::string line; std::getline(log, line);)
    if (!line.empty()) last = line;
  return last;
}

}  // namespace lssm
