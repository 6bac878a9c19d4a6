// SPDX-License-Identifier: Apache-2.0
// Folders in which one process at a time works: those of runs and of sweeps.
#pragma once

#include <filesystem>

namespace lssm {

// Keeps a folder for this process until the lock ends; a second process is refused. The folder must
// be there. The lock ends with the process however that ends.
class FolderLock {
 public:
  // `what` is its name in errors: "run folder".
  FolderLock(const std::filesystem::path& folder, const char* what);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  int descriptor_;  // of the folder; -1: moved from
};

// Whether some process, this one included, holds a lock on the folder.
bool is_locked(const std::filesystem::path& folder);

}  // namespace lssm
