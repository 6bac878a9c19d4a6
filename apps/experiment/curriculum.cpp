// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/curriculum.h"

namespace lssm {

void CurriculumStage::fields(Fields& f) {
  f.require("length", length, "of the training sequences in this stage", at_least(1));
  f.add("steps", steps, "the stage ends after so many; 0: by its loss alone", at_least(0));
  f.add("loss_below", loss_below,
        "the stage ends when the loss, averaged over about ten steps, is below; 0: by its steps "
        "alone",
        at_least(0));
  f.check(steps > 0 || loss_below > 0, "steps", "a stage needs steps or loss_below to end");
  f.add("batch", batch, "sequences in a batch; 0: as everywhere", between(0, 1 << 24));
}

const CurriculumStage* Curriculum::stage(const CurriculumState& state) const {
  return state.stage < int64_t(stages_.size()) ? &stages_[size_t(state.stage)] : nullptr;
}

CurriculumState Curriculum::after_step(CurriculumState state, double loss) const {
  const CurriculumStage* now = stage(state);
  if (!now) return state;
  constexpr double kKept = 0.9;
  state.average_loss = state.steps == 0 ? loss : kKept * state.average_loss + (1 - kKept) * loss;
  ++state.steps;
  const bool long_enough = now->steps > 0 && state.steps >= now->steps;
  const bool learned = now->loss_below > 0 && state.average_loss < now->loss_below;
  return long_enough || learned ? CurriculumState{state.stage + 1} : state;
}

}  // namespace lssm
