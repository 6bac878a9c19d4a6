// SPDX-License-Identifier: Apache-2.0
#include "test/layers/layer_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/lie/group.h"
#include "core/random.h"

namespace lssm::test {
namespace {

const char* kEmbedding = R"({"type": "embedding"})";

void add_lie_cases(std::vector<ModelCase>& cases) {
  lie::Groups::for_each([&]<class G>(G) {
    if (!G::is_group) return;
    std::vector<std::string> readouts = {"raw", "direction"};
    if (std::string(G::name) == "su2") readouts.push_back("bloch");
    for (const std::string& readout : readouts) {
      for (const char* inject : {"false", "true"}) {
        cases.push_back({text("lie_ssm ", G::name, " ", readout, " inject ", inject),
                         framed(text(R"({"type": "lie_ssm", "group": ")", G::name,
                                     R"(", "heads": 3, "readout": ")", readout, R"(", "inject": )",
                                     inject, "}"))});
      }
    }
    // A full pack of heads and one more, and a single head.
    for (int heads : {1, 9}) {
      cases.push_back({text("lie_ssm ", G::name, " heads ", heads),
                       framed(text(R"({"type": "lie_ssm", "group": ")", G::name, R"(", "heads": )",
                                   heads, R"(, "readout": "raw", "angle_std": 0.5})"))});
    }
  });
}

std::string lie_layer(const std::string& group, const std::string& map, const std::string& readout,
                      const std::string& more = "") {
  return framed(text(R"({"type": "lie_ssm", "heads": 3, "group": ")", group, R"(", "map": ")", map,
                     R"(", "readout": ")", readout, "\"", more, "}"));
}

// Groups of matrices: every map, and every readout once. Half the angles of the others: in eight
// dimensions there are many coordinates.
void add_matrix_group_cases(std::vector<ModelCase>& cases) {
  const std::string milder = R"(, "angle_std": 0.5)";
  for (const std::string& group : lie::MatrixGroups::names()) {
    for (const char* map : {"exp", "cayley", "cayley2"}) {
      cases.push_back({text("lie_ssm ", group, ' ', map), lie_layer(group, map, "raw", milder)});
    }
    for (const char* readout : {"direction", "direction_radial"}) {
      cases.push_back({text("lie_ssm ", group, " exp ", readout, " inject true"),
                       lie_layer(group, "exp", readout, milder + R"(, "inject": true)")});
    }
  }
}

// Rigid motions and lengths.
void add_rigid_cases(std::vector<ModelCase>& cases) {
  for (const char* readout : {"raw", "direction", "direction_radial"}) {
    cases.push_back({text("lie_ssm se3 ", readout), lie_layer("se3", "exp", readout)});
  }
  const std::string inject = R"(, "inject": true)";
  cases.push_back({"lie_ssm se3 inject true", lie_layer("se3", "exp", "raw", inject)});
  for (const char* group : {"so2", "su2", "so3"}) {
    cases.push_back({text("lie_ssm ", group, " direction_radial inject true"),
                     lie_layer(group, "exp", "direction_radial", inject)});
  }
  cases.push_back({"lie_ssm se3 after a recurrence",
                   framed(R"({"type": "lie_ssm", "group": "so5", "map": "cayley2", "heads": 2},
                             {"type": "lie_ssm", "group": "se3", "heads": 2})")});
}

void add_diagonal_cases(std::vector<ModelCase>& cases) {
  for (const char* kind : {"real", "complex", "unit"}) {
    for (const char* range : {"[0, 1]", "[-1, 1]"}) {
      if (kind == std::string("unit") && range == std::string("[-1, 1]")) continue;
      for (const bool inject : {false, true}) {
        std::vector<std::string> none;
        if (std::string(kind) == "real" && !inject) none.push_back("layers.1.h0");
        cases.push_back(
            {text("diagonal_ssm ", kind, " ", range, inject ? " inject true" : " inject false"),
             framed(text(R"({"type": "diagonal_ssm", "heads": 3, "kind": ")", kind,
                         R"(", "range": )", range, R"(, "inject": )", inject ? "true" : "false",
                         "}")),
             none});
      }
    }
  }
}

void add_position_cases(std::vector<ModelCase>& cases) {
  cases.push_back({"embedding alone", R"([{"type": "embedding", "width": 3}])"});
  cases.push_back({"linear", framed(R"({"type": "linear", "width": 6})")});
  cases.push_back({"mlp gelu", framed(R"({"type": "mlp", "hidden": 5, "activation": "gelu"})")});
  cases.push_back({"mlp silu", framed(R"({"type": "mlp", "activation": "silu", "width": 2})")});
  cases.push_back({"layer_norm", framed(R"({"type": "layer_norm"})")});
  cases.push_back({"layer_norm eps", framed(R"({"type": "layer_norm", "eps": 0.5})")});
  cases.push_back({"rms_norm", framed(R"({"type": "rms_norm"})")});
  cases.push_back({"rms_norm eps", framed(R"({"type": "rms_norm", "eps": 0.5})")});
  cases.push_back({"dropout", framed(R"({"type": "dropout", "rate": 0.3})")});
  cases.push_back({"dropout 0", framed(R"({"type": "dropout", "rate": 0})")});
}

