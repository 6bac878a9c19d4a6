// SPDX-License-Identifier: Apache-2.0
// A learned vector for each token, N(0, 1) at the start. Reads tokens, so it comes first.
// JSON: {"type": "embedding", "width": 64}
#include "layers/layer.h"

namespace lssm {
namespace {

class Embedding final : public Layer {
 public:
  Embedding(const BuildContext& context, int64_t width)
      : table_(context.params.add("weight", {context.vocabulary, width}, init::normal(1))) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    const Sequence entries = x.with(context.tape.parameter(table_));
    // With more entries than positions it is cheaper to work position by position. Transitions are
    // read out and replaced by entry.
    const bool by_entry =
        table_.value.dim(0) < x.batch * x.length || context.inspection || context.replacement;
    return by_entry ? entries : x.with(entries.dense(), true);
  }
  int64_t out_width() const override { return table_.value.dim(1); }

 private:
  Parameter& table_;
};

class EmbeddingConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("width", width, "numbers per token; 0: the model's width", at_least(0));
  }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<Embedding>(context, width > 0 ? width : context.model_width);
  }
  bool reads_tokens() const override { return true; }

  int64_t width = 0;
};

}  // namespace

std::unique_ptr<LayerConfig> make_embedding() { return std::make_unique<EmbeddingConfig>(); }

}  // namespace lssm
