// SPDX-License-Identifier: Apache-2.0
#include "autodiff/parameters.h"

#include <cmath>

namespace lssm {

namespace init {

Init constant(double value) {
  return [value](std::vector<double>& values, Random&) { values.assign(values.size(), value); };
}

Init normal(double std) {
  return [std](std::vector<double>& values, Random& random) {
    for (double& v : values) v = std * random.normal();
  };
}

Init uniform(double limit) {
  return [limit](std::vector<double>& values, Random& random) {
    for (double& v : values) v = limit * (2 * random.uniform() - 1);
  };
}

Init unit_columns(int64_t components) {
  return [components](std::vector<double>& values, Random& random) {
    const size_t heads = values.size() / size_t(components);
    for (size_t head = 0; head < heads; ++head) {
      double squares = 0;
      for (size_t i = head; i < values.size(); i += heads) {
        values[i] = random.normal();
        squares += values[i] * values[i];
      }
      for (size_t i = head; i < values.size(); i += heads) values[i] /= std::sqrt(squares);
    }
  };
}

}  // namespace init

Parameter& ParameterStore::add(const std::string& name, const Shape& shape, const Init& init) {
  for (const Parameter& other : parameters_) {
    LSSM_CHECK(other.name != name, "parameters: the name \"", name, "\" is taken");
  }
  std::vector<double> values(size_t(shape.numel()));
  Random random(seed_, Stream::init, uint32_t(parameters_.size()));
  init(values, random);
  parameters_.push_back({name, Tensor::from_host(shape, values, dtype_, device_), {}});
  return parameters_.back();
}

int64_t ParameterStore::count() const {
  int64_t total = 0;
  for (const Parameter& p : parameters_) total += p.value.numel();
  return total;
}

void ParameterStore::zero_grad() {
  for (Parameter& p : parameters_) p.grad = {};
}

}  // namespace lssm
