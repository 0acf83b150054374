// SPDX-License-Identifier: Apache-2.0
// What mains and handlers have in common: everything but collectives.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <nacre/array_operations.hpp>
#include <nacre/memory.hpp>

namespace nacre {

/// The operations that a rank's main (`runtime`) and its handlers (`context`) share. All of them return at once; none
/// may be called from a thread that the program started itself. Arguments are converted to the handler's parameter
/// types before the call returns, so the caller's values may change or end at once.
class operations : public array_operations {
 public:
  /// Lets every rank that is given the handle read and write this memory of the caller, or, if T is const, read it. It
  /// must stay where it is until withdraw: an object that exposes its own members says so by may_migrate, else a
  /// balancer may move it. Elements that several access at a time, one of them writing, hold anything.
  template <class T>
  [[nodiscard]] remote_memory<T> expose(std::span<T> own) {
    constexpr auto access = std::is_const_v<T> ? detail::memory_access::read_only : detail::memory_access::read_write;
    return remote_memory<T>(detail::expose(*core_, bytes_of(std::span<const T>(own)), access));
  }
  /// Copies `from` to the elements at `offset` of another rank's memory, or of the own one. Ready when the bytes are in
  /// place there. `from` must stay as it is until then, or until the future is dropped, which ends the transfer: what
  /// has not left by then is not written. Large ones travel in pieces on channel::bulk. Several transfers are in no
  /// order: wait for one before the next if it matters. The future fails with call_error when the range is not inside
  /// the memory, the key is wrong, or it was never exposed, and then nothing was written; also when it is withdrawn, at
  /// which some pieces may have been written before.
  template <class T>
  [[nodiscard]] future<void> put(const remote_memory<T>& to, std::size_t offset,
                                 std::type_identity_t<std::span<const T>> from) {
    static_assert(!std::is_const_v<T>, "a handle to const elements can only be read through");
    return detail::put(*core_, *thread_, to.name(), {offset, sizeof(T), bytes_of(from)});
  }
  /// Copies the elements at `offset` of the memory to `to`, which is in use until the future is ready or dropped: it is
  /// not touched afterwards. As put in all else.
  template <class T>
  [[nodiscard]] future<void> get(const remote_memory<T>& from, std::size_t offset,
                                 std::type_identity_t<std::span<std::remove_const_t<T>>> to) {
    return detail::get(*core_, *thread_, from.name(), {offset, sizeof(T), bytes_of(std::span<const T>(to))});
  }
  /// Ends access to memory that this rank has exposed. When it returns nothing touches the memory any more; accesses
  /// that come later, and the rest of those under way, fail at their callers. Waits for no rank, at most for a piece
  /// that another thread context of this rank is copying. Throws usage_error when it is not, or no longer, exposed here.
  template <class T>
  void withdraw(const remote_memory<T>& exposed) {
    detail::withdraw(*core_, exposed.name());
  }

  /// Runs F on this rank once no handler runs and no message is under way anywhere.
  template <auto F, class... Args>
  void on_quiescence(Args&&... args) {
    detail::post_on_quiescence(*core_, *thread_, detail::make_typed<F>(std::forward<Args>(args)...));
  }

  /// Lets the balancer of this rank move objects away (the default), or not, for a phase of the program.
  void enable_balancing(bool on) noexcept { detail::enable_balancing(*core_, on); }

 protected:
  using array_operations::array_operations;
  ~operations() = default;

 private:
  template <class T>
  static std::span<std::byte> bytes_of(std::span<const T> of) noexcept {
    return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(of.data())), of.size_bytes()};
  }
};

}  // namespace nacre