void add_nested_cases(std::vector<ModelCase>& cases) {
  const std::string lie = R"({"type": "lie_ssm", "group": "su2", "heads": 1, "readout": "raw"})";
  cases.push_back(
      {"residual of token rows", framed(R"({"type": "residual", "layers": [{"type": "mlp"}]})")});
  cases.push_back(
      {"residual that turns dense", framed(R"({"type": "residual", "layers": [)" + lie + "]}")});
  cases.push_back(
      {"residual of dropout",
       framed(R"({"type": "residual", "layers": [{"type": "dropout", "rate": 0.5}]})")});
  cases.push_back({"residual after a recurrence",
                   framed(lie + R"(, {"type": "residual", "layers": [{"type": "rms_norm"},
                                     {"type": "mlp", "hidden": 3}]})")});
  cases.push_back({"sequential in sequential",
                   R"([{"type": "sequential", "layers": [{"type": "embedding", "width": 2},
            {"type": "sequential", "layers": [{"type": "linear"}, {"type": "rms_norm"}]}]},
           {"type": "sequential", "layers": [{"type": "mlp", "hidden": 3}]}])"});
  cases.push_back({"deep mixture", framed(R"(
      {"type": "residual", "layers": [
        {"type": "rms_norm"},
        {"type": "lie_ssm", "group": "so3", "heads": 2, "readout": "direction"},
        {"type": "dropout", "rate": 0.2},
        {"type": "linear"}]},
      {"type": "residual", "layers": [{"type": "layer_norm"}, {"type": "mlp", "hidden": 5}]},
      {"type": "residual", "layers": [
        {"type": "diagonal_ssm", "kind": "complex", "heads": 2},
        {"type": "residual", "layers": [
          {"type": "sequential", "layers": [
            {"type": "lie_ssm", "group": "so2", "heads": 2, "readout": "raw", "inject": true}]}]},
        {"type": "linear"}]},
      {"type": "lie_ssm", "group": "su2", "heads": 2, "readout": "bloch"})")});
}

std::vector<ModelCase> make_cases() {
  std::vector<ModelCase> cases;
  add_lie_cases(cases);
  add_matrix_group_cases(cases);
  add_rigid_cases(cases);
  add_diagonal_cases(cases);
  add_position_cases(cases);
  add_nested_cases(cases);
  add_lie_option_cases(cases);
  add_deep_cases(cases);
  add_rnn_cases(cases);
  add_delta_cases(cases);
  return cases;
}

// A weight that depends on the place alone: (row, step, output), or (-1 - layer, row, number).
double weight(int64_t a, int64_t b, int64_t c) {
  return 2 * Random(uint64_t(a), Stream::check, uint32_t(b * 1009 + c)).uniform() - 1;
}

Tensor output_weights(const Tensor& outputs, int64_t first_row, int64_t batch, int64_t begin,
                      int64_t length) {
  std::vector<double> w;
  for (int64_t row = first_row; row < first_row + batch; ++row)
    for (int64_t t = begin; t < begin + length; ++t)
      for (int64_t k = 0; k < kOutputs; ++k) w.push_back(weight(row, t, k));
  return Tensor::from_host(outputs.shape(), w, outputs.dtype());
}

Tensor state_weights(const Tensor& state, int64_t first_row, int64_t layer) {
  std::vector<double> w;
  const int64_t batch = state.dim(0), numbers = state.dim(1) * state.dim(2);
  for (int64_t row = first_row; row < first_row + batch; ++row)
    for (int64_t i = 0; i < numbers; ++i) w.push_back(weight(-1 - layer, row, i));
  return Tensor::from_host(state.shape(), w, state.dtype());
}

}  // namespace

std::string framed(const std::string& layers, const std::string& last) {
  return std::string("[") + kEmbedding + ", " + layers + ", " + last + "]";
}

const std::vector<ModelCase>& model_cases() {
  static const std::vector<ModelCase> cases = make_cases();
  return cases;
}

ModelConfig model_config(const std::string& layers) {
  Json json = {{"width", 4}, {"layers", Json::parse(layers)}};
  ModelConfig config;
  Fields::read(json, "/model", config);
  return config;
}

