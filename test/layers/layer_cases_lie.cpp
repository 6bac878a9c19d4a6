// SPDX-License-Identifier: Apache-2.0
// Rows of the table for the options of lie_ssm, for cascades and for the factored readout.
#include "core/lie/group.h"
#include "test/layers/layer_cases.h"

namespace lssm::test {
namespace {

std::string lie(const std::string& group, const std::string& more) {
  return text(R"({"type": "lie_ssm", "heads": 2, "angle_std": 0.7, "group": ")", group, "\", ",
              more, "}");
}

void add_option_cases(std::vector<ModelCase>& cases) {
  const auto add = [&](const std::string& group, const std::string& more) {
    cases.push_back({text("lie_ssm ", group, ' ', more), framed(lie(group, more))});
  };
  for (const char* group : {"so2", "su2", "so3", "so5", "su3", "so3x2", "se3"}) {
    add(group, R"("gate": "head")");
    add(group, R"("contraction": "learned", "contraction_rate": 0.5, "readout": "raw")");
    add(group, R"("state": "element", "readout": "matrix")");
  }
  for (const char* group : {"so2", "su2", "so3", "so5"}) {
    add(group, R"("commutative": true, "readout": "raw")");
  }
  for (const char* group : {"so2", "su2", "so3", "so4", "se3"}) {
    add(group, R"("contraction": "fixed", "contraction_rate": 0.9, "inject": true)");
  }
  add("so3",
      R"("contraction": "learned", "contraction_rate": 0.5, "state": "element", "readout": "matrix")");
  add("se3", R"("gate": "head", "state": "element", "readout": "matrix")");
  for (const char* frames : {"1", "2", "4"}) {
    add("so4", text(R"("map": "cayley2", "frames": )", frames));
  }
  add("so5",
      R"("frames": 2, "contraction": "learned", "contraction_rate": 0.5, "gate": "head", "inject": true)");
  add("so8", R"("frames": 3, "readout": "raw")");
}

void add_cascade_cases(std::vector<ModelCase>& cases) {
  const auto cascade = [](const std::string& first, const char* route, const std::string& second) {
    return framed(text(R"({"type": "cascade", "first": )", first, R"(, "route": ")", route,
                       R"(", "second": [)", second, "]}"));
  };
  const std::string quotient = lie("so3", R"("readout": "direction")"),
                    core = lie("so3", R"("readout": "raw")");
  for (const char* route : {"concat", "semidirect", "schreier"}) {
    cases.push_back({text("cascade ", route), cascade(quotient, route, core)});
  }
  cases.push_back({"cascade with an MLP between",
                   cascade(quotient, "concat", R"({"type": "mlp", "hidden": 3}, )" + core)});
  cases.push_back(
      {"cascade of a contraction, not normalised",
       cascade(lie("su2", R"("contraction": "fixed", "readout": "raw")"), "concat", core)});
  cases.push_back(
      {"cascade with an injected first layer",
       cascade(lie("se3", R"("readout": "direction_radial", "inject": true)"), "schreier", core)});
  cases.push_back({"cascade of a diagonal layer",
                   cascade(R"({"type": "diagonal_ssm", "heads": 2})", "semidirect", core)});
  cases.push_back({"cascade after a recurrence, second without states",
                   framed(core + R"(, {"type": "cascade", "first": )" + quotient +
                          R"(, "second": [{"type": "mlp", "hidden": 3, "width": 2}]})")});
}

void add_readout_cases(std::vector<ModelCase>& cases) {
  const auto readout = [](const char* more) {
    return framed(lie("so3", R"("readout": "raw")"),
                  text(R"({"type": "factored_readout")", more, "}"));
  };
  cases.push_back({"factored_readout", readout("")});
  cases.push_back({"factored_readout hidden", readout(R"(, "hidden": 4)")});
  cases.push_back({"factored_readout of few inputs", readout(R"(, "first_inputs": 3)")});
  cases.push_back({"factored_readout of token rows",
                   R"([{"type": "embedding"}, {"type": "factored_readout", "first_inputs": 1}])"});
}

}  // namespace

void add_lie_option_cases(std::vector<ModelCase>& cases) {
  add_option_cases(cases);
  add_cascade_cases(cases);
  add_readout_cases(cases);
}

}  // namespace lssm::test
