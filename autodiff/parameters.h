// SPDX-License-Identifier: Apache-2.0
// The learned tensors of a model, by name.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"

namespace lssm {

struct Parameter {
  std::string name;  // dotted path from the model's structure: "layers.1.theta.weight"
  Tensor value;
  Tensor grad;  // empty until a backward pass reached it
};

// Fills `count` numbers; the generator belongs to this parameter alone.
using Init = std::function<void(std::vector<double>& values, Random& random)>;

namespace init {
Init constant(double value);
Init normal(double std);
// Uniform in [-limit, limit].
Init uniform(double limit);
// Directions uniform on the sphere: for values [components, heads], each column has length 1.
Init unit_columns(int64_t components);
}  // namespace init

class ParameterStore {
 public:
  ParameterStore(uint64_t seed, DType dtype, Device device)
      : seed_(seed), dtype_(dtype), device_(device) {}

  // A new parameter. Its first values depend on the seed, and on its place in the order of
  // creation. A name that is taken throws.
  Parameter& add(const std::string& name, const Shape& shape, const Init& init);

  std::deque<Parameter>& all() { return parameters_; }
  const std::deque<Parameter>& all() const { return parameters_; }
  int64_t count() const;  // numbers in all parameters
  void zero_grad();       // forgets all gradients
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }

 private:
  uint64_t seed_;
  DType dtype_;
  Device device_;
  std::deque<Parameter> parameters_;  // a deque: references stay valid
};

// Where a layer adds its parameters: a store and the path of names that leads here.
class ParamScope {
 public:
  ParamScope(ParameterStore& store, std::string path) : store_(&store), path_(std::move(path)) {}

  ParamScope child(const std::string& name) const {
    return {*store_, path_.empty() ? name : path_ + "." + name};
  }
  Parameter& add(const std::string& name, const Shape& shape, const Init& init) const {
    return store_->add(child(name).path_, shape, init);
  }
  DType dtype() const { return store_->dtype(); }
  Device device() const { return store_->device(); }

 private:
  ParameterStore* store_;
  std::string path_;
};

}  // namespace lssm