TestModel::TestModel(const std::string& layers, DType dtype, int64_t vocabulary)
    : model(model_config(layers), {vocabulary, kOutputs, kClassFactors}, 11, dtype, Device::cpu) {
  uint32_t index = 0;
  for (Parameter& p : model.parameters().all()) {
    Random random(12, Stream::check, index++);
    std::vector<double> values = p.value.to_host();
    for (double& x : values) x += 0.3 * random.normal();
    p.value.copy_from(Tensor::from_host(p.value.shape(), values, dtype));
  }
}

void set_parameter(Model& model, const std::string& name, const std::vector<double>& values) {
  for (Parameter& p : model.parameters().all()) {
    if (p.name != name) continue;
    LSSM_CHECK(p.value.numel() == int64_t(values.size()), name, " has ", p.value.numel(),
               " numbers");
    p.value.copy_from(Tensor::from_host(p.value.shape(), values, p.value.dtype()));
    return;
  }
  fail("no parameter ", name);
}

Tensor random_tokens(int64_t batch, int64_t length, int64_t vocabulary) {
  Random random(13, Stream::check, 0);
  std::vector<double> tokens(size_t(batch * length));
  for (double& x : tokens) x = random.below(uint32_t(vocabulary));
  return Tensor::from_host({batch, length}, tokens, DType::i32);
}

Tensor columns(const Tensor& x, int64_t begin, int64_t end) {
  const std::vector<double> all = x.to_host();
  std::vector<double> some;
  for (int64_t row = 0; row < x.dim(0); ++row)
    for (int64_t t = begin; t < end; ++t) some.push_back(all[size_t(row * x.dim(1) + t)]);
  return Tensor::from_host({x.dim(0), end - begin}, some, x.dtype());
}

Pass run(Model& model, const Tensor& tokens, const PassOptions& options) {
  const int64_t batch = tokens.dim(0), length = tokens.dim(1);
  std::vector<int64_t> chunks = options.chunks;
  if (chunks.empty()) chunks = {length};

  Pass pass;
  pass.outputs.resize(size_t(batch * length * kOutputs));
  Tape tape(options.with_gradients);
  std::vector<Var> ends;
  std::vector<Tensor> seeds;
  const auto weigh = [&](Var y, const Tensor& w) {
    const std::vector<double> values = y.value().to_host(), weights = w.to_host();
    for (size_t i = 0; i < values.size(); ++i) pass.loss += weights[i] * values[i];
    ends.push_back(y);
    seeds.push_back(w);
  };

  Carry carry;
  int64_t begin = 0;
  for (int64_t n : chunks) {
    Context context = {.tape = tape, .training = options.training, .seed = 3};
    context.draw = options.draw;
    if (options.reset) context.reset = columns(options.reset, begin, begin + n);
    carry = {.in = options.carry ? carry.out : std::vector<Var>(), .out = {}};
    context.carry = &carry;
    const Var y = model.forward(context, columns(tokens, begin, begin + n));
    weigh(y, output_weights(y.value(), options.first_row, batch, begin, n));
    const std::vector<double> values = y.value().to_host();
    for (int64_t row = 0; row < batch; ++row)
      std::copy_n(values.begin() + row * n * kOutputs, n * kOutputs,
                  pass.outputs.begin() + (row * length + begin) * kOutputs);
    begin += n;
  }
  for (size_t i = 0; i < carry.out.size(); ++i) {
    weigh(carry.out[i], state_weights(carry.out[i].value(), options.first_row, int64_t(i)));
    pass.states.push_back(carry.out[i].value().to_host());
  }
  if (!options.with_gradients) return pass;

  model.parameters().zero_grad();
  tape.backward(ends, seeds);
  for (const Parameter& p : model.parameters().all())
    pass.gradients.push_back(p.grad ? p.grad.to_host() : std::vector<double>());
  return pass;
}

double largest(const std::vector<double>& x) {
  double most = 0;
  for (double v : x) most = std::max(most, std::abs(v));
  return most;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kInfinity;
  double largest = 1, worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return kInfinity;
    largest = std::max(largest, std::abs(a[i]));
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst / largest;
}

double difference(const Pass& a, const Pass& b) {
  if (a.states.size() != b.states.size() || a.gradients.size() != b.gradients.size())
    return std::numeric_limits<double>::infinity();
  double worst = difference(a.outputs, b.outputs);
  for (size_t i = 0; i < a.states.size(); ++i)
    worst = std::max(worst, difference(a.states[i], b.states[i]));
  for (size_t i = 0; i < a.gradients.size(); ++i)
    worst = std::max(worst, difference(a.gradients[i], b.gradients[i]));
  return worst;
}

}  // namespace lssm::test
