// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "core/check.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_errno(const char* what, const fs::path& path, int error) {
  fail_file("cannot ", what, " ", path.string(), ": ", std::generic_category().message(error));
}

// Repeats a system call that a signal interrupted (Ctrl-C saves a checkpoint, it must not spoil
// it).
template <class Call>
auto retry(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return number_; }
  // False with errno set when the system reports a write error only now, as NFS may. Interrupted
  // or not, the descriptor is gone: it must not be closed twice.
  bool close() {
    const int number = number_;
    number_ = -1;
    return number < 0 || ::close(number) == 0 || errno == EINTR;
  }

 private:
  int number_;
};

// A new file next to `path`, removed unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& path) : file_(create(path, name_)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!kept_) ::unlink(name_.c_str());
  }

  const fs::path& name() const { return name_; }
  Descriptor& file() { return file_; }
  void keep() { kept_ = true; }

 private:
  // O_EXCL: no two writers share a name, be they threads, processes or machines.
  static int create(const fs::path& path, fs::path& name) {
    static std::atomic<unsigned> count = 0;
    for (;;) {
      name = path;
      name += text(".tmp-", ::getpid(), "-", count++);
      const int number = retry(
          [&] { return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
      if (number >= 0) return number;
      if (errno != EEXIST) fail_errno("write", path, errno);
    }
  }

  fs::path name_;
  Descriptor file_;
  bool kept_ = false;
};

void write_all(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = retry([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written <= 0) fail_errno("write", path, written < 0 ? errno : EIO);
    bytes.remove_prefix(size_t(written));
  }
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor file(retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  struct stat status;
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) fail_errno("read", path, errno);

  // The size is a first guess (pipes have none, files grow); one byte more lets the usual file end
  // without growing the string.
  std::string bytes(size_t(status.st_size) + 1, '\0');
  size_t size = 0;
  for (;;) {
    const ssize_t got =
        retry([&] { return ::read(file.get(), bytes.data() + size, bytes.size() - size); });
    if (got < 0) fail_errno("read", path, errno);
    if (got == 0) break;
    size += size_t(got);
    if (size == bytes.size()) bytes.resize(std::max<size_t>(2 * size, 1 << 16));
  }
  bytes.resize(size);
  return bytes;
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Descriptor folder(
      retry([&] { return ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (folder.get() < 0) fail_errno("write", path, errno);

  TemporaryFile temporary(path);
  write_all(temporary.file().get(), bytes, path);
  // The data must be on the disk before the name points to it: after a power cut some file systems
  // would otherwise show the new name with no bytes.
  if (retry([&] { return ::fsync(temporary.file().get()); }) != 0 || !temporary.file().close())
    fail_errno("write", path, errno);
  if (::rename(temporary.name().c_str(), path.c_str()) != 0) fail_errno("replace", path, errno);
  temporary.keep();
  // The new name itself. Some network file systems cannot sync a folder and say EINVAL.
  if (retry([&] { return ::fsync(folder.get()); }) != 0 && errno != EINVAL)
    fail_errno("sync the folder of", path, errno);
}

}  // namespace lssm
