// SPDX-License-Identifier: Apache-2.0
// Size fields by expressions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "kernel/size_rule.hpp"
#include "size/expression_field.hpp"

namespace mesh2d {
namespace {

std::string refusal_of_expression(const std::string& text) {
  try {
    static_cast<void>(make_field(describe_size(text)));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

double length_by(const std::string& text, const point& point) { return make_field(describe_size(text))->length(point); }

class Expression : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_expressions()) GTEST_SKIP() << "built without muParser (libmuparser-dev)";
  }
};

TEST(ExpressionSupport, a_build_without_it_names_the_package) {
  if (has_expressions()) {
    EXPECT_EQ(refusal_of_expression("x"), "");
  } else {
    EXPECT_NE(refusal_of_expression("x").find("install libmuparser-dev"), std::string::npos);
  }
}

TEST_F(Expression, is_the_length_at_a_place) {
  EXPECT_EQ(length_by("0.25", {3, 4}), 0.25);
  EXPECT_EQ(length_by("sqrt(x^2 + y^2)", {3, 4}), 5);
  EXPECT_EQ(length_by("x < y ? 0.5 : 2", {3, 4}), 0.5);
  EXPECT_EQ(length_by("max(x, y) + min(x, y, 1)", {3, 4}), 5);
  EXPECT_NEAR(length_by("2 + sin(pi * x)", {0.5, 0}), 3, 1e-15);
  EXPECT_EQ(length_by("x == 3 && y >= 4 || 0", {3, 4}), 1);
}

TEST_F(Expression, a_faulty_one_is_refused_with_the_place) {
  const std::vector<std::pair<std::string, std::string>> faulty{
      {"0.1+*x", "at character 5: 0.1+ ^ *x"},   {"0.1+q*x", "at character 5: 0.1+ ^ q*x"},
      {"sqrt(x", "at character 7: sqrt(x ^ "},   {"foo(x)", "at character 1:  ^ foo(x)"},
      {"x=0.3", "at character 2: x ^ =0.3"},     {"0.1, 0.2", "at character 4: 0.1 ^ , 0.2"},
      {"0.1 0.2", "at character 5: 0.1  ^ 0.2"}, {"x+)", "at character 3: x+ ^ )"},
  };
  for (const auto& [text, place] : faulty) {
    const std::string line = refusal_of_expression(text);
    EXPECT_NE(line.find("--size has no value '" + text + "'"), std::string::npos) << line;
    EXPECT_NE(line.find(place), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST_F(Expression, of_a_long_one_only_the_part_around_the_fault_is_shown) {
  std::string text;
  for (int k = 0; k < 1000; ++k) text += "x + ";
  const std::string line = refusal_of_expression(text + "q" + text + "1");
  EXPECT_NE(line.find("at character 4001: ...x + "), std::string::npos) << line;
  EXPECT_NE(line.find(" ^ qx + x"), std::string::npos) << line;
  EXPECT_LT(line.size(), 600u) << line;
}

TEST_F(Expression, a_value_that_is_no_length_is_counted_and_named_with_its_place) {
  for (const std::string text : {"1/(x-1)", "log(x-0.5)", "x-1", "sqrt(x-1.5)"}) {
    const auto field = make_field(describe_size(text));
    EXPECT_GT(field->length({2, 5}), 0) << text;
    EXPECT_EQ(field->faults().count, 0u) << text;
    EXPECT_EQ(field->length({1, 5}), std::numeric_limits<double>::infinity()) << text;
    static_cast<void>(field->length({1, 6}));
    const field_faults field_faults = field->faults();
    EXPECT_EQ(field_faults.count, 2u) << text;
    EXPECT_EQ(field_faults.first, (point{1, 5})) << text;
    EXPECT_FALSE(field_faults.value > 0 && std::isfinite(field_faults.value)) << text;
    const std::string line = text_of(field_faults, text);
    EXPECT_NE(line.find("at (1, 5), the first of 2 such values"), std::string::npos) << line;
  }
}

TEST_F(Expression, threads_ask_at_the_same_time) {
  const auto field = make_field(describe_size("1 + x * 1000 + y"));
  std::vector<int> wrong(6);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    threads.emplace_back([&, k] {
      for (int step = 0; step < 3000; ++step) {
        const auto x = static_cast<double>(k), y = static_cast<double>(step);
        wrong[k] += field->length({x, y}) != 1 + x * 1000 + y;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, std::vector<int>(wrong.size()));
}

TEST_F(Expression, a_rule_bounds_the_area_of_a_triangle_with_such_sides) {
  size_rule rule(20.7, 0, {}, {});
  EXPECT_FALSE(rule.bounds_area());
  const auto field = make_field(describe_size("x"));
  rule.attach(field.get());
  EXPECT_TRUE(rule.bounds_area());
  EXPECT_DOUBLE_EQ(rule.area_max(0, {2, 7}), std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(rule.coarser(9, 20.7).area_max(0, {2, 7}), 9 * std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(rule.also_below(1.5).area_max(0, {2, 7}), 1.5);
}

}  // namespace
}  // namespace mesh2d
