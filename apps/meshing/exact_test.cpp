// SPDX-License-Identifier: Apache-2.0
// Exact sums and expansions against rational arithmetic.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "meshing/exact_sum.hpp"
#include "meshing/expansion.hpp"

namespace meshing {
namespace {

using exact = boost::multiprecision::cpp_rational;

TEST(Expansion, is_exact) {
  nacre::rng random(3);
  const auto value = [&] { return std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(80)) - 40); };
  for (int k = 0; k < 600; ++k) {
    const double a = value(), b = value(), c = value(), d = value();
    const auto sum = exact_difference(a, b) * exact_difference(c, d) + exact_difference(a, d) * exact_difference(b, c);
    exact total = 0;
    for (int i = 0; i < sum.size; ++i) total += exact(sum[i]);
    ASSERT_EQ(total, (exact(a) - b) * (exact(c) - d) + (exact(a) - d) * (exact(b) - c));
  }
}

TEST(ExactSum, cancels_without_a_trace) {
  nacre::rng random(4);
  exact_sum sum, reverse;
  exact expected = 0;
  std::vector<std::pair<double, double>> terms;
  for (int k = 0; k < 3000; ++k) {
    const double scale = std::pow(10, static_cast<double>(random.below(80)) - 40);
    terms.emplace_back((random.uniform() - 0.5) * scale, random.uniform() - 0.5);
    sum.add_product(terms.back().first, terms.back().second);
    expected += exact(terms.back().first) * terms.back().second;
  }
  for (std::size_t k = terms.size(); k-- > 0;) reverse.add_product(terms[k].second, terms[k].first);
  EXPECT_TRUE(sum.equals(reverse));
  EXPECT_NEAR(sum.value() / static_cast<double>(expected), 1, 1e-15);
  for (const auto& [a, b] : terms) sum.add_product(-a, b);
  EXPECT_EQ(sum.value(), 0);
  EXPECT_TRUE(sum.equals(exact_sum{}));
  sum.add_product(1e-40, 1e-20);
  EXPECT_FALSE(sum.equals(exact_sum{}));
  sum.add(-1);
  EXPECT_EQ(sum.value(), -1);
}

}  // namespace
}  // namespace meshing
