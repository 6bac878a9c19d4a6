// SPDX-License-Identifier: Apache-2.0
// What a layer is: a function of sequences, built from its JSON config.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autodiff/ops.h"
#include "autodiff/parameters.h"
#include "core/config.h"
#include "layers/inspection.h"

namespace lssm {

// Values at the positions of a batch of sequences.
//
// A model that is fed with tokens has few different inputs. As long as layers look at one position
// at a time, they work on one row for each entry of the vocabulary, and `index` says which row
// stands at which position; dense() writes the rows out. The function and its gradients are the
// same.
struct Sequence {
  int64_t batch = 0;
  int64_t length = 0;
  Var rows;      // [batch * length, width], or [entries, width] if there is an index
  Tensor index;  // i32 [batch, length], or empty

  // One row for each position: [batch * length, width].
  Var dense() const { return index ? gather_rows(rows, index) : rows; }
  // The same positions with other rows.
  Sequence with(Var new_rows, bool is_dense = false) const {
    return {batch, length, new_rows, is_dense ? Tensor() : index};
  }
};

// The states of all recurrent layers at the borders of a chunk, in the order of the layers. `in` is
// empty at the start of a sequence.
struct Carry {
  std::vector<Var> in;
  std::vector<Var> out;
};

// One pass through a model.
struct Context {
  Tape& tape;
  bool training = false;
  uint64_t seed = 0;  // of dropout
  uint32_t draw = 0;  // number of this pass; each has its own dropout
  Tensor reset = {};  // i32 [batch, length] or empty: where it is not 0, states start afresh
  Carry* carry =
      nullptr;  // null: sequences start from the learned states and their ends are dropped
  double* drift = nullptr;  // if set: raised to the largest | |h| - 1 | of final states on a sphere
  uint32_t sites = 0;       // dropouts passed so far
  Inspection* inspection = nullptr;          // if set: filled with the layers' transitions
  const Replacement* replacement = nullptr;  // if set: transitions that layers use instead

  // The state that was carried to the next recurrent layer, or no Var.
  Var carried_state() const {
    return carry && !carry->in.empty() ? carry->in.at(carry->out.size()) : Var();
  }
};

class Layer {
 public:
  virtual ~Layer() = default;
  virtual Sequence forward(Context& context, const Sequence& x) const = 0;
  // The training loss: mean cross-entropy of the outputs, taken as logits, over the positions whose
  // mask is not 0 (all if it is empty). A layer that can have the loss for less overrides it.
  virtual Var loss(Context& context, const Sequence& x, const Tensor& target,
                   const Tensor& mask) const {
    return cross_entropy(forward(context, x).dense(), target, mask);
  }
  virtual int64_t out_width() const = 0;
  // Numbers that the layer remembers of one sequence from step to step.
  virtual int64_t state_size() const { return 0; }
};

using LayerPtr = std::unique_ptr<Layer>;

// What a layer needs to know to be built.
struct BuildContext {
  ParamScope params;
  std::string pointer;  // of the layer's JSON, for error messages
  int64_t in_width;     // 0 for the first layer of a model that reads tokens
  int64_t model_width;
  int64_t vocabulary;
  int64_t outputs;  // what the task asks for at each position, e.g. classes
  const std::vector<std::vector<int>>* class_factors;  // of the task (tasks/task.h)
  bool last;                                           // the model's last layer

  // For a layer whose width is left open (0).
  int64_t width_or(int64_t width) const { return width > 0 ? width : last ? outputs : model_width; }
};

class LayerConfig : public Configurable {
 public:
  virtual LayerPtr build(const BuildContext& context) const = 0;
  // True for a layer whose input is tokens, not rows of numbers: the first of a model.
  virtual bool reads_tokens() const { return false; }
};

const Registry<LayerConfig>& layer_registry();

}  // namespace lssm
