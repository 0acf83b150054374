// SPDX-License-Identifier: Apache-2.0
// nacre::bag: elements without keys, spread over the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/containers/container.hpp>

namespace nacre {

namespace detail {

template <class T>
class bag_part final : public container_part {
  static_assert(!holds_view<T>,
                "nacre: a container keeps its elements, so that they own what they have: write std::string or "
                "std::vector instead of a view");

 public:
  explicit bag_part(std::uint32_t stripes)
      : container_part(key_of<bag_part>(), operation_name<bag_part>(), stripes), elements(stripes) {}
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (const auto& each : elements) sum += each.size();
    return sum;
  }
  [[nodiscard]] std::vector<T> all() const {
    std::vector<T> every;
    every.reserve(size());
    for (const auto& subject : elements) every.insert(every.end(), subject.begin(), subject.end());
    return every;
  }

  /// Elements that pack to nothing could not be counted.
  [[nodiscard]] bool may_save() const noexcept override { return serializable<T> && !nothing<T>; }
  void save(writer& out) const override {
    if constexpr (serializable<T>) {
      for (const auto& subject : elements) {
        for (const auto& each : subject) {
          out(static_cast<const T&>(each));
        }
      }
    }
  }
  [[nodiscard]] bool load(reader& in, std::uint32_t) override {
    std::size_t number = 0;
    return for_each_saved(in, [&](T& value) { elements[number++ % stripes()].push_back(std::move(value)); });
  }
  [[nodiscard]] bool deal(reader& in, std::span<writer> by_rank,
                          const std::function<void(std::uint32_t rank)>& written) override {
    std::size_t number = 0;
    return for_each_saved(in, [&](T& value) {
      const std::size_t rank = number++ % by_rank.size();
      if constexpr (serializable<T>) by_rank[rank](static_cast<const T&>(value));
      written(static_cast<std::uint32_t>(rank));
    });
  }

  std::vector<std::vector<T>> elements;  // by stripe

 private:
  /// Calls take(value) for each element that `save` has written. False: the bytes are none.
  template <class Take>
  [[nodiscard]] bool for_each_saved(reader& in, Take take) {
    if constexpr (serializable<T>) {
      while (in.ok() && in.remaining() != 0) {
        T value = blank<T>();
        in(value);
        if (in.ok()) take(value);
      }
    }
    return in.ok();
  }
};

template <class T>
struct bag_insert {
  using part = bag_part<T>;
  using values = std::tuple<T>;
  static void run(context&, part& part, std::uint32_t stripe, read_form<T> value) {
    part.elements[stripe].push_back(T(std::move(value)));
  }
};

}  // namespace detail

/// The handle of a bag, for handlers: `handle.insert(ctx, value)`.
template <class T>
class bag_handle : public detail::container_name {
 public:
  bag_handle() = default;
  explicit bag_handle(const detail::container_name& name) noexcept : detail::container_name(name) {}

  /// Adds an element; ranks get them by turns. Asynchronous.
  void insert(container_caller caller, const T& value) const {
    detail::append<detail::bag_insert<T>>(caller, number(), caller.buffers->next_target(), value);
  }
};

/// Elements without keys, on all ranks in about equal numbers. T: packable, copyable. How it is made and ends, and what
/// collective means, is as for nacre::map.
template <class T>
class bag : public detail::container_base<detail::bag_part<T>, bag_handle<T>> {
  using base = detail::container_base<detail::bag_part<T>, bag_handle<T>>;

 public:
  using value_type = T;
  explicit bag(runtime& rt, const bag_handle<T>& saved = {}) : base(rt, saved) {}

  /// Asynchronous, as the function of the handle.
  void insert(const T& value) {
    this->alive();
    this->handle_.insert(this->caller_, value);
  }
  /// The number of elements, over all ranks. Collective, as all that follow.
  [[nodiscard]] std::uint64_t size() const { return this->sum_of_all(local_size()); }
  /// The number of elements on this rank.
  [[nodiscard]] std::uint64_t local_size() const {
    return this->of_part("size", [](const auto& part) { return part.size(); });
  }
  /// The number of elements that are equal to `value`.
  [[nodiscard]] std::uint64_t count(const T& value) const {
    return this->sum_of_all(this->of_part("count", [&](const auto& part) {
      std::uint64_t sum = 0;
      for (const auto& subject : part.elements) {
        sum += static_cast<std::uint64_t>(std::count(subject.begin(), subject.end(), value));
      }
      return sum;
    }));
  }
  /// The `n` largest elements, the largest first, on every rank.
  [[nodiscard]] std::vector<T> top(std::size_t n) const { return top(n, std::greater<>{}); }
  template <class Before>
  [[nodiscard]] std::vector<T> top(std::size_t n, Before previous) const {
    auto own_first = this->of_part("top", [&](const auto& part) {
      detail::first_values<T, Before> first(n, previous);
      for (const auto& subject : part.elements) {
        for (const auto& each : subject) first.offer(each);
      }
      return first.take();
    });
    return this->first_of_all(std::move(own_first), n, previous);
  }
  /// Calls `f(T&)`, which may have captures, with each element of this rank. Elements that it inserts here come after
  /// its end.
  template <class F>
  void for_all(F&& f) {
    this->with_part("for_all", [&](auto& part) {
      for (auto& subject : part.elements) {
        for (auto&& each : subject) f(each);
      }
    });
  }
  /// In a constant bag `f(const T&)` is called.
  template <class F>
  void for_all(F&& f) const {
    this->with_part("for_all", [&](const auto& part) {
      for (const auto& subject : part.elements) {
        for (const T& each : subject) f(each);
      }
    });
  }
  /// All elements on one rank, and none on the others.
  [[nodiscard]] std::vector<T> gather(rank_id target) const { return this->gather_all(local("gather"), target); }
  /// Combines all elements by `op`, which is associative and commutative, on every rank; T() of an empty bag.
  template <class Op>
  [[nodiscard]] T reduce(Op op) const {
    return this->combine_all(this->of_part("reduce",
                                           [&](const auto& part) {
                                             std::optional<T> sum;
                                             for (const auto& subject : part.elements) {
                                               for (const auto& each : subject) {
                                                 sum = sum ? static_cast<T>(op(std::move(*sum), each)) : T(each);
                                               }
                                             }
                                             return sum;
                                           }),
                             op);
  }
  /// Ends all elements.
  void clear() {
    this->change_part("clear", [](auto& part) {
      for (auto& each : part.elements) each = {};  // the memory goes back, too
    });
  }
  /// Exchanges the elements of two bags; handles keep naming the bag that they come from.
  void swap(bag& other) {
    other.alive();
    this->change_part("swap", [&](auto& part) {
      const detail::container_hold held(*this->caller_.core, *this->caller_.thread, *other.part_);
      std::swap(part.elements, other.part_->elements);
    });
  }

 private:
  [[nodiscard]] std::vector<T> local(const char* name) const {
    return this->of_part(name, [](const auto& part) { return part.all(); });
  }
};

}  // namespace nacre
