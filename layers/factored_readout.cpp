// SPDX-License-Identifier: Apache-2.0
// Logits of classes that are tuples of parts: the sum of a logit for each part. For a group word
// the parts are the element's coset of [G, G] and its place in [G, G] (tasks/group_word.cpp): the
// abelianization head and the core head of the Lie-SSM paper, section 3.5. The softmax of a sum is
// the product of the softmaxes, so the cross-entropy of the class is the sum of those of its parts
// (they are independent given the state), and the likeliest class has the likeliest parts.
// JSON: {"type": "factored_readout", "first_inputs": 12, "hidden": 0}
#include <algorithm>
#include <optional>

#include "layers/affine.h"

namespace lssm {
namespace {

// An affine map, or two with GELU in between.
class Head {
 public:
  Head(const ParamScope& params, int64_t in, int64_t hidden, int64_t out)
      : out_(params.child("out"), hidden > 0 ? hidden : in, out) {
    if (hidden > 0) in_.emplace(params.child("in"), in, hidden);
  }
  Var operator()(Tape& tape, Var rows) const {
    if (in_) rows = activation(kernels::Activation::gelu, (*in_)(tape, rows));
    return out_(tape, rows);
  }

 private:
  std::optional<Affine> in_;
  Affine out_;
};

class FactoredReadout final : public Layer {
 public:
  FactoredReadout(const BuildContext& context, int64_t first_inputs, int64_t hidden)
      : first_inputs_(first_inputs), classes_(context.outputs) {
    const auto& factors = *context.class_factors;
    LSSM_CHECK(context.last, context.pointer,
               ": factored_readout gives the task's classes, so it can only be the last layer");
    LSSM_CHECK(!factors.empty(), context.pointer,
               ": the task's classes have no factors (a word problem has them if its group is "
               "neither abelian nor perfect, and without bos)");
    LSSM_CHECK(first_inputs <= context.in_width, context.pointer, "/first_inputs: got ",
               first_inputs, ", expected at most the layer's ", context.in_width, " inputs");
    int64_t parts = 0;
    for (size_t f = 0; f < factors.size(); ++f) {
      const int64_t count = *std::max_element(factors[f].begin(), factors[f].end()) + 1;
      const bool narrow = f == 0 && first_inputs > 0;
      heads_.emplace_back(context.params.child(std::to_string(f)),
                          narrow ? first_inputs : context.in_width, hidden, count);
      parts += count;
    }
    sums_ = sums_of_parts(factors, parts, context.params);
  }

  Sequence forward(Context& context, const Sequence& x) const override {
    Tape& tape = context.tape;
    Var parts;
    for (const Head& head : heads_) {
      const bool narrow = !parts && first_inputs_ > 0;
      const Var logits = head(tape, narrow ? slice_columns(x.rows, 0, first_inputs_) : x.rows);
      parts = parts ? concat_columns(parts, logits) : logits;
    }
    return x.with(linear(parts, tape.leaf(sums_), Var()));
  }
  int64_t out_width() const override { return classes_; }

 private:
  // [parts, classes]: 1 where a class has the part.
  static Tensor sums_of_parts(const std::vector<std::vector<int>>& factors, int64_t parts,
                              const ParamScope& params) {
    const int64_t classes = int64_t(factors[0].size());
    std::vector<double> sums(size_t(parts * classes));
    int64_t first = 0;
    for (const std::vector<int>& part : factors) {
      for (int64_t c = 0; c < classes; ++c)
        sums[size_t((first + part[size_t(c)]) * classes + c)] = 1;
      first += *std::max_element(part.begin(), part.end()) + 1;
    }
    return Tensor::from_host({parts, classes}, sums, params.dtype(), params.device());
  }

  int64_t first_inputs_, classes_;
  std::vector<Head> heads_;
  Tensor sums_;
};

class FactoredReadoutConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("first_inputs", first_inputs,
          "the head of the first factor sees only so many of the first inputs; 0: all",
          at_least(0));
    f.add("hidden", hidden, "width of a hidden layer in each head; 0: none", at_least(0));
  }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<FactoredReadout>(context, first_inputs, hidden);
  }
  int64_t first_inputs = 0, hidden = 0;
};

}  // namespace

std::unique_ptr<LayerConfig> make_factored_readout() {
  return std::make_unique<FactoredReadoutConfig>();
}

}  // namespace lssm
