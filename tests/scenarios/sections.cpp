// SPDX-License-Identifier: Apache-2.0
// Sections of arrays: messages, calls and reductions for some places.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

/// Notes the results of steps, as text.
struct clerk {
  std::map<std::uint64_t, std::string> texts{};
  void on_text(context&, std::uint64_t step, const std::string& text) { texts[step] += text; }
  std::string text(std::uint64_t step) const { return texts.contains(step) ? texts.at(step) : "none"; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(texts);
  }
};

struct post {
  std::uint64_t letters = 0;
  void put(std::uint64_t count) { letters += count; }
  void put_and_go(context& ctx, std::uint64_t count) {
    letters += count;
    ctx.migrate(ctx.self<post>(), next_of(ctx));
  }
  std::uint64_t count() const { return letters; }
  std::string place(context& ctx) const {
    return std::to_string(ctx.index()[0]) + std::to_string(ctx.index()[1]) + ";";
  }
  /// Two steps at a time, the later one first; then moves on.
  void give_and_go(context& ctx, const section_ptr& section_ptr, std::uint64_t step, mobile_ptr<clerk> object) {
    ctx.contribute<&clerk::on_text>(section_ptr, step + 1, place(ctx), std::plus<>{}, object);
    ctx.contribute<&clerk::on_text>(section_ptr, step, place(ctx), std::plus<>{}, object);
    const auto hash = static_cast<std::uint32_t>(step * 5 + static_cast<std::uint64_t>(ctx.index()[1]));
    ctx.migrate(ctx.self<post>(), rank_id(hash % ctx.size()));
  }
  std::uint64_t forward(context& ctx, section<post> section) {
    ctx.send<&post::put>(section, 100);
    return section.size();
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(letters);
  }
};

/// Rank by rank, on each rank in the order of the places.
template <class Section>
std::string text_of(const runtime& rt, const Section& subject) {
  std::string text;
  for (const index& index : by_home(rt, subject.array(), subject.places()))
    text += std::to_string(index[0]) + std::to_string(index[1]) + ";";
  return text;
}

void some_places(runtime& rt, std::uint64_t) {
  const auto grid = rt.create_array<post>(extents{6, 5});
  const section listed(grid, std::vector<index>{{5, 0}, {0, 3}, {5, 0}, {2, 2}});
  const section range(grid, index_range{{1, 0}, {6, 5}, {2, 3}});
  const section diagonal(grid, [](const index& position) { return position[0] == position[1]; });
  EXPECT_EQ(listed.size(), 3U);
  EXPECT_EQ(range.size(), 6U);
  EXPECT_EQ(diagonal.size(), 5U);
  EXPECT_TRUE(diagonal.contains({3, 3}));
  EXPECT_FALSE(diagonal.contains({3, 2}));
  if (rt.rank().value() == 0) {
    for (int round = 0; round < 10; ++round) rt.send<&post::put_and_go>(diagonal, 1);
    rt.wait_quiescence();
    rt.call<&post::put>(diagonal, 1000).get();
    EXPECT_EQ(rt.reduce<&post::count>(diagonal, std::plus<>{}).get(), 5 * 1010U);
    EXPECT_EQ(rt.reduce<&post::count>(grid, std::plus<>{}).get(), 5 * 1010U);
    EXPECT_EQ(rt.reduce<&post::place>(listed, std::plus<>{}).get(), text_of(rt, listed));
    EXPECT_EQ(rt.reduce<&post::place>(range, std::plus<>{}).get(), text_of(rt, range));
    EXPECT_EQ(range.places(), (std::vector<index>{{1, 0}, {1, 3}, {3, 0}, {3, 3}, {5, 0}, {5, 3}}));
    EXPECT_EQ(rt.call<&post::forward>(grid[{0, 1}], listed).get(), 3U);
  } else {
    rt.wait_quiescence();
  }
  rt.wait_quiescence();
  EXPECT_EQ(rt.reduce<&post::count>(listed, std::plus<>{}).get(), 300 + 1010U);
  rt.barrier();
  EXPECT_THROW(section(grid, std::vector<index>{{6, 0}}), usage_error);
  EXPECT_THROW(section(grid, index_range{{0, 0}, {7, 5}, {1, 1}}), usage_error);
  EXPECT_THROW(section(grid, index_range{{0, 0}, {6, 5}, {0, 1}}), usage_error);
  EXPECT_THROW(section(grid, index_range{{0}, {6}, {1}}), usage_error);
  EXPECT_THROW(rt.send<&post::put>(section<post>(), 1), usage_error);
  EXPECT_THROW(static_cast<void>(rt.reduce<&post::count>(section(grid, std::vector<index>{}), std::plus<>{}).get()),
               call_error);
  rt.call<&post::put>(section(grid, std::vector<index>{}), 1).get();
  rt.barrier();
  rt.destroy(grid);
}

