// SPDX-License-Identifier: Apache-2.0
// Rows of the table for the loss that is fused with its linear map.
#include "autodiff/ops.h"
#include "test/autodiff/op_cases.h"

namespace lssm::testing {

using Vars = std::vector<Var>;

void add_fused_loss_cases(std::vector<OpCase>& cases) {
  const auto plain = [](Tape&, const Vars& v) {
    return Vars{linear_cross_entropy(v[0], v[1], v[2], v[3].value(), Tensor())};
  };
  const auto masked = [](Tape&, const Vars& v) {
    return Vars{linear_cross_entropy(v[0], v[1], v[2], v[3].value(), v[4].value())};
  };
  const auto inputs = [](int64_t rows, int64_t in, int64_t classes) {
    return std::vector<Tensor>{normal_numbers({rows, in}, 1), normal_numbers({in, classes}, 2),
                               normal_numbers({classes}, 3),
                               integers_below(uint32_t(classes), {rows}, 4)};
  };
  const auto masked_inputs = [&](int64_t rows, int64_t in, int64_t classes, const Tensor& mask) {
    std::vector<Tensor> all = inputs(rows, in, classes);
    all.push_back(mask);
    return all;
  };
  cases.insert(
      cases.end(),
      {{"linear_cross_entropy", plain, inputs(5, 3, 7)},
       {"linear_cross_entropy, 1 row", plain, inputs(1, 7, 3)},
       {"linear_cross_entropy, 0 rows", plain, inputs(0, 3, 2)},
       {"linear_cross_entropy, 1 class", plain, inputs(4, 3, 1)},
       {"linear_cross_entropy, 1 input", plain, inputs(3, 1, 17)},
       {"linear_cross_entropy, 129 rows", plain, inputs(129, 2, 3), false},
       {"linear_cross_entropy, 603 rows", plain, inputs(603, 5, 7), false},
       {"linear_cross_entropy, large", plain, inputs(1031, 33, 17), false},
       {"linear_cross_entropy, two blocks of CUDA", plain, inputs(4099, 2, 3), false},
       {"linear_cross_entropy, masked", masked,
        masked_inputs(4, 3, 5, integers({4}, {-1, 0, 0, 5}))},
       {"linear_cross_entropy, all masked", masked,
        masked_inputs(3, 2, 4, integers({3}, {0, 0, 0}))},
       {"linear_cross_entropy, masked and large", masked,
        masked_inputs(603, 3, 5, integers_below(3, {603}, 5)), false},
       {"linear_cross_entropy without bias",
        [](Tape&, const Vars& v) {
          return Vars{linear_cross_entropy(v[0], v[1], Var(), v[2].value(), Tensor())};
        },
        {normal_numbers({5, 3}, 1), normal_numbers({3, 4}, 2), integers_below(4, {5}, 3)}},
       {"linear_cross_entropy of a fixed input",
        [input = normal_numbers({4, 3}, 9)](Tape& tape, const Vars& v) {
          const DType dtype = v[0].value().dtype();
          const Tensor x =
              Tensor::from_host(input.shape(), input.to_host(), dtype, v[0].value().device());
          return Vars{linear_cross_entropy(tape.leaf(x), v[0], v[1], v[2].value(), {})};
        },
        {normal_numbers({3, 5}, 2), normal_numbers({5}, 3), integers_below(5, {4}, 4)}},
       {"linear_cross_entropy of a square, twice",
        [](Tape&, const Vars& v) {
          return Vars{add(linear_cross_entropy(v[0], v[0], Var(), v[1].value(), {}),
                          linear_cross_entropy(v[0], v[0], Var(), v[2].value(), {}))};
        },
        {normal_numbers({4, 4}, 1), integers_below(4, {4}, 2), integers_below(4, {4}, 3)}}});
}

}  // namespace lssm::testing
