// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/snap.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cstdio>

#include "kernels/rows.h"

namespace lssm {
namespace {

constexpr int kMaxRounds = 20;
using Products = std::vector<std::vector<int>>;  // [a][b]: the input that the word a b amounts to

// The place in the inputs of each element of the group, -1 for others.
std::vector<int> places(const WordProblem& problem) {
  std::vector<int> place(size_t(problem.group.order()), -1);
  for (size_t i = 0; i < problem.inputs.size(); ++i) place[size_t(problem.inputs[i])] = int(i);
  for (const int a : problem.inputs) {
    for (const int b : problem.inputs) {
      const int product = problem.group.product(a, b);
      LSSM_CHECK(place[size_t(product)] >= 0,
                 "snap: the inputs are not closed under composition: the product of ",
                 problem.group.element_name(a), " and ", problem.group.element_name(b), " is ",
                 problem.group.element_name(product),
                 ", which is none of them; expected a model with \"inputs\": \"all\"");
    }
  }
  return place;
}

// The model's answers to the words a b for one a and every b: elements, or classes beyond them.
std::vector<int> answers(const Experiment& experiment, const WordProblem& problem, size_t a) {
  const int64_t count = int64_t(problem.inputs.size()), length = problem.bos ? 3 : 2;
  Tensor tokens({count, length}, DType::i32);
  for (int64_t b = 0; b < count; ++b) {
    int32_t* row = tokens.data<int32_t>() + b * length;
    row[0] = problem.bos_token();
    row[length - 2] = problem.token(a);
    row[length - 1] = problem.token(size_t(b));
  }
  Tape tape(false);
  Context context = experiment.context(tape);
  const Tensor logits = experiment.model.forward(context, tokens).value();
  Tensor predicted({logits.dim(0)}, DType::i32, experiment.device);
  kernels::argmax_rows(logits, predicted);
  const Tensor on_host = predicted.to(Device::cpu);
  std::vector<int> last;
  for (int64_t b = 0; b < count; ++b)
    last.push_back(on_host.data<int32_t>()[b * length + length - 1]);
  return last;
}

// Asks the model, and checks that its products are those of a group.
Products own_products(const Experiment& experiment, const WordProblem& problem, int64_t& right) {
  const std::vector<int> place = places(problem);
  Products products;
  right = 0;
  for (size_t a = 0; a < problem.inputs.size(); ++a) {
    products.emplace_back();
    const std::vector<int> said = answers(experiment, problem, a);
    for (size_t b = 0; b < said.size(); ++b) {
      const bool input = said[b] < int(place.size()) && place[size_t(said[b])] >= 0;
      LSSM_CHECK(input, "snap: the model answers ", said[b], " to the tokens ", problem.token(a),
                 " and ", problem.token(b), ", which is no input");
      products.back().push_back(place[size_t(said[b])]);
      right += said[b] == problem.step(problem.inputs[a], problem.inputs[b]);
    }
  }
  // from_cayley wants the identity in front.
  const size_t e = size_t(place[0]);
  const auto renumber = [&](size_t i) { return i == e ? 0 : i == 0 ? e : i; };
  Products table = products;
  for (size_t a = 0; a < products.size(); ++a)
    for (size_t b = 0; b < products.size(); ++b)
      table[renumber(a)][renumber(b)] = int(renumber(size_t(products[a][b])));
  try {
    algebra::FiniteGroup::from_cayley("of the answers", table);
  } catch (const Error& error) {
    fail("snap: what the model answers to two tokens is no group's product (", right, " of ",
         products.size() * products.size(), " answers are right): ", error.what());
  }
  return products;
}

bool orthogonal(const Matrices& matrices) {
  const Eigen::Index v = matrices[0].rows();
  return v >= 3 && v <= 8 &&
         std::all_of(matrices.begin(), matrices.end(), [&](const Eigen::MatrixXd& m) {
           return (m.transpose() * m - Eigen::MatrixXd::Identity(v, v)).norm() < 1e-3;
         });
}

Eigen::MatrixXd polar(const Eigen::MatrixXd& m) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return svd.matrixU() * svd.matrixV().transpose();
}

// The transitions of one head.
class Head {
 public:
  Head(const Products& products, bool signless, Matrices matrices)
      : products_(products), signless_(signless), matrices_(std::move(matrices)) {}

  const Matrices& matrices() const { return matrices_; }

