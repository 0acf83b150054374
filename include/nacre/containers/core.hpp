// SPDX-License-Identifier: Apache-2.0
// The untyped functions of containers, and the typed shell that packs their operations and runs them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/image_rows.hpp>
#include <nacre/invoke.hpp>
#include <nacre/key_hash.hpp>
#include <nacre/operation_buffers.hpp>
#include <nacre/runtime.hpp>

namespace nacre::detail {

// Implemented in src/runtime/api/containers.cpp.
[[nodiscard]] operation_buffers& buffers_of(engine& core, const thread_context& thread) noexcept;
void throttle(engine& core, thread_context& thread);
/// The numbers that ranks agree on when they make a container.
struct container_plan {
  std::uint32_t number = 0;
  std::uint32_t stripes = 1;
};
[[nodiscard]] container_plan plan_container(engine& core);
/// The numbers for a container that the program takes over from the image. Throws usage_error when the image has no
/// container of this number, or when it has been taken over.
[[nodiscard]] container_plan plan_saved_container(engine& core, std::uint32_t number);
/// The part of this rank. `name`: of its class. Throws setup_error when it is of another class.
[[nodiscard]] std::unique_ptr<container_part> take_container(engine& core, std::uint32_t number, std::string_view name);
void fix_stripes(engine& core, std::uint32_t stripes);
void open_container(engine& core, std::uint32_t number, container_part& part);
/// Throws usage_error when the container has ended.
void check_container(engine& core, std::uint32_t number);
/// Ends a container of main: waits for quiescence first, so that operations under way find it. While an exception
/// unwinds main the other ranks do not come here, and the job is about to end; and where main must not wait, such as
/// inside with_exclusive or for_all, nothing can wait for the operations. Then the container stays open, and the rank
/// keeps its part; in the second case a line says so.
void end_container(engine& core, thread_context& thread, std::uint32_t number,
                   std::unique_ptr<container_part> part) noexcept;
/// Throws usage_error while main waits, for then the caller is a handler.
void must_be_main(engine& core, const char* name);
void hold_container(engine& core, container_part& part);
void release_container(engine& core, thread_context& thread, container_part& part) noexcept;
void iterate(engine& core, bool begins) noexcept;

/// Keeps operations away from a container of this rank while main looks at its elements.
class container_hold {
 public:
  container_hold(engine& core, thread_context& thread, container_part& part)
      : core_(core), thread_(thread), part_(part) {
    hold_container(core, part);
  }
  ~container_hold() { release_container(core_, thread_, part_); }
  container_hold(const container_hold&) = delete;
  container_hold& operator=(const container_hold&) = delete;

 private:
  engine& core_;
  thread_context& thread_;
  container_part& part_;
};

/// Refuses blocking waits of main while a function of the program sees elements that are held.
class container_iteration {
 public:
  explicit container_iteration(engine& core) noexcept : core_(core) { iterate(core, true); }
  ~container_iteration() { iterate(core_, false); }
  container_iteration(const container_iteration&) = delete;
  container_iteration& operator=(const container_iteration&) = delete;

 private:
  engine& core_;
};

/// Gives a handler the part of a container on its rank, one stripe of which it may read.
class stripe_lock {
 public:
  stripe_lock(engine& core, std::uint32_t container, std::uint32_t stripe);
  ~stripe_lock();
  stripe_lock(const stripe_lock&) = delete;
  stripe_lock& operator=(const stripe_lock&) = delete;
  [[nodiscard]] container_part& part() const noexcept { return *part_; }

 private:
  engine& core_;
  std::uint32_t stripe_;
  container_part* part_;
};

/// Where an operation is made: a main, or a handler.
struct operation_place {
  engine* core = nullptr;
  thread_context* thread = nullptr;
  operation_buffers* buffers = nullptr;
};
struct operations_access : runtime {
  static engine* core_of(const operations& operations) noexcept { return operations.*&operations_access::core_; }
  static thread_context* thread_of(const operations& operations) noexcept {
    return operations.*&operations_access::thread_;
  }
};
[[nodiscard]] inline operation_place place_of(const operations& operations) noexcept {
  engine* const core = operations_access::core_of(operations);
  thread_context* const thread = operations_access::thread_of(operations);
  return {core, thread, &buffers_of(*core, *thread)};
}

/// A value in a form that is read from a bundle without a copy, where there is one.
template <class T>
using read_form = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
/// Values that are packed without gaps, and whose packing cannot fail.
template <class... Ts>
inline constexpr bool packs_tight = ((flat<Ts> || std::is_same_v<Ts, std::string> ||
                                      std::is_same_v<Ts, std::string_view>)&&...);
/// A key whose hash costs about as much to compute as to carry.
template <class K>
inline constexpr bool carries_hash = !flat<K>;

template <class Op, class Values>
outcome run_operations(engine& core, thread_context& thread, message_ptr& m, void* target, handler_id self);

template <class Op>
constexpr std::string_view operation_name() noexcept {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  return template_argument(whole, whole.find("Op = ") + 5);
}
template <class Op>
struct operation_identity {};

/// The row of an operation. `Op` is a struct with
///
///   using part = ...;                       the class of the container's part, derived from container_part
///   using values = std::tuple<...>;         the arguments as they are packed
///   static void run(context&, part&, std::uint32_t stripe, values...);     the values as read_form
template <class Op>
inline handler_info operation_row{body_ops{},
                                  &run_operations<Op, typename Op::values>,
                                  operation_name<Op>(),
                                  key_of<operation_run>(),
                                  false,
                                  false,
                                  nullptr,
                                  handler_id{},
                                  &typeid(operation_identity<Op>)};
template <class Op>
inline const handler_registration operation_enlisted{operation_row<Op>};

/// An image's containers are made again by these rows.
template <class Part>
[[nodiscard]] std::unique_ptr<container_part> make_part(std::uint32_t stripes) {
  return std::make_unique<Part>(stripes);
}
template <class Part>
inline container_row container_row_of{operation_name<Part>(), &make_part<Part>};
template <class Part>
inline const image_registration<container_row> container_enlisted{container_row_of<Part>};

/// The lock of buffers, for a scope.
class buffers_lock {
 public:
  explicit buffers_lock(operation_buffers& operation_buffers) noexcept : buffers_(operation_buffers) {
    buffers_.lock();
  }
  ~buffers_lock() { buffers_.unlock(); }
  buffers_lock(const buffers_lock&) = delete;
  buffers_lock& operator=(const buffers_lock&) = delete;

