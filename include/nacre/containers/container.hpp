// SPDX-License-Identifier: Apache-2.0
// What all containers share: they are made and ended by every main, and their collectives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/containers/core.hpp>
#include <nacre/runtime.hpp>

namespace nacre {

/// Where an operation on a container is made: anything that has the operations of a rank, a context in a handler or the
/// runtime in main. Made implicitly: `handle.insert(ctx, key)`.
class container_caller : public detail::operation_place {
 public:
  container_caller() = default;
  container_caller(const operations& operations) noexcept : detail::operation_place(detail::place_of(operations)) {}
};

namespace detail {

/// Which of `targets` places of a container has a key. The index of a table uses the other half of the hash.
[[nodiscard]] constexpr std::uint32_t target_of(std::uint64_t hash, std::uint32_t targets) noexcept {
  return static_cast<std::uint32_t>(((hash >> 32) * targets) >> 32);
}

/// The name of a container for handles. The base of all handles. Where its elements are depends on the job, whose
/// number of targets the caller's buffers know.
class container_name {
 public:
  container_name() = default;
  explicit container_name(std::uint32_t number) noexcept : number_(number) {}
  /// Whether it names a container.
  [[nodiscard]] explicit operator bool() const noexcept { return number_ != 0; }

 protected:
  template <class, class>
  friend class container_base;
  [[nodiscard]] std::uint32_t number() const {
    if (number_ == 0) throw usage_error("a handle that names no container: take it from `container.handle()`");
    return number_;
  }
  /// rank * stripes + stripe of a key, in the job of the caller.
  [[nodiscard]] static std::uint32_t target_of(const operation_place& place, std::uint64_t hash) noexcept {
    return detail::target_of(hash, place.buffers->targets());
  }

 private:
  std::uint32_t number_ = 0;  // from 1
};

/// The facts on which ranks that make a container must agree. One type for containers of all kinds, so that the
/// reduction itself is the same on ranks that make different ones.
struct container_agreement {
  std::uint32_t first, last, stripes, type_first, type_last;
  [[nodiscard]] static container_agreement combine(const container_agreement& a, const container_agreement& b) {
    return {std::min(a.first, b.first), std::max(a.last, b.last), std::min(a.stripes, b.stripes),
            std::min(a.type_first, b.type_first), std::max(a.type_last, b.type_last)};
  }
};

/// Keeps the first `count` of all values that are offered, in the order `previous`.
template <class T, class Before>
class first_values {
 public:
  first_values(std::size_t count, Before previous) : count_(count), previous_(std::move(previous)) {}
  /// `value` converts to T, or makes one.
  template <class Value>
  void offer(const Value& value) {
    if (values_.size() < count_) {
      values_.push_back(T(value));
    } else {
      if (count_ == 0 || !previous_(value, values_.front())) return;
      std::pop_heap(values_.begin(), values_.end(), previous_);
      values_.back() = T(value);
    }
    std::push_heap(values_.begin(), values_.end(), previous_);
  }
  [[nodiscard]] std::vector<T> take() noexcept { return std::move(values_); }

 private:
  std::size_t count_;
  Before previous_;
  std::vector<T> values_;  // a heap: its front is the value that is last in the order `previous`
};

/// The base of all containers. `Part` holds the elements of this rank; `Handle` is derived from container_name.
template <class Part, class Handle>
class container_base {
 public:
  /// The handle, for handlers: trivially copyable, valid on every rank until the container ends.
  [[nodiscard]] Handle handle() const {
    alive();
    return handle_;
  }

  container_base(container_base&&) noexcept = default;
  container_base& operator=(container_base&&) = delete;

 protected:
  /// `saved`: names a container of the image from which the job goes on; its elements are taken over. An empty one
  /// makes a new container.
  container_base(runtime& rt, const Handle& saved) : rt_(&rt), caller_(rt) {
    const container_name& name = saved;
    const container_plan plan =
        name ? plan_saved_container(*caller_.core, name.number()) : plan_container(*caller_.core);
    const container_agreement own_plan{plan.number, plan.number, plan.stripes, type_mark<Part>(), type_mark<Part>()};
    const auto all = unpack_own<container_agreement>(combine_values(
        *caller_.core, *caller_.thread, collective_kind::container, {}, own_plan, &container_agreement::combine));
    if (all.type_first != all.type_last || all.first != all.last) {
      throw usage_error("the ranks make different containers: every main makes the same ones in the same order");
    }
    fix_stripes(*caller_.core, all.stripes);
    static_cast<void>(&container_enlisted<Part>);
    if (name) {
      part_.reset(static_cast<Part*>(take_container(*caller_.core, plan.number, operation_name<Part>()).release()));
    } else {
      part_ = std::make_unique<Part>(all.stripes);
    }
    handle_ = Handle(container_name(plan.number));
    number_ = plan.number;
    open_container(*caller_.core, number_, *part_);
    rt.barrier();
  }
  /// Collective: see end_container. After the job it only ends the elements.
  ~container_base() {
    if (part_ == nullptr || part_->job_ended()) return;
    end_container(*caller_.core, *caller_.thread, number_, std::move(part_));
  }

