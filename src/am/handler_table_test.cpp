// SPDX-License-Identifier: Apache-2.0
// The promises of handler_table, each as a sentence.
#include "am/handler_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nacre {
namespace {

detail::outcome nothing(engine&, thread_context&, message_ptr&, void*, handler_id) { return detail::outcome::done; }

detail::handler_info row_named(std::string_view name) { return {{}, &nothing, name, nullptr}; }

// Rows are linked in while static objects are initialised, so they are static here as in a program.
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

/// A row of a library that is loaded as long as this object lives.
struct late_row {
  explicit late_row(std::string_view name) : row(row_named(name)) {}
  detail::handler_info row;
  detail::handler_registration registration{row};
};

TEST(handler_table, rows_that_come_later_get_numbers_where_the_next_job_begins) {
  { const handler_use job; }
  const std::uint32_t mole_before = mole.id.value();
  auto bee = std::make_unique<late_row>("bee");
  EXPECT_EQ(handler_table::get().handler(bee->row.id.value()), nullptr);
  {
    const handler_use job;
    EXPECT_EQ(handler_table::get().handler(bee->row.id.value()), &bee->row);
    EXPECT_LT(ant.id, bee->row.id);
    EXPECT_LT(bee->row.id, mole.id) << "they are numbered among the others, whenever they came";
    EXPECT_EQ(handler_table::get().handler(mole.id.value()), &mole);
  }
  bee.reset();
  const handler_use job;
  EXPECT_EQ(mole.id.value(), mole_before) << "and leave no gap when they have gone";
  EXPECT_EQ(handler_table::get().handler(mole.id.value()), &mole);
}

TEST(handler_table, a_job_inside_another_numbers_new_rows_behind_those_that_are_in_use) {
  const handler_use outer;
  const handler_table& of_outer = handler_table::get();
  const std::uint32_t mole_before = mole.id.value();
  auto bee = std::make_unique<late_row>("bee");
  EXPECT_NE(why_no_handler(bee->row.id.value()).find("loaded while the job ran"), std::string::npos);
  EXPECT_EQ(why_no_handler(1'000'000), "names no handler");
  {
    const handler_use inner;
    EXPECT_EQ(mole.id.value(), mole_before);
    EXPECT_EQ(bee->row.id.value(), of_outer.handlers());
    EXPECT_EQ(handler_table::get().handler(bee->row.id.value()), &bee->row);
    EXPECT_NE(handler_table::get().fingerprint(), of_outer.fingerprint());
  }
  EXPECT_EQ(of_outer.handler(bee->row.id.value()), nullptr) << "the outer job's ranks have not agreed on it";
  EXPECT_NE(why_no_handler(bee->row.id.value()).find("loaded while the job ran"), std::string::npos);
  bee.reset();
  const late_row wasp("wasp");
  const handler_use inner;
  EXPECT_EQ(handler_table::get().handler(static_cast<std::uint32_t>(of_outer.handlers())), nullptr)
      << "a row that has gone leaves a gap, so that no number gets another meaning";
  EXPECT_EQ(handler_table::get().handler(wasp.row.id.value()), &wasp.row);
}

TEST(handler_table, rows_of_one_class_have_one_key) {
  const detail::object_type& type = detail::type_of<thing>();
  const handler_use job;
  EXPECT_TRUE(detail::same_class(type.key, detail::key_of<thing>()));
  EXPECT_FALSE(detail::same_class(type.key, detail::key_of<late_row>()));
}

TEST(handler_table, there_is_one_table_and_its_fingerprint_is_not_empty) {
  EXPECT_EQ(&handler_table::get(), &handler_table::get());
  EXPECT_NE(handler_table::get().fingerprint(), fnv1a<std::uint64_t>::offset_basis);
}

}  // namespace
}  // namespace nacre
