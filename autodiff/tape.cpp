// SPDX-License-Identifier: Apache-2.0
#include "autodiff/tape.h"

#include <algorithm>

#include "autodiff/parameters.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace lssm {
namespace {

// grad += dx, without writing into a buffer that someone else can see.
void accumulate(Tensor& grad, const Tensor& dx) {
  if (!grad) {
    grad = dx;  // the first share: keep the handle
    return;
  }
  if (!grad.unique()) grad = grad.clone();
  kernels::add_into(grad, dx);
}

}  // namespace

Var Tape::leaf(const Tensor& value, bool needs_grad) {
  if (check_finite_) check_finite(value, "value", "leaf", nodes_.size());
  return push({.op = "leaf", .value = value, .needs_grad = needs_grad && with_gradients_});
}

Var Tape::parameter(Parameter& parameter) {
  if (check_finite_) check_finite(parameter.value, "value", parameter.name.c_str(), nodes_.size());
  return push({.op = "parameter",
               .value = parameter.value,
               .parameter = &parameter,
               .needs_grad = with_gradients_});
}

Var Tape::push(Node node) {
  nodes_.push_back(std::move(node));
  return {this, uint32_t(nodes_.size() - 1)};
}

void Tape::add_grad(Var x, const Tensor& dx) {
  Node& node = nodes_[x.id];
  if (!node.needs_grad) return;
  LSSM_CHECK(dx.shape() == node.value.shape() && dx.dtype() == node.value.dtype(), node.op,
             ": gradient ", dx.shape(), " ", dtype_name(dx.dtype()), " for a value ",
             node.value.shape(), " ", dtype_name(node.value.dtype()));
  if (check_finite_) {
    check_finite(dx, "gradient", node.parameter ? node.parameter->name.c_str() : node.op, x.id);
  }
  accumulate(node.grad, dx);
}

void Tape::backward(Var loss) {
  LSSM_CHECK(loss.value().numel() == 1, "backward: the loss must be one number, got ",
             loss.shape());
  Tensor one = Tensor::like(loss.value());
  kernels::fill(one, 1);
  add_grad(loss, one);
  run_backward(loss.id);
}

void Tape::backward(const std::vector<Var>& outputs, const std::vector<Tensor>& seeds) {
  LSSM_CHECK(outputs.size() == seeds.size() && !outputs.empty(), "backward: ", outputs.size(),
             " outputs and ", seeds.size(), " seeds");
  uint32_t last = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    add_grad(outputs[i], seeds[i]);
    last = std::max(last, outputs[i].id);
  }
  run_backward(last);
}

void Tape::run_backward(uint32_t last) {
  for (size_t i = size_t(last) + 1; i-- > 0;) {
    Node& node = nodes_[i];
    if (node.parameter && node.grad) accumulate(node.parameter->grad, node.grad);
    if (!node.backward) continue;  // leaves keep their gradient
    running_ = node.op;
    if (node.grad) node.backward->run(node.grad);
    node.grad = {};  // peak memory falls as we walk back
    node.backward->~Closure();
    node.backward = nullptr;
    node.value = {};
  }
}

Tensor Tape::grad(Var leaf) const {
  const Node& node = nodes_[leaf.id];
  return node.grad ? node.grad : Tensor::zeros_like(node.value);
}

void Tape::reset() {
  for (Node& node : nodes_) {
    if (node.backward) node.backward->~Closure();
  }
  nodes_.clear();
  running_ = nullptr;
  arena_.release();
}

void Tape::check_finite(const Tensor& numbers, const char* what, const char* name,
                        size_t id) const {
  if (numbers.dtype() == DType::i32) return;
  const int64_t bad = kernels::first_not_finite(numbers);
  if (bad < 0) return;
  const std::string maker = running_ ? text(", made by \"", running_, "\"") : "";
  fail_numeric("not a finite number: the ", what, " of \"", name, "\"", maker, " (operation ", id,
               ", shape ", numbers.shape(), ") at position ", bad);
}

}  // namespace lssm
