// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/metrics_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lssm {

void MetricsFollower::CloseFile::operator()(const int* file) const {
  ::close(*file);
  delete file;
}

bool MetricsFollower::same_file() const {
  struct stat opened, named;
  return fstat(*file_, &opened) == 0 && stat(path_.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
         named.st_size >= position_;
}

MetricsFollower::News MetricsFollower::poll() {
  News news;
  if (file_ && !same_file()) {
    file_.reset();
    position_ = 0;
    unfinished_.clear();
    news.restarted = true;
  }
  if (!file_) {
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return news;
    file_.reset(new int(file));
  }
  std::vector<char> bytes(1 << 16);
  for (;;) {
    const ssize_t got = ::pread(*file_, bytes.data(), bytes.size(), position_);
    if (got <= 0) break;
    position_ += got;
    unfinished_.append(bytes.data(), size_t(got));
  }
  size_t begin = 0;
  for (size_t end; (end = unfinished_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Json line = Json::parse(unfinished_.begin() + int64_t(begin),
                            unfinished_.begin() + int64_t(end), nullptr, false);
    if (line.is_object() && line.contains("step") && line["step"].is_number_integer())
      news.lines.push_back(std::move(line));
  }
  unfinished_.erase(0, begin);
  return news;
}

}  // namespace lssm
