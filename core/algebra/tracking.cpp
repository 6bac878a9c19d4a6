// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/tracking.h"

#include <algorithm>

#include "core/algebra/irrep_facts.h"
#include "core/algebra/sections.h"

namespace lssm::algebra {
namespace {

constexpr Answer kNo = Answer::no, kUnknown = Answer::unknown, kYes = Answer::yes;

bool is_abelian(const FiniteGroup& group) { return is_abelian(group, whole_group(group)); }

// Steps of the derived series to the trivial group; 0 for the trivial group, -1 if it never comes.
int derived_length(const FiniteGroup& group) {
  Subgroup term = whole_group(group);
  for (int steps = 0;; ++steps) {
    if (term.size() == 1) return steps;
    Subgroup next = commutator_subgroup(group, term, term);
    if (next.size() == term.size()) return -1;
    term = std::move(next);
  }
}

// The elements that all quotients of G with the property map to the identity: G embeds in a product
// of such groups exactly if there is but one. `exact` is false where not all quotients were seen,
// and the kernel may be smaller. Cyclic groups must have the property.
struct CommonKernel {
  Subgroup kernel;
  bool exact;
  Answer embeds() const { return kernel.size() == 1 ? kYes : exact ? kNo : kUnknown; }
};

template <class Property>
CommonKernel common_kernel(const FiniteGroup& group, Property holds) {
  if (is_abelian(group)) return {{0}, true};
  NormalSubgroups normal = known_normal_subgroups(group);
  if (!normal.all) {
    if (const auto irreps = irrep_facts(group)) {  // their kernels are enough
      for (const IrrepFacts& irrep : *irreps) normal.list.push_back(irrep.kernel);
      normal.all = true;
    }
  }
  CommonKernel common{whole_group(group), normal.all};
  for (const Subgroup& n : normal.list) {
    if (common.kernel.size() == 1) break;
    Subgroup smaller = intersection(common.kernel, n);
    if (smaller.size() < common.kernel.size() && holds(quotient_group(group, n)))
      common.kernel = std::move(smaller);
  }
  return common;
}

bool is_rotation_group(const FiniteGroup& group) { return !rotation_type(group).empty(); }
bool is_spinor_group(const FiniteGroup& group) { return !spinor_type(group).empty(); }

// The 2-dimensional representations of a group with an abelian subgroup of index 2 are by diag(a,
// b) and the swap; with a = s t and b = s / t that is a scalar times an element of a dihedral
// group. So such groups divide products of cyclic and dihedral ones. (Q8 is a subgroup of a
// quotient of C4 x D8.)
bool divides_so3_directly(const FiniteGroup& group) {
  return is_rotation_group(group) || has_abelian_half(group);
}
bool divides_su2_directly(const FiniteGroup& group) {
  return divides_so3_directly(group) || is_spinor_group(group);
}

// By quotients that divide directly, or as A B with normal subgroups that commute and divide: then
// G is a quotient of A x B.
bool divides(const FiniteGroup& group, bool (*directly)(const FiniteGroup&)) {
  if (directly(group) || common_kernel(group, directly).embeds() == kYes) return true;
  for (const Subgroup& a : known_normal_subgroups(group).list) {
    const Subgroup b = centraliser(group, a);
    const size_t product = a.size() * b.size() / intersection(a, b).size();
    const size_t whole = size_t(group.order());
    if (product < whole || a.size() == whole || b.size() == whole) continue;
    if (divides(subgroup_group(group, a), directly) && divides(subgroup_group(group, b), directly))
      return true;
  }
  return false;
}

Verdict refused(const LawFailure& failure) { return {kNo, kNo, failure.reason, failure.words}; }

std::string embedding_reason(const FiniteGroup& group, const std::string& type, const char* where) {
  if (!type.empty()) return text(group.name(), " is a subgroup of ", where);
  return text("elements are told apart by quotients in ", where);
}

const char* kDividesOnly = "a quotient of a subgroup only: needs an MLP to read";
const char* kTellApart = "elements are told apart by representations in ";

// Whether every simple factor of a composition series that is not abelian is A5. Those factors are
// the ones of the largest perfect subgroup, whose quotient by a maximal normal subgroup is simple.
// Returns the order of a factor that is not A5, or 0.
int foreign_factor(const FiniteGroup& group) {
  const Subgroup perfect = perfect_residual(group);
  if (perfect.size() == 1) return 0;
  const FiniteGroup core = subgroup_group(group, perfect);
  std::vector<Subgroup> normal = normal_subgroups(core);
  normal.pop_back();  // the group itself comes last
  const int order = core.order() / int(normal.back().size());
  return order == 60 ? foreign_factor(subgroup_group(core, normal.back())) : order;
}

}  // namespace

const char* to_string(Answer answer) {
  return answer == kYes ? "yes" : answer == kNo ? "no" : "unknown";
}

Verdict diagonal_verdict(const FiniteGroup& group, Eigenvalues eigenvalues) {
  if (!is_abelian(group)) return {kNo, kNo, "not abelian: equal token counts, different products"};
  if (eigenvalues == Eigenvalues::complex) return {kYes, kYes, "abelian"};
  for (int a = 1; a < group.order(); ++a) {
    if (eigenvalues == Eigenvalues::positive)
      return {kNo, kNo, "positive eigenvalues never return: no element but e"};
    if (group.element_order(a) > 2)
      return {kNo, kNo,
              text("signs have order 2, ", group.element_name(a), " has order ",
                   group.element_order(a))};
  }
  return {kYes, kYes, "every element is its own inverse"};
}

Verdict affine_diagonal_verdict(const FiniteGroup& group, int layers) {
  const int length = derived_length(group);
  if (length < 0) return {kNo, kNo, "not solvable"};
  const std::string known = text("derived length ", length);
  if (length <= 1) return {kYes, kYes, "abelian"};
  if (length <= layers) return {kYes, kYes, text(known, ", a layer for each step")};
  if (length > 2 * layers)
    return {kNo, kNo,
            text(known, ", ", layers, layers > 1 ? " layers have" : " layer has", " at most ",
                 2 * layers)};
  return {kUnknown, kYes, text(known, ", by counters that grow: up to a length")};
}

Subgroup rotation_kernel(const FiniteGroup& group) {
  return common_kernel(group, is_rotation_group).kernel;
}

Verdict so3_verdict(const FiniteGroup& group) {
  const Answer linear = common_kernel(group, is_rotation_group).embeds();
  if (linear == kYes) return {kYes, kYes, embedding_reason(group, rotation_type(group), "SO(3)")};
  if (const auto failure = rotation_law_failure(group)) return refused(*failure);
  if (divides(group, divides_so3_directly)) return {linear, kYes, kDividesOnly};
  return {linear, kUnknown, "no law of SO(3)^m is broken, and no way into it is known"};
}

namespace {

using Irreps = std::optional<std::vector<IrrepFacts>>;

// Whether the representations that fit tell all elements apart.
template <class Fits>
Answer embeds(const FiniteGroup& group, const Irreps& irreps, Fits fits) {
  if (is_abelian(group)) return kYes;  // by turns of planes, which fit anywhere
  if (!irreps) return kUnknown;
  Subgroup kernel = whole_group(group);
  for (const IrrepFacts& irrep : *irreps)
    if (fits(irrep)) kernel = intersection(kernel, irrep.kernel);
  return kernel.size() == 1 ? kYes : kNo;
}

// Below dimension n any determinant will do: there is room for its inverse beside it.
Answer embeds_in_so(const FiniteGroup& group, int n, const Irreps& irreps) {
  const Answer found = embeds(group, irreps, [&](const IrrepFacts& irrep) {
    if (irrep.real_dim != n) return irrep.real_dim < n;
    return std::find(irrep.odd.begin(), irrep.odd.end(), true) == irrep.odd.end();
  });
  if (found != kUnknown) return found;
  return common_kernel(group, is_rotation_group).embeds() == kYes ? kYes : kUnknown;
}

Answer embeds_in_su(const FiniteGroup& group, int n, const Irreps& irreps) {
  return embeds(group, irreps, [&](const IrrepFacts& irrep) {
    return irrep.dim < n || (irrep.dim == n && irrep.special_unitary);
  });
}

// U(n) is a quotient of SU(n) x U(1), and U(1) is in SU(n): determinants do not matter.
Answer divides_su(const FiniteGroup& group, int n, const Irreps& irreps) {
  return embeds(group, irreps, [&](const IrrepFacts& irrep) { return irrep.dim <= n; });
}

Verdict su2(const FiniteGroup& group, const Irreps& irreps) {
  const Answer linear = common_kernel(group, is_spinor_group).embeds();
  if (linear == kYes) return {kYes, kYes, embedding_reason(group, spinor_type(group), "SU(2)")};
  if (const auto failure = spinor_law_failure(group)) return refused(*failure);
  // SO(4) is a quotient of SU(2) x SU(2).
  if (divides(group, divides_su2_directly) || divides_su(group, 2, irreps) == kYes ||
      embeds_in_so(group, 4, irreps) == kYes)
    return {linear, kYes, kDividesOnly};
  return {linear, kUnknown, "no law of SU(2)^m is broken, and no way into it is known"};
}

Verdict open_verdict(Answer linear, const std::string& name) {
  return {linear, kUnknown,
          linear == kNo ? text("no subgroup of ", name, "^m, perhaps a quotient of one")
                        : text("nothing is known of ", name, "^m")};
}

Verdict so_n(const FiniteGroup& group, int n, const Irreps& irreps) {
  const std::string name = text("SO(", n, ")");
  const Answer linear = embeds_in_so(group, n, irreps);
  if (linear == kYes) return {kYes, kYes, text(kTellApart, name)};
  if (n == 4) {
    const Verdict verdict = su2(group, irreps);  // SO(4) is SU(2) x SU(2) / {1, -1}
    if (verdict.any == kNo) return verdict;
    return {linear, verdict.any, verdict.any == kYes ? kDividesOnly : verdict.reason};
  }
  const int p = nonabelian_odd_sylow(group);
  if (n < 2 * p) return {kNo, kNo, text("non-abelian ", p, "-subgroups need N = ", 2 * p)};
  const int exponent = n == 5 ? 4 : n <= 7 ? 12 : 24;  // of signed permutations of n / 2 pairs
  if (const auto failure = core_law_failure(group, exponent, n / 2 + 1)) return refused(*failure);
  if (divides(group, divides_su2_directly)) return {linear, kYes, kDividesOnly};
  return open_verdict(linear, name);
}

Verdict su_n(const FiniteGroup& group, int n, const Irreps& irreps) {
  const std::string name = text("SU(", n, ")");
  const Answer linear = embeds_in_su(group, n, irreps);
  if (linear == kYes) return {kYes, kYes, text(kTellApart, name)};
  if (divides_su(group, n, irreps) == kYes) return {linear, kYes, kDividesOnly};
  const int p = nonabelian_odd_sylow(group);
  if (n < p) return {kNo, kNo, text("non-abelian ", p, "-subgroups need N = ", p)};
  const int exponent = n == 3 ? 6 : 12;  // of permutations of n characters
  if (const auto failure = core_law_failure(group, exponent, n + 1)) return refused(*failure);
  if (divides(group, divides_su2_directly)) return {linear, kYes, kDividesOnly};
  return open_verdict(linear, name);
}

}  // namespace

Verdict su2_verdict(const FiniteGroup& group) { return su2(group, irrep_facts(group)); }

Verdict so_n_verdict(const FiniteGroup& group, int n) {
  LSSM_CHECK(n >= 4 && n <= 8, "so_n_verdict: n is ", n, ", expected 4 to 8");
  return so_n(group, n, irrep_facts(group));
}

Verdict su_n_verdict(const FiniteGroup& group, int n) {
  LSSM_CHECK(n == 3 || n == 4, "su_n_verdict: n is ", n, ", expected 3 or 4");
  return su_n(group, n, irrep_facts(group));
}

Verdict injected_verdict(const FiniteGroup& group,
                         const std::function<Verdict(const FiniteGroup&)>& heads) {
  const Verdict without = heads(group);
  if (without.any == kYes) return without;
  for (const Subgroup& normal : known_normal_subgroups(group).list) {
    if (normal.size() == 1 || !is_abelian(group, normal)) continue;
    if (heads(quotient_group(group, normal)).any == kNo) continue;
    return {kUnknown, kUnknown, "only by translations that grow with the length"};
  }
  return without;
}

Verdict so3_cascade_verdict(const FiniteGroup& group) {
  const Verdict single = so3_verdict(group);
  if (single.linear == kYes) return {kYes, kYes, "one layer is enough"};
  if (const Verdict deep = deep_cascade_verdict(group); deep.any == kNo) return deep;
  const NormalSubgroups normal = known_normal_subgroups(group);
  const Answer otherwise = normal.all ? kNo : kUnknown;
  Verdict best{otherwise, otherwise, "no normal N is known with N and G / N in so3 heads"};
  if (normal.all) best.reason = "for no normal N do both N and G / N fit into so3 heads";
  if (single.any == kYes) best = {otherwise, kYes, "one layer is enough, and an MLP as readout"};
  for (const Subgroup& n : normal.list) {
    if (n.size() == 1 || int(n.size()) == group.order()) continue;
    const Verdict above = so3_verdict(quotient_group(group, n));
    if (above.any == kNo) continue;
    const Verdict below = so3_verdict(subgroup_group(group, n));
    const Verdict both{std::min(above.linear, below.linear), std::min(above.any, below.any),
                       above.any == kYes && below.any == kYes
                           ? text("layer 1 holds G / N of order ", group.order() / int(n.size()),
                                  ", layer 2 N of order ", n.size())
                           : "no normal N is known with N and G / N in so3 heads"};
    if (std::pair(both.any, both.linear) > std::pair(best.any, best.linear)) best = both;
    if (best.linear == kYes) break;
  }
  return best;
}

Verdict deep_cascade_verdict(const FiniteGroup& group) {
  const int order = foreign_factor(group);
  if (order == 0) return {kYes, kYes, "its simple factors are abelian or A5"};
  return {kNo, kNo, text("a simple factor of order ", order, ", not A5: at no depth")};
}

std::vector<NamedVerdict> transition_verdicts(const FiniteGroup& group) {
  const Verdict so3 = so3_verdict(group);
  const Irreps irreps = irrep_facts(group);
  std::vector<NamedVerdict> all = {
      {"diagonal, real, [0, 1]", diagonal_verdict(group, Eigenvalues::positive)},
      {"diagonal, real, [-1, 1]", diagonal_verdict(group, Eigenvalues::real)},
      {"so2; diagonal, complex", diagonal_verdict(group, Eigenvalues::complex)}};
  const int length = derived_length(group);
  for (int layers = 1; layers <= std::max(3, length); ++layers) {
    const std::string name = text("affine diagonal, ", layers, layers > 1 ? " layers" : " layer");
    all.push_back({name, affine_diagonal_verdict(group, layers)});
  }
  all.push_back({"su2, raw", su2(group, irreps)});
  all.push_back({"su2, bloch", so3});
  all.push_back({"so3", so3});
  for (int n = 4; n <= 8; ++n) all.push_back({text("so", n), so_n(group, n, irreps)});
  for (int n = 3; n <= 4; ++n) all.push_back({text("su", n), su_n(group, n, irreps)});
  all.push_back({"se3", injected_verdict(group, so3_verdict)});
  all.push_back({"cascade so3, so3", so3_cascade_verdict(group)});
  return all;
}

}  // namespace lssm::algebra
