// SPDX-License-Identifier: Apache-2.0
// FiniteGroup::from_cayley: a table written by a person, checked before it is believed.

#include "core/algebra/finite_group.h"
#include "core/algebra/subgroups.h"

namespace lssm::algebra {
namespace {

using Table = std::vector<std::vector<int>>;

void check_shape(const std::string& who, const Table& table) {
  const int n = int(table.size());
  for (int a = 0; a < n; ++a) {
    const auto& row = table[size_t(a)];
    LSSM_CHECK(int(row.size()) == n, who, "row ", a, " has ", row.size(), " entries, expected ", n);
    for (int b = 0; b < n; ++b)
      LSSM_CHECK(row[size_t(b)] >= 0 && row[size_t(b)] < n, who, a, " * ", b, " = ", row[size_t(b)],
                 " is no element, expected 0 to ", n - 1);
  }
}

void check_identity(const std::string& who, const Table& table) {
  for (int a = 0; a < int(table.size()); ++a) {
    LSSM_CHECK(table[0][size_t(a)] == a, who, "element 0 must be the identity, but 0 * ", a, " = ",
               table[0][size_t(a)]);
    LSSM_CHECK(table[size_t(a)][0] == a, who, "element 0 must be the identity, but ", a,
               " * 0 = ", table[size_t(a)][0]);
  }
}

// Every element exactly once in each row and each column.
void check_latin(const std::string& who, const Table& table) {
  const int n = int(table.size());
  for (int a = 0; a < n; ++a) {
    std::vector<int> row_at(size_t(n), -1), column_at(size_t(n), -1);
    for (int b = 0; b < n; ++b) {
      int& in_row = row_at[size_t(table[size_t(a)][size_t(b)])];
      LSSM_CHECK(in_row < 0, who, "not a Latin square, ", a, " * ", in_row, " = ", a, " * ", b,
                 " = ", table[size_t(a)][size_t(b)]);
      in_row = b;
      int& in_column = column_at[size_t(table[size_t(b)][size_t(a)])];
      LSSM_CHECK(in_column < 0, who, "not a Latin square, ", in_column, " * ", a, " = ", b, " * ",
                 a, " = ", table[size_t(b)][size_t(a)]);
      in_column = b;
    }
  }
}

// Elements whose left-normed products ((g h) k) … reach everything.
std::vector<int> generating_elements(const Table& table) {
  std::vector<int> generators, queue{0};
  std::vector<bool> seen(table.size());
  seen[0] = true;
  for (int a = 1; a < int(table.size()); ++a) {
    if (seen[size_t(a)]) continue;
    generators.push_back(a);
    for (size_t i = 0; i < queue.size(); ++i) {
      for (int g : generators) {
        const int next = table[size_t(queue[i])][size_t(g)];
        if (!seen[size_t(next)]) queue.push_back(next);
        seen[size_t(next)] = true;
      }
    }
  }
  return generators;
}

// Light's test: the b with (a b) c = a (b c) for all a, c are closed under products, so it is
// enough to try the b of a generating set.
void check_associative(const std::string& who, const Table& table) {
  const int n = int(table.size());
  for (int b : generating_elements(table)) {
    for (int a = 0; a < n; ++a) {
      const auto& row = table[size_t(a)];
      const auto& product_row = table[size_t(row[size_t(b)])];
      for (int c = 0; c < n; ++c) {
        const int left = product_row[size_t(c)];
        const int right = row[size_t(table[size_t(b)][size_t(c)])];
        LSSM_CHECK(left == right, who, "not associative, (", a, " * ", b, ") * ", c, " = ", left,
                   " but ", a, " * (", b, " * ", c, ") = ", right);
      }
    }
  }
}

}  // namespace

FiniteGroup FiniteGroup::from_cayley(std::string name, const Table& table,
                                     std::vector<int> generators) {
  check_order(name, int64_t(table.size()));
  const std::string who = "group " + name + ": Cayley table: ";
  const int order = int(table.size());
  check_shape(who, table);
  check_identity(who, table);
  check_latin(who, table);
  check_associative(who, table);

  if (generators.empty()) generators = generating_elements(table);
  Labels labels{std::move(name), text("given by its Cayley table, order ", order), {}, {}, {}};
  for (int a = 0; a < order; ++a) labels.elements.push_back(std::to_string(a));
  for (int g : generators) {
    LSSM_CHECK(g >= 0 && g < order, "group ", labels.name, ": generator ", g,
               " is no element, expected 0 to ", order - 1);
    labels.generators.push_back({std::to_string(g), g});
  }
  FiniteGroup group =
      from_law(std::move(labels), order, [&](int a, int b) { return table[size_t(a)][size_t(b)]; });
  const size_t reached = generated_subgroup(group, generators).size();
  LSSM_CHECK(reached == size_t(order), "group ", group.name(), ": the generators reach only ",
             reached, " of its ", order, " elements");
  return group;
}

}  // namespace lssm::algebra
