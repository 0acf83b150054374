// SPDX-License-Identifier: Apache-2.0
// Lambdas as handlers on threads and on a simulated machine, and their rows in the handler table.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include <nacre/nacre.hpp>

#include "am/handler_table.hpp"
#include "scenarios/scenarios.hpp"

namespace nacre::tests {
namespace {

class lambdas : public testing::TestWithParam<const char*> {};

TEST_P(lambdas, run_as_named_functions_do) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    config configuration;
    configuration.set("transport", GetParam());
    configuration.set("ranks", std::to_string(ranks));
    configuration.set("workers", "2");
    configuration.set("balancer", "none");
    ASSERT_EQ(run(configuration,
                  [](runtime& rt) {
                    for (const scenario& each : lambda_scenarios()) each.run(rt, 5), rt.wait_quiescence();
                  }),
              0);
    ASSERT_FALSE(HasFailure()) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(everywhere, lambdas, testing::Values("inproc", "sim"),
                         [](const auto& given) { return std::string(given.param); });

template <class L>
const detail::handler_info& row_of(L) {
  return detail::handler_of<detail::rank_lambda<L>>();
}
template <class L>
void visit(context&, int) {}
template <class L>
const detail::handler_info& visit_row_of(L) {
  return detail::handler_of<visit<L>>();
}

#if defined(__clang__)
constexpr bool named_by_place = true;  // "(lambda at FILE:LINE:COLUMN)"
#else
constexpr bool named_by_place = false;  // "FUNCTION::<lambda(int)>", as all others there
#endif

TEST(lambda_rows, differ_where_their_names_do_not) {
  const detail::handler_info* const rows[] = {&row_of([](int) {}), &row_of([](int) {}), &visit_row_of([](int) {}),
                                              &visit_row_of([](int) {})};
  std::set<std::string_view> identities, names;
  for (const auto* row : rows) {
    EXPECT_EQ(handler_table::get().handler(row->id.value()), row);
    identities.insert(row->identity->name());
    names.insert(row->name);
  }
  EXPECT_EQ(identities.size(), 4U);
  EXPECT_TRUE(named_by_place || names.size() == 2U) << names.size();
  for (const int first : {0, 2}) {  // numbered by their mangled names, whose order is that of the bytes
    const auto &one = *rows[first], &other = *rows[first + 1];
    EXPECT_EQ(one.id < other.id, std::string_view(one.identity->name()) < std::string_view(other.identity->name()));
  }
}

TEST(lambda_rows, are_named_by_the_function_that_they_stand_in) {
  const detail::handler_info& row = row_of([](int) {});
  const std::string_view shown = named_by_place ? "lambdas_test.cpp:" : "TestBody()::<lambda(int)>";
  EXPECT_NE(row.name.find(shown), std::string_view::npos) << row.name;
  EXPECT_EQ(row.name.find("detail"), std::string_view::npos) << row.name;
}

}  // namespace
}  // namespace nacre::tests