  double error() const {
    double largest = 0;
    for (size_t a = 0; a < products_.size(); ++a) {
      for (size_t b = 0; b < products_.size(); ++b) {
        const Eigen::MatrixXd made = matrices_[b] * matrices_[a];
        const Eigen::MatrixXd& stated = matrices_[size_t(products_[a][b])];
        double error = (stated - made).norm();
        if (signless_) error = std::min(error, (stated + made).norm());
        largest = std::max(largest, error);
      }
    }
    return largest;
  }

  // Returns how far the farthest matrix moved.
  double round() {
    Matrices next;
    double moved = 0;
    for (size_t b = 0; b < products_.size(); ++b) {
      Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(matrices_[b].rows(), matrices_[b].rows());
      for (size_t a = 0; a < products_.size(); ++a) {
        const Eigen::MatrixXd term = matrices_[size_t(products_[a][b])] * matrices_[a].transpose();
        const bool opposite = signless_ && term.cwiseProduct(matrices_[b]).sum() < 0;
        sum += opposite ? Eigen::MatrixXd(-term) : term;
      }
      next.push_back(polar(sum));
      moved = std::max(moved, (next.back() - matrices_[b]).norm());
    }
    matrices_ = std::move(next);
    return moved;
  }

 private:
  const Products& products_;
  bool signless_;
  Matrices matrices_;
};

void store(const WordProblem& problem, const Matrices& from, int64_t head, Tensor& matrices) {
  const int64_t v = matrices.dim(1), heads = matrices.dim(3);
  for (size_t i = 0; i < from.size(); ++i)
    for (int64_t row = 0; row < v; ++row)
      for (int64_t column = 0; column < v; ++column)
        matrices.data<double>()[((problem.token(i) * v + row) * v + column) * heads + head] =
            from[i](row, column);
}

}  // namespace

Snapped snap(const Experiment& experiment) {
  const WordProblem problem(experiment, "snap");
  Snapped out = {};
  const Products products = own_products(experiment, problem, out.right);
  out.products = int64_t(products.size() * products.size());
  for (const Inspection::Layer& layer : inspect(experiment).layers) {
    const bool signless = readout_of(experiment, layer.pointer) == "bloch";
    std::vector<Head> heads;
    bool suitable = true;
    for (int64_t head = 0; head < layer.matrices.dim(3); ++head) {
      heads.emplace_back(products, signless, head_matrices(problem, layer.matrices, head));
      suitable = suitable && orthogonal(heads.back().matrices());
    }
    if (!suitable) continue;
    Snapped::Layer report = {layer.pointer, {}, {}};
    Tensor matrices = layer.matrices;
    for (size_t i = 0; i < heads.size(); ++i) {
      report.before.push_back(heads[i].error());
      int rounds = 1;
      while (heads[i].round() > 1e-13 && rounds < kMaxRounds) ++rounds;
      out.rounds = std::max(out.rounds, rounds);
      report.after.push_back(heads[i].error());
      store(problem, heads[i].matrices(), int64_t(i), matrices);
    }
    out.transitions[layer.pointer] = matrices;
    out.layers.push_back(report);
  }
  LSSM_CHECK(!out.layers.empty(),
             "snap: no layer has transitions to snap: orthogonal matrices of 3 to 8 dimensions, "
             "one for each token");
  return out;
}

std::string snapped_text(const Snapped& snapped) {
  double before = 0, after = 0;
  int64_t heads = 0, exact = 0;
  for (const Snapped::Layer& layer : snapped.layers) {
    for (size_t i = 0; i < layer.after.size(); ++i) {
      ++heads;
      if (layer.after[i] > 1e-9) continue;
      ++exact;
      before = std::max(before, layer.before[i]);
      after = std::max(after, layer.after[i]);
    }
  }
  char line[200];
  std::snprintf(line, sizeof line,
                "snapped by %lld of its own products (%lld right): %lld of %lld heads are exact, "
                "error %.1e -> %.1e\n",
                static_cast<long long>(snapped.products), static_cast<long long>(snapped.right),
                static_cast<long long>(exact), static_cast<long long>(heads), before, after);
  return line;
}

Json snapped_json(const Snapped& snapped) {
  Json layers = Json::array();
  for (const Snapped::Layer& layer : snapped.layers)
    layers.push_back(
        {{"pointer", layer.pointer}, {"before", layer.before}, {"after", layer.after}});
  return {{"rounds", snapped.rounds},
          {"products", snapped.products},
          {"products_right", snapped.right},
          {"layers", layers}};
}

}  // namespace lssm
