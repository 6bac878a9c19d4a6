// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace lssm::test {

// The task "group_word" with these keys; `more` adds to them. Errors are those that users see.
inline std::unique_ptr<Task> make_task(const std::string& keys, const Json& more = Json::object()) {
  Json json = Json::parse(keys);
  json.update(more);
  const std::unique_ptr<TaskConfig> config = task_registry().make("group_word");
  Fields::read(json, "/task", *config);
  return config->build();
}

// An i32 matrix, row by row.
inline std::vector<std::vector<int>> rows(const Tensor& x) {
  std::vector<std::vector<int>> out;
  const int32_t* data = x.data<int32_t>();
  for (int64_t row = 0; row < x.dim(0); ++row, data += x.dim(1))
    out.emplace_back(data, data + x.dim(1));
  return out;
}

}  // namespace lssm::test
