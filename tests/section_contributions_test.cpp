// SPDX-License-Identifier: Apache-2.0
// Random programs whose elements contribute to sections that overlap, under simulation: each step of each section has
// the values of exactly its elements, in order, however elements come, go and move.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>
#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "drawn_machine.hpp"
#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

using places = std::vector<std::uint64_t>;
struct append {
  places operator()(places a, const places& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

/// Notes the result of each step.
struct ledger {
  std::map<std::uint64_t, places> results{};
  std::uint64_t repeated = 0;
  void on_step(context&, std::uint64_t step, const places& given) {
    if (!results.emplace(step, given).second) ++repeated;
  }
  places of(std::uint64_t step) const { return results.contains(step) ? results.at(step) : places{~std::uint64_t{0}}; }
  std::uint64_t twice() const { return repeated; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(results, repeated);
  }
};

struct member {
  std::uint64_t unused = 0;
  /// `as`: the step in the ledger has the number of the section, too.
  void give(context& ctx, const section_ptr& section_ptr, std::uint64_t step, mobile_ptr<ledger> object) {
    const auto own_index = static_cast<std::uint64_t>(ctx.index()[0]);
    ctx.contribute<&ledger::on_step>(section_ptr, step, places{own_index}, append{}, object);
    const auto next = static_cast<std::uint32_t>((own_index + step) % ctx.size());
    if ((own_index + step) % 3 == 0) ctx.migrate(ctx.self<member>(), rank_id(next));
  }
  void give_and_end(context& ctx, const section_ptr& section_ptr, std::uint64_t step, mobile_ptr<ledger> object) {
    ctx.contribute<&ledger::on_step>(section_ptr, step, places{static_cast<std::uint64_t>(ctx.index()[0])}, append{},
                                     object);
    ctx.destroy(ctx.self<member>());
  }
  void give_to_all(context& ctx, std::uint64_t step, mobile_ptr<ledger> object) {
    ctx.contribute<&ledger::on_step>(step, places{static_cast<std::uint64_t>(ctx.index()[0])}, append{}, object);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(unused);
  }
};

constexpr std::uint64_t count = 19;

/// What rank 0 does: everything, so that it knows what each step must have.
class driver {
 public:
  driver(runtime& rt, const array_ptr<member>& all, std::uint64_t seed) : rt_(rt), all_(all), random_(seed) {
    for (std::uint64_t each = 0; each < count; ++each) present_.insert(each);
    for (int each = 0; each < 3; ++each) sections_.push_back(make());
  }
  void run() {
    for (int round = 0; round < 8; ++round) {
      steps_of_all();
      rt_.wait_quiescence();
      check();
      come_and_go();
      if (random_.below(3) == 0) {
        const std::size_t index = random_.below(sections_.size());
        rt_.destroy_section(sections_[index].name).get();
        sections_[index] = make();
      }
    }
  }

 private:
  struct one_section {
    section<member> members;
    section_ptr name;
    mobile_ptr<ledger> log;
    std::uint64_t next = 0;
    std::map<std::uint64_t, places> expected{};
  };
  one_section make() {
    std::vector<index> some;
    for (std::uint64_t each = 0; each < count; ++each) {
      if (random_.below(2) == 0) some.emplace_back(each);
    }
    if (some.empty()) some.emplace_back(3);
    const section<member> section(all_, some);
    return {section, rt_.create_section(section).get(), rt_.create<ledger>()};
  }
  /// Begins some steps of each section, several at once; in the last one of a section some elements end.
  void steps_of_all() {
    for (one_section& each : sections_) {
      const bool any = !expected_of(each).empty();
      for (std::uint64_t steps = random_.below(3); any && steps > 0; --steps) begin_step(each);
    }
    one_section& last = sections_[random_.below(sections_.size())];
    if (expected_of(last).empty() || random_.below(2) == 0) return;
    last.expected[last.next] = expected_of(last);
    for (const std::uint64_t place : expected_of(last)) {
      if (random_.below(3) == 0) {
        rt_.send<&member::give_and_end>(all_[place], last.name, last.next, last.log);
        ended_.insert(place);
      } else {
        rt_.send<&member::give>(all_[place], last.name, last.next, last.log);
      }
    }
    ++last.next;
  }
  void begin_step(one_section& in) {
    in.expected[in.next] = expected_of(in);
    for (const std::uint64_t place : in.expected[in.next])
      rt_.send<&member::give>(all_[place], in.name, in.next, in.log);
    ++in.next;
  }
  places expected_of(const one_section& in) const {
    places all;
    for (const index& each : in.members.places()) {
      if (present_.contains(static_cast<std::uint64_t>(each[0]))) all.push_back(static_cast<std::uint64_t>(each[0]));
    }
    return all;
  }
  void check() {
    for (const std::uint64_t place : ended_) present_.erase(place);
    ended_.clear();
    for (one_section& each : sections_) {
      for (const auto& [step, given] : each.expected)
        EXPECT_EQ(rt_.call<&ledger::of>(each.log, step).get(), given) << "step " << step;
      EXPECT_EQ(rt_.call<&ledger::twice>(each.log).get(), 0U);
      each.expected.clear();
    }
  }
  void come_and_go() {
    for (std::uint64_t place = 0; place < count; ++place) {
      if (random_.below(6) != 0) continue;
      if (present_.contains(place)) {
        rt_.erase(all_, index(place)).get();
        present_.erase(place);
      } else {
        rt_.insert(all_, index(place)).get();
        present_.insert(place);
      }
    }
  }

  runtime& rt_;
  array_ptr<member> all_;
  rng random_;
  std::set<std::uint64_t> present_{}, ended_{};
  std::vector<one_section> sections_{};
};

TEST(section_contributions, have_exactly_the_values_of_their_elements_in_random_programs) {
  const char* const seeds = std::getenv("NACRE_SECTION_SEEDS");
  const std::uint64_t last = seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : sanitized ? 60 : 600;
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    run_simulated(drawn_machine(seed), [&](runtime& rt) {
      const auto all = rt.create_array<member>(extents{count});
      if (rt.rank().value() == 0) driver(rt, all, seed).run();
      rt.wait_quiescence();
      rt.barrier();
      rt.destroy(all);
    });
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::tests