  void alive() const {
    if (part_ == nullptr) throw usage_error("a container that has been moved from: use the one that it was moved to");
    if (part_->job_ended()) throw usage_error("a container whose job has ended: its elements are for the job's ranks");
  }
  /// The beginning of each collective.
  runtime& enter(const char* name) const {
    alive();
    must_be_main(*caller_.core, name);
    return *rt_;
  }
  /// Calls `body` with the part of this rank, on all ranks at the same time; operations wait meanwhile.
  template <class Body>
  void with_part(const char* name, Body&& body) const {
    runtime& rt = enter(name);
    const container_hold held(*caller_.core, *caller_.thread, *part_);
    rt.barrier();  // behind the hold: no rank begins before all have set aside what others do
    const container_iteration iterates(*caller_.core);
    body(*part_);
  }
  /// Calls `body` with the part of this rank, while operations on that part wait. Does not wait for other ranks before:
  /// their parts may still take operations. Returns on no rank before `body` has on all of them.
  template <class Body>
  void change_part(const char* name, Body&& body) {
    runtime& rt = enter(name);
    {
      const container_hold held(*caller_.core, *caller_.thread, *part_);
      body(*part_);
    }
    rt.barrier();
  }
  /// Returns the result of `body` for the part of this rank.
  template <class Body>
  [[nodiscard]] auto of_part(const char* name, Body&& body) const {
    static_cast<void>(enter(name));
    const container_hold held(*caller_.core, *caller_.thread, *part_);
    const container_iteration iterates(*caller_.core);
    return body(static_cast<const Part&>(*part_));
  }
  /// The sequences of all ranks in one, on the rank `target`; an empty one elsewhere.
  template <class T>
  [[nodiscard]] std::vector<T> gather_all(std::vector<T> values, rank_id target) const {
    std::vector<std::vector<T>> parts = rt_->gather(values, target);
    values = {};
    std::size_t count = 0;
    for (const std::vector<T>& each : parts) count += each.size();
    std::vector<T> all;
    all.reserve(count);
    for (std::vector<T>& each : parts) {
      std::move(each.begin(), each.end(), std::back_inserter(all));
      each = {};
    }
    return all;
  }
  /// Returns the first `count` values of all ranks in the order `previous`, on every rank. `part`: the values of this
  /// rank.
  template <class T, class Before>
  [[nodiscard]] std::vector<T> first_of_all(std::vector<T> part, std::size_t count, Before previous) const {
    const auto cut = [&](std::vector<T>& values) {
      const std::size_t kept = std::min(count, values.size());
      std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kept), values.end(), previous);
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(kept), values.end());
    };
    cut(part);
    return rt_->all_reduce(part, [&](std::vector<T> a, std::vector<T> b) {
      std::move(b.begin(), b.end(), std::back_inserter(a));
      cut(a);
      return a;
    });
  }
  /// Combines the values of all ranks; T() when there are none.
  template <class T, class Op>
  [[nodiscard]] T combine_all(std::optional<T> value, Op op) const {
    std::optional<T> all = rt_->all_reduce(value, [&](std::optional<T> a, std::optional<T> b) {
      if (a && b) return std::optional<T>(static_cast<T>(op(std::move(*a), std::move(*b))));
      return a ? std::move(a) : std::move(b);
    });
    return all ? std::move(*all) : T();
  }
  [[nodiscard]] std::uint64_t sum_of_all(std::uint64_t part) const { return rt_->all_reduce(part, std::plus<>{}); }

  runtime* rt_;
  container_caller caller_;
  std::unique_ptr<Part> part_;
  Handle handle_;
  std::uint32_t number_ = 0;
};

}  // namespace detail
}  // namespace nacre
