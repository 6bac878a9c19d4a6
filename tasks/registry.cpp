// SPDX-License-Identifier: Apache-2.0
// Every task by its JSON type, which is also the name of its file and of its make_ function.
#include "tasks/task.h"

#define LSSM_TASKS(X) X(group_word)

namespace lssm {

#define LSSM_DECLARE(name) std::unique_ptr<TaskConfig> make_##name();
LSSM_TASKS(LSSM_DECLARE)
#undef LSSM_DECLARE

const Registry<TaskConfig>& task_registry() {
#define LSSM_ENTRY(name) {#name, &make_##name},
  static const Registry<TaskConfig> registry = {"task", {LSSM_TASKS(LSSM_ENTRY)}};
#undef LSSM_ENTRY
  return registry;
}

}  // namespace lssm
