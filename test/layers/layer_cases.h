// SPDX-License-Identifier: Apache-2.0
// One table of small models: every type of layer, and every option that changes what it computes.
// A new layer gets its rows in layer_cases.cpp; all tests of layer_test.cpp then run over it.
#pragma once

#include <string>
#include <vector>

#include "layers/model.h"

namespace lssm::test {

struct ModelCase {
  std::string name;
  std::string layers;  // JSON: the list of the model's layers
  // Parameters that no gradient can reach: h0 of a real state is a sign.
  std::vector<std::string> without_gradient = {};
};

const std::vector<ModelCase>& model_cases();
// Rows of the table for the parts of deep blocks (layer_cases_deep.cpp).
void add_deep_cases(std::vector<ModelCase>& cases);
// Rows of the table for delta_product (layer_cases_delta.cpp).
void add_delta_cases(std::vector<ModelCase>& cases);
// Rows of the table for the layers gru and lstm (layer_cases_rnn.cpp).
void add_rnn_cases(std::vector<ModelCase>& cases);

constexpr int64_t kVocabulary = 5, kOutputs = 3;
// The classes as pairs: (0, 0), (0, 1), (1, 0).
const std::vector<std::vector<int>> kClassFactors = {{0, 0, 1}, {0, 1, 0}};

// The list of a model's layers: an embedding, these, and `last`.
std::string framed(const std::string& layers, const std::string& last = R"({"type": "linear"})");
// A model of width 4 with these layers. An Error is thrown as users would see it.
ModelConfig model_config(const std::string& layers);

// The model of a case. All parameters are moved away from their first values by a few tenths, so
// that no test rests on a bias of 0, a gain of 1 or a start of length 1.
struct TestModel {
  explicit TestModel(const std::string& layers, DType dtype = DType::f64,
                     int64_t vocabulary = kVocabulary);
  Model model;
};

// Gives the parameter `name` these values; throws an Error if there is none of that name.
void set_parameter(Model& model, const std::string& name, const std::vector<double>& values);

Tensor random_tokens(int64_t batch, int64_t length, int64_t vocabulary = kVocabulary);
// Columns [begin, end) of an i32 matrix.
Tensor columns(const Tensor& x, int64_t begin, int64_t end);

struct PassOptions {
  std::vector<int64_t> chunks = {};  // lengths that the sequence is cut into; empty: one chunk
  bool carry = true;                 // false: every chunk starts from the learned states
  Tensor reset = {};                 // i32 [batch, length]
  bool training = false;
  bool with_gradients = true;
  uint32_t draw = 0;
  int64_t first_row = 0;  // of the loss's weights, for a batch that is part of a larger one
};

// What a model says about a batch of sequences. The loss weighs every output and every number of
// the states at the end with a fixed random number, so that no errors cancel.
struct Pass {
  double loss = 0;
  std::vector<double> outputs;                 // [batch, length, kOutputs]
  std::vector<std::vector<double>> states;     // at the end, of each recurrent layer
  std::vector<std::vector<double>> gradients;  // of each parameter; empty: none came
};

// Runs the chunks on one tape and carries the states from one to the next.
Pass run(Model& model, const Tensor& tokens, const PassOptions& options = {});

// The largest magnitude.
double largest(const std::vector<double>& x);
// The largest difference of two entries, relative to the largest entry (or 1, if that is larger).
// Infinite where sizes differ, or an entry is not a number.
double difference(const std::vector<double>& a, const std::vector<double>& b);
// The largest of the differences of outputs, states and gradients.
double difference(const Pass& a, const Pass& b);

// Rows of the table for the options of lie_ssm, cascades and the factored readout
// (layer_cases_lie.cpp).
void add_lie_option_cases(std::vector<ModelCase>& cases);

}  // namespace lssm::test