void empty_places(runtime& rt, std::uint64_t) {
  const auto grid = rt.create_array<post>(extents{6, 5}, sparse);
  const section all(grid, [](const index&) { return true; });
  if (rt.rank().value() == 0) {
    rt.insert(grid, index{4, 4}).get();
    rt.insert(grid, index{1, 1}).get();
    rt.erase(grid, index{1, 1}).get();
    rt.call<&post::put>(all, 1).get();
    EXPECT_EQ(rt.reduce<&post::place>(all, std::plus<>{}).get(), "44;");
    EXPECT_EQ(rt.call<&post::count>(grid[{4, 4}]).get(), 1U);
  }
  rt.barrier();
  rt.destroy(grid);
  EXPECT_THROW(rt.call<&post::put>(all, 1).get(), call_error);
  rt.barrier();
}

void contributions_of_some(runtime& rt, std::uint64_t) {
  const auto grid = rt.create_array<post>(extents{6, 5});
  if (rt.rank().value() == rt.size() - 1) {
    const section diagonal(grid, [](const index& position) { return position[0] == position[1]; });
    const section range(grid, index_range{{1, 0}, {6, 5}, {2, 3}});  // has one place of the diagonal, too
    const auto of_diagonal = rt.create_section(diagonal).get(), of_range = rt.create_section(range).get();
    const auto first = rt.create<clerk>(), second = rt.create<clerk>();
    for (std::uint64_t step = 0; step < 12; step += 2) {
      rt.send<&post::give_and_go>(diagonal, of_diagonal, step, first);
      rt.send<&post::give_and_go>(range, of_range, step, second);
    }
    rt.wait_quiescence();
    for (std::uint64_t step = 0; step < 12; ++step) {
      EXPECT_EQ(rt.call<&clerk::text>(first, step).get(), text_of(rt, diagonal)) << step;
      EXPECT_EQ(rt.call<&clerk::text>(second, step).get(), text_of(rt, range)) << step;
    }
    rt.erase(grid, index{3, 3}).get();
    rt.send<&post::give_and_go>(diagonal, of_diagonal, 20, first);
    rt.wait_quiescence();
    const section others(grid, [](const index& position) { return position[0] == position[1] && position[0] != 3; });
    EXPECT_EQ(rt.call<&clerk::text>(first, 20).get(), text_of(rt, others));
    rt.destroy_section(of_diagonal).get();
    EXPECT_THROW(rt.destroy_section(of_diagonal).get(), call_error);
    EXPECT_THROW(static_cast<void>(rt.create_section(section(grid, std::vector<index>{})).get()), call_error);
  } else {
    rt.wait_quiescence();
    rt.wait_quiescence();
  }
  rt.barrier();
  rt.destroy(grid);
}

constexpr std::array all_of_sections{
    scenario{"elements_of_sections_contribute_among_themselves", contributions_of_some},
    scenario{"sections_of_arrays_get_messages_calls_and_reductions", some_places},
    scenario{"sections_pass_over_places_without_an_element", empty_places},
};

}  // namespace

std::span<const scenario> section_scenarios() { return all_of_sections; }

}  // namespace nacre::tests
