// SPDX-License-Identifier: Apache-2.0
// The tape of reverse-mode differentiation. Operations are recorded in the order in which they run;
// backward() walks that order once, from the end, and frees what it has used.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <vector>

#include "core/tensor.h"

namespace lssm {

class Tape;
struct Parameter;

// A value on a tape: a handle, cheap to copy, valid until tape->reset().
struct Var {
  Tape* tape = nullptr;
  uint32_t id = 0;

  explicit operator bool() const { return tape != nullptr; }
  Tensor value() const;  // gone after backward(), except for leaves
  Shape shape() const { return value().shape(); }
};

class Tape {
 public:
  // Without gradients parameters are plain values: nothing is kept for a backward pass.
  explicit Tape(bool with_gradients = true) : with_gradients_(with_gradients) {}
  ~Tape() { reset(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A value that came from outside. After backward() its gradient is in grad() if it needs one.
  Var leaf(const Tensor& value, bool needs_grad = false);
  // A parameter; backward() adds its gradient to parameter.grad.
  Var parameter(Parameter& parameter);

  // Appends one operation. `backward(dy)` runs at most once, after every later operation, and gives
  // each input its share through add_grad(). It captures tensors and Vars by value, only those that
  // it needs. `op` must be a string literal.
  template <class F>
  Var record(const char* op, Tensor value, std::initializer_list<Var> inputs, F backward);

  // Adds dx to the gradient of x. A gradient is added, never overwritten; dx may be shared.
  void add_grad(Var x, const Tensor& dx);
  // True if the gradient of x is wanted: operations skip the work for inputs where it is not.
  bool needs_grad(Var x) const { return nodes_[x.id].needs_grad; }

  // Gradients of a scalar, or of any values given their gradients (`seeds`, one for each of
  // `outputs`).
  void backward(Var loss);
  void backward(const std::vector<Var>& outputs, const std::vector<Tensor>& seeds);
  // The gradient of a leaf after backward(); zeros if nothing reached it.
  Tensor grad(Var leaf) const;

  // Forgets everything. Handles become invalid; memory is kept for the next step.
  void reset();

  // In this mode every value and every gradient is checked as it appears: the first that is not
  // finite throws and is named by its operation. Slow; used to explain a NaN that has been seen.
  void set_check_finite(bool on) { check_finite_ = on; }

 private:
  friend struct Var;

  struct Closure {
    virtual ~Closure() = default;
    virtual void run(const Tensor& dy) = 0;
  };
  template <class F>
  struct ClosureOf final : Closure {
    explicit ClosureOf(F f) : function(std::move(f)) {}
    void run(const Tensor& dy) override { function(dy); }
    F function;
  };
  struct Node {
    const char* op;
    Tensor value;
    Tensor grad = {};
    Closure* backward = nullptr;
    Parameter* parameter = nullptr;
    bool needs_grad = false;
  };

  Var push(Node node);
  void run_backward(uint32_t last);
  // Throws unless all are finite: `what` is "value" or "gradient" of operation `id`.
  void check_finite(const Tensor& numbers, const char* what, const char* name, size_t id) const;

  static constexpr size_t kArenaBytes = size_t(1) << 18;  // closures of a step fit; more is allowed
  std::vector<std::byte> first_block_ = std::vector<std::byte>(kArenaBytes);
  std::pmr::monotonic_buffer_resource arena_{first_block_.data(), first_block_.size()};
  std::vector<Node> nodes_;
  bool with_gradients_;
  bool check_finite_ = false;
  const char* running_ = nullptr;  // the operation whose backward pass runs
};

inline Tensor Var::value() const { return tape->nodes_[id].value; }

// For inputs that may be left out.
inline Tensor value_or_empty(Var x) { return x ? x.value() : Tensor(); }
inline Tensor like_or_empty(const Tensor& x) { return x ? Tensor::like(x) : Tensor(); }

template <class F>
Var Tape::record(const char* op, Tensor value, std::initializer_list<Var> inputs, F backward) {
  if (check_finite_) check_finite(value, "value", op, nodes_.size());
  Node node{op, std::move(value)};
  for (const Var& input : inputs) {
    LSSM_CHECK(input.tape == this, op, ": inputs are on different tapes");
    node.needs_grad = node.needs_grad || needs_grad(input);
  }
  if (node.needs_grad) {
    void* place = arena_.allocate(sizeof(ClosureOf<F>), alignof(ClosureOf<F>));
    node.backward = new (place) ClosureOf<F>(std::move(backward));
  }
  return push(std::move(node));
}

}  // namespace lssm
