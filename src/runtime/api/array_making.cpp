// SPDX-License-Identifier: Apache-2.0
// Making an array: each rank finds the places that have their home on it, and makes their elements.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "runtime/array_agreement.hpp"

namespace nacre::detail {
namespace {

constexpr std::size_t places_a_message = 1u << 20;

/// A handler: some places that have their home on this rank, by number.
void take_places(context& ctx, std::uint64_t first, const std::vector<std::uint64_t>& numbers) {
  const std::shared_ptr<array_home> array = ctx.core().objects().arrays().find(first);
  const bool sound = array != nullptr && array->first == first &&
                     std::all_of(numbers.begin(), numbers.end(),
                                 [&](std::uint64_t number) { return number < array->layout.shape.count(); });
  if (!sound) throw usage_error("places of an array that this rank does not make");
  const std::scoped_lock lock(array->mutex);
  array->told.insert(array->told.end(), numbers.begin(), numbers.end());
}

/// Makes the elements of one array on this rank.
class array_maker {
 public:
  array_maker(engine& core, thread_context& thread, std::uint64_t first, std::uint32_t placement_mark)
      : core_(core),
        on_(thread),
        array_(core.objects().arrays().find(first)),
        own_{"makes " + core.objects().arrays().describe(first) + ", placement " + std::to_string(placement_mark)} {}

  void fill(const std::function<void*(const index&)>& make) {
    const bool dense = make != nullptr;
    if (dense && !lists()) exchange_places();
    if (dense) guarded([&] { make_own(make); });
    const array_step all = agree_on_array(core_, on_, own_);
    if (!all.failure.empty()) give_up(all.failure);
    if (dense && all.elements != array_->layout.shape.count()) {
      give_up("create_array: the placement lists " + std::to_string(all.elements) + " places for " +
              core_.objects().arrays().describe(array_->first) +
              ": its for_each_place must visit each place for the rank that its operator() returns");
    }
    core_.objects().arrays().note_agreed();
    core_.objects().contributed().begin(on_, array_->first);
  }

 private:
  /// Whether each rank finds its own places without the others: the placement lists them, and homes are births.
  [[nodiscard]] bool lists() const noexcept {
    return array_->layout.list != nullptr && !core_.objects().homes().reckoned();
  }

  /// Keeps an exception of the user's code for all ranks.
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (...) {
      thrown_ = std::current_exception();
      const object_id id(core_.rank(), object_id::first_element + array_->first + at_);
      own_.failure = "create_array: " + core_.objects().arrays().name_of(id) + " (" +
                     std::string(array_->layout.type->name) + ") on rank " + std::to_string(core_.rank().value()) +
                     ": " + text_of_thrown();
    }
  }

  /// Ends the elements that have been made, on all ranks, and throws.
  [[noreturn]] void give_up(const std::string& failure) {
    end_array(core_, on_, array_->first);
    if (thrown_ == nullptr) throw std::runtime_error(failure);
    try {
      std::rethrow_exception(thrown_);
    } catch (...) {
      std::throw_with_nested(std::runtime_error(failure));
    }
  }

  void adopt(std::uint64_t number, const index& position, const std::function<void*(const index&)>& make) {
    at_ = number;
    core_.objects().lifetime().adopt_element(on_, array_->first + number, make(position));
    ++own_.elements;
  }

  void make_own(const std::function<void*(const index&)>& make) {
    const array_layout& layout = array_->layout;
    if (!lists()) {
      for (const std::uint64_t number : places_) adopt(number, layout.shape.place_of(number), make);
      return;
    }
    const bool trusted = layout.list == &list_of_places<by_block>;
    std::uint64_t next = 0;
    layout.list(layout.shape, core_.rank(), layout.ranks, [&](const index& position) {
      const std::uint64_t number = at_ = layout.shape.number_of(position);
      if (!trusted && array_->birth_of(number) != core_.rank()) {
        throw usage_error("for_each_place of the placement visits a place for a rank that operator() does not name");
      }
      if (number < next) throw usage_error("for_each_place of the placement must visit the places in ascending order");
      next = number + 1;
      adopt(number, position, make);
    });
  }

  /// For a placement that does not list its places: each rank asks for the homes of a share of all places, and tells
  /// them. So the placement is asked once a place, over all ranks. Afterwards places_ has the own ones.
  void exchange_places() {
    static_cast<void>(agree_on_array(core_, on_, own_));  // all ranks know the array
    std::map<std::uint32_t, std::vector<std::uint64_t>> by_home;
    guarded([&] { ask(by_home); });
    if (own_.failure.empty()) tell(by_home);
    const array_step all = agree_on_array(core_, on_, own_);
    if (!all.failure.empty()) give_up(all.failure);
    places_ = std::move(by_home[core_.rank().value()]);
    const std::scoped_lock lock(array_->mutex);
    places_.insert(places_.end(), array_->told.begin(), array_->told.end());
    array_->told = {};
    std::sort(places_.begin(), places_.end());
  }

  void ask(std::map<std::uint32_t, std::vector<std::uint64_t>>& by_home) {
    const array_layout& layout = array_->layout;
    const extents whole(layout.shape.count());
    by_block{}.for_each_place(core_.rank(), whole, core_.size(), [&](const index& one) {
      at_ = static_cast<std::uint64_t>(one[0]);
      const rank_id birth = array_->birth_of(at_);
      if (birth.value() >= layout.ranks) {
        throw usage_error("the placement of an array names rank " + std::to_string(birth.value()) + " of a job with " +
                          std::to_string(layout.ranks) + " ranks");
      }
      by_home[core_.objects().homes().home_of(array_->name_of(at_, birth)).value()].push_back(at_);
    });
  }

  void tell(const std::map<std::uint32_t, std::vector<std::uint64_t>>& by_home) {
    runtime rt(core_, on_);
    std::vector<future<void>> told;
    for (const auto& [home, numbers] : by_home) {
      if (home == core_.rank().value()) continue;
      for (std::size_t begin = 0; begin < numbers.size(); begin += places_a_message) {
        const std::size_t count = std::min(places_a_message, numbers.size() - begin);
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
        told.push_back(
            rt.call<&take_places>(rank_id(home), array_->first,
                                  std::vector<std::uint64_t>(first, first + static_cast<std::ptrdiff_t>(count))));
      }
    }
    for (future<void>& each : told) each.get();
  }

  engine& core_;
  thread_context& on_;
  std::shared_ptr<array_home> array_;
  array_step own_;
  std::exception_ptr thrown_;
  std::uint64_t at_ = 0;               // the place that is being asked for or made, by number
  std::vector<std::uint64_t> places_;  // own ones, where the placement does not list them
};

}  // namespace

void fill_array(engine& core, thread_context& thread, std::uint64_t first, std::uint32_t placement_mark,
                const std::function<void*(const index&)>& make) {
  core.access().must_not_hold();
  array_maker(core, thread, first, placement_mark).fill(make);
}

}  // namespace nacre::detail
