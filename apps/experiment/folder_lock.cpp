// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace lssm {
namespace {

int open_folder(const std::filesystem::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, const char* what)
    : descriptor_(open_folder(folder)) {
  if (descriptor_ < 0)
    fail_file(folder.string(), ": the ", what, " cannot be opened: ", std::strerror(errno));
  // is_locked() of another process holds the lock for a moment.
  constexpr int kTries = 20;
  for (int tries = 1; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (tries == kTries) {
      ::close(descriptor_);
      fail_file(folder.string(), ": another process works in this ", what);
    }
    ::usleep(10000);
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool is_locked(const std::filesystem::path& folder) {
  const int descriptor = open_folder(folder);
  if (descriptor < 0) return false;
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

}  // namespace lssm
