// SPDX-License-Identifier: Apache-2.0
// The promises of handler_table, each as a sentence.
#include "am/handler_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace nacre {
namespace {

detail::outcome nothing(engine&, thread_context&, message_ptr&, void*, handler_id) { return detail::outcome::done; }

detail::handler_info row_named(std::string_view name) { return {{}, &nothing, name, nullptr}; }

// Rows are linked in while static objects are initialised, so they must be static, here as in a program.
detail::handler_info zebra = row_named("zebra");
detail::handler_info ant = row_named("ant");
detail::handler_info mole = row_named("mole");
const detail::handler_registration first(zebra), second(ant), third(mole);

struct thing {
  int value = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

TEST(handler_table, rows_are_numbered_in_the_order_of_their_names_from_one) {
  const handler_table& table = handler_table::get();
  EXPECT_EQ(table.handler(0), nullptr);
  EXPECT_LT(ant.id, mole.id);
  EXPECT_LT(mole.id, zebra.id);
  EXPECT_GE(ant.id.value(), 1U);
  for (const detail::handler_info* each : {&zebra, &ant, &mole}) EXPECT_EQ(table.handler(each->id.value()), each);
}

TEST(handler_table, a_number_that_no_handler_or_type_has_is_answered_with_null) {
  const handler_table& table = handler_table::get();
  for (const std::uint32_t number : {0U, 1'000'000U, ~0U}) {
    EXPECT_EQ(table.handler(number), nullptr);
    EXPECT_EQ(table.type(number), nullptr);
  }
}

TEST(handler_table, mentioning_a_type_puts_it_into_the_table) {
  const detail::object_type& type = detail::type_of<thing>();
  EXPECT_EQ(handler_table::get().type(type.id.value()), &type);
  EXPECT_EQ(type.load, nullptr);
  EXPECT_NE(type.name.find("thing"), std::string_view::npos);
}

TEST(handler_table, there_is_one_table_and_its_fingerprint_is_not_empty) {
  EXPECT_EQ(&handler_table::get(), &handler_table::get());
  EXPECT_NE(handler_table::get().fingerprint(), fnv1a<std::uint64_t>::offset_basis);
}

}  // namespace
}  // namespace nacre
