// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "core/check.h"
#include "test/core/temporary_folder.h"
#include "test/test.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

// While it lives, no file of this process grows past `bytes`: what a full disk looks like to a
// writer, without the need to fill one.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_action_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    signal(SIGXFSZ, old_action_);
  }

 private:
  rlimit old_limit_;
  void (*old_action_)(int);
};

std::set<std::string> names(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// The message of the error that `action` throws; it must be of kind `file`.
template <class Action>
std::string file_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == Error::Kind::file);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a file comes back as written") {
  TemporaryFolder folder;
  const fs::path path = folder / "x";
  for (size_t size : {0, 1, 4095, 4096, 1 << 20}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = char(i * 31 + i / 256);
    write_file_atomically(path, bytes);
    CHECK(read_file(path) == bytes);
  }
  CHECK(names(folder.path()) == std::set<std::string>{"x"});
}

TEST_CASE("a written file has the usual permissions") {
  TemporaryFolder folder;
  const mode_t old_mask = umask(027);
  write_file_atomically(folder / "x", "x");
  umask(old_mask);
  struct stat status;
  REQUIRE(stat((folder / "x").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a path without a folder means the current one") {
  TemporaryFolder folder;
  const fs::path old = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("x", "here");
  fs::current_path(old);
  CHECK(read_file(folder / "x") == "here");
}

TEST_CASE("a pipe is read to its end") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const std::string bytes(200'000, 'p');  // more than a pipe holds
  std::thread writer([&] {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = write(ends[1], bytes.data() + sent, bytes.size() - sent);
      if (n <= 0) break;
      sent += size_t(n);
    }
    close(ends[1]);
  });
  const std::string got = read_file(text("/dev/fd/", ends[0]));
  writer.join();
  close(ends[0]);
  CHECK(got == bytes);
}

TEST_CASE("reading what cannot be read says why") {
  TemporaryFolder folder;
  CHECK(file_error([&] { read_file(folder / "x"); }) ==
        "cannot read " + (folder / "x").string() + ": No such file or directory");
  CHECK(file_error([&] { read_file(folder.path()); }) ==
        "cannot read " + folder.path().string() + ": Is a directory");
}

TEST_CASE("a failing write keeps the old file and leaves nothing behind") {
  TemporaryFolder folder;
  const fs::path path = folder / "x";
  write_file_atomically(path, "old");
  const std::string bytes(1 << 20, 'n');
  std::string message;
  {
    // The limit falls inside the bytes: the first write is short, the second fails.
    FileSizeLimit limit(bytes.size() / 2);
    message = file_error([&] { write_file_atomically(path, bytes); });
  }
  CHECK(message == "cannot write " + path.string() + ": File too large");
  CHECK(read_file(path) == "old");
  CHECK(names(folder.path()) == std::set<std::string>{"x"});
  write_file_atomically(path, bytes);
  CHECK(read_file(path) == bytes);
}

TEST_CASE("writing where nothing can be written says why") {
  TemporaryFolder folder;
  const fs::path no_folder = folder / "no" / "x";
  CHECK(file_error([&] { write_file_atomically(no_folder, "x"); }) ==
        "cannot write " + no_folder.string() + ": No such file or directory");

  fs::create_directories(folder / "taken" / "inner");
  CHECK(file_error([&] { write_file_atomically(folder / "taken", "x"); }) ==
        "cannot replace " + (folder / "taken").string() + ": Is a directory");

  write_file_atomically(folder / "file", "x");
  CHECK(file_error([&] { write_file_atomically(folder / "file" / "x", "x"); }) ==
        "cannot write " + (folder / "file" / "x").string() + ": Not a directory");
  CHECK(names(folder.path()) == std::set<std::string>{"taken", "file"});

  if (geteuid() != 0) {  // root may write anywhere
    fs::create_directory(folder / "locked");
    fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(file_error([&] { write_file_atomically(folder / "locked" / "x", "x"); }) ==
          "cannot write " + (folder / "locked" / "x").string() + ": Permission denied");
    fs::permissions(folder / "locked", fs::perms::owner_all);
  }
}

TEST_CASE("writers of one file do not mix") {
  TemporaryFolder folder;
  const fs::path path = folder / "x";
  std::vector<std::thread> writers;
  for (char c : {'a', 'b', 'c', 'd'})
    writers.emplace_back([&path, c] {
      for (int i = 0; i < 5; ++i) write_file_atomically(path, std::string(10'000, c));
    });
  for (auto& writer : writers) writer.join();
  const std::string got = read_file(path);
  CHECK(got == std::string(10'000, got.at(0)));
  CHECK(names(folder.path()) == std::set<std::string>{"x"});
}

TEST_CASE("a process killed while it writes leaves the old file or the new one") {
  TemporaryFolder folder;
  const fs::path path = folder / "x";
  const std::string a(1 << 20, 'a'), b(1 << 20, 'b');
  write_file_atomically(path, a);
  for (int round = 0; round < 8; ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
      for (;;) {
        write_file_atomically(path, b);
        write_file_atomically(path, a);
      }
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + 2 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string got = read_file(path);
    CHECK((got == a || got == b));
  }
}

}  // namespace lssm