 private:
  operation_buffers& buffers_;
};

/// Packs an operation whose values cannot throw; only memory may run out. The caller holds the lock of the buffers.
template <class Op, class... Ts>
void append_locked(operation_buffers& buffers, std::uint32_t container, std::uint32_t target, const Ts&... values) {
  static_cast<void>(&operation_enlisted<Op>);
  const std::size_t bytes = packed_size(values...);
  writer out(std::span<std::byte>(buffers.claim({operation_row<Op>.id.value(), container}, target, bytes), bytes));
  out(values...);
}

/// Makes an operation. Values are packed by the caller, so an exception of their packing leaves here, and nothing has
/// been made then.
template <class Op, class... Ts>
void append(const operation_place& place, std::uint32_t container, std::uint32_t target, const Ts&... values) {
  static_cast<void>(&operation_enlisted<Op>);
  throttle(*place.core, *place.thread);
  if constexpr (packs_tight<Ts...>) {
    const buffers_lock held(*place.buffers);
    append_locked<Op>(*place.buffers, container, target, values...);
  } else {
    writer packed;
    packed(values...);
    const std::size_t bytes = run_aligned(packed.size());
    const buffers_lock held(*place.buffers);
    std::byte* const destination = place.buffers->claim({operation_row<Op>.id.value(), container}, target, bytes, true);
    if (packed.size() != 0) std::memcpy(destination, packed.data(), packed.size());
    std::memset(destination + packed.size(), 0, bytes - packed.size());
  }
}

template <class Op>
concept prefetches = requires {
  typename Op::table;
};

/// Reads some operations at a time, so that the memory of all of them is on its way when the first runs.
template <class Op, class... Ts>
bool run_blocks(context& ctx, const operation_run& run, typename Op::part& part, handler_phase& phase) {
  constexpr std::uint32_t block = 16;
  auto ahead = blank<std::array<std::tuple<read_form<Ts>...>, block>>();
  reader in(run.bytes);
  for (std::uint32_t left = run.count; left != 0;) {
    const std::uint32_t count = std::min(left, block);
    left -= count;
    phase = handler_phase::decoding;
    const auto each = [&](auto&& body) {
      for (std::uint32_t i = 0; i < count; ++i) std::apply(body, ahead[i]);
    };
    each([&](auto&... value) { in(value...); });
    if (!in.ok()) return false;
    if constexpr (prefetches<Op>) {
      each([&](auto&... value) { Op::prefetch_place(part, run.stripe, value...); });
      each([&](auto&... value) { Op::prefetch_element(part, run.stripe, value...); });
    }
    phase = handler_phase::running;
    each([&](auto&... value) { Op::run(ctx, part, run.stripe, std::move(value)...); });
  }
  return in.finish();
}

/// Reads the operations of a run, one after the other, and runs each.
template <class Op, class... Ts>
bool run_each(context& ctx, const operation_run& run, typename Op::part& part, handler_phase& phase,
              std::tuple<Ts...>*) {
  const auto one = [&](reader& in) {
    auto values = blank<std::tuple<read_form<Ts>...>>();
    phase = handler_phase::decoding;
    std::apply([&](auto&... value) { in(value...); }, values);
    if (!in.ok()) return false;
    phase = handler_phase::running;
    std::apply([&](auto&... value) { Op::run(ctx, part, run.stripe, std::move(value)...); }, values);
    return true;
  };
  if constexpr (packs_tight<Ts...>) {
    return run_blocks<Op, Ts...>(ctx, run, part, phase);
  } else {
    std::size_t offset = 0;
    for (std::uint32_t i = 0; i < run.count; ++i) {
      if (offset > run.bytes.size()) return false;
      reader in(run.bytes.subspan(offset));
      if (!one(in)) return false;
      offset += run_aligned(in.position());
    }
  }
  return true;
}

template <class Op, class Values>
outcome run_operations(engine& core, thread_context& thread, message_ptr& m, void* target, handler_id self) {
  const operation_run& run = *static_cast<const operation_run*>(target);
  if (!same_class(run.part.key(), key_of<typename Op::part>())) return outcome::malformed;
  message_header request;
  request.source = m->header.source;
  request.handler = self.value();
  context ctx(core, thread, request);
  handler_phase phase = handler_phase::decoding;
  try {
    const bool read =
        run_each<Op>(ctx, run, static_cast<typename Op::part&>(run.part), phase, static_cast<Values*>(nullptr));
    return read ? outcome::done : outcome::malformed;
  } catch (...) {
    handler_failed(core, thread, request, self, phase);
  }
  return outcome::done;
}

}  // namespace nacre::detail
