// SPDX-License-Identifier: Apache-2.0
// A finite group: elements 0 .. order-1, the identity is 0, products come from a Cayley table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/algebra/permutation.h"
#include "core/check.h"

namespace lssm::algebra {

struct Generator {
  std::string name;
  int element;
};

struct NamedPermutation {
  std::string name;
  Permutation permutation;
};

class FiniteGroup {
 public:
  static constexpr int kMaxOrder = 5040;  // S7; the table then takes 51 MB

  // What a group carries besides its table.
  struct Labels {
    std::string name;
    std::string description;                // one line for people
    std::vector<std::string> elements;      // one name per element
    std::vector<Generator> generators;      // together they generate the group
    std::vector<Permutation> permutations;  // one per element, or none
  };

  // All products of the permutations (brought to one degree), sorted by image list. So S_n comes in
  // lexicographic order, A_n in the order of S_n, the identity first, as in the published
  // word-problem code. product(a, b) is a after b.
  // Throws Error when there are no generators or the group is larger than kMaxOrder.
  static FiniteGroup from_permutations(std::string name, std::vector<NamedPermutation> generators,
                                       std::string description = "");

  // table[a][b] = a b. Throws Error, naming the offending elements, when the table is not a Latin
  // square, element 0 is not the identity, the product is not associative, or `generators` (when
  // given) do not generate the group. Without generators a small set is found.
  static FiniteGroup from_cayley(std::string name, const std::vector<std::vector<int>>& table,
                                 std::vector<int> generators = {});

  // Pairs (g, h), row-major: index = g |H| + h. Throws Error beyond kMaxOrder.
  static FiniteGroup direct_product(const FiniteGroup& g, const FiniteGroup& h);

  // From a formula that is known to be a group law on 0 .. order-1 with identity 0; not checked.
  // Throws Error beyond kMaxOrder.
  template <class Law>
  static FiniteGroup from_law(Labels labels, int order, Law product) {
    check_order(labels.name, order);
    std::vector<uint16_t> table(size_t(order) * size_t(order));
    for (int a = 0, i = 0; a < order; ++a)
      for (int b = 0; b < order; ++b) table[size_t(i++)] = uint16_t(product(a, b));
    return FiniteGroup(std::move(labels), order, std::move(table));
  }

  int order() const { return order_; }
  const std::string& name() const { return labels_.name; }
  const std::string& description() const { return labels_.description; }
  const std::vector<Generator>& generators() const { return labels_.generators; }
  const std::string& element_name(int a) const { return labels_.elements[size_t(a)]; }

  // One permutation per element when the group was made of permutations, otherwise empty.
  const std::vector<Permutation>& permutations() const { return labels_.permutations; }

  // a b. No range check: a and b must be elements.
  int product(int a, int b) const { return table_[size_t(a) * size_t(order_) + size_t(b)]; }
  int inverse(int a) const { return inverse_[size_t(a)]; }
  int power(int a, int64_t exponent) const;
  int element_order(int a) const;

  // The element called `text`: an element or generator name, "e", any cycle notation in a
  // permutation group, or one of these followed by ^k ("c^-1"). Throws Error when there is none.
  int element(const std::string& text) const;

 private:
  FiniteGroup(Labels labels, int order, std::vector<uint16_t> table);
  static void check_order(const std::string& name, int64_t order);
  int find(const std::string& text) const;  // -1 when there is none

  Labels labels_;
  int order_;
  std::vector<uint16_t> table_;  // [order, order]
  std::vector<uint16_t> inverse_;
};

}  // namespace lssm::algebra
