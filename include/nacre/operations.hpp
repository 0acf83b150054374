// SPDX-License-Identifier: Apache-2.0
// The operations that mains and handlers share: all but collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/extension_module.hpp>
#include <nacre/keyed_operations.hpp>
#include <nacre/memory.hpp>

namespace nacre {

class extension_ref;

namespace detail {

/// The module and the number of a command, and the key that it comes with.
struct extension_target {
  std::uint64_t module;
  extension_key key;
  std::uint32_t command;
};

[[nodiscard]] extension_key key_of_extension(engine& core, std::string_view name);
extension_key withdraw_extension_key(engine& core, std::string_view name);
std::string load_extension(engine& core, thread_context& on, const std::string& file, extension_access access);
void unload_extension(engine& core, thread_context& on, std::string_view name);

}  // namespace detail

/// The operations that a rank's main (`runtime`) and its handlers (`context`) share. They return at once, except where
/// their comments say that they wait. None may be called from a thread that the program started itself. Arguments are
/// converted to the handler's parameter types before the call returns, so the caller's values may change or end then.
class operations : public keyed_operations {
  using overloaded = detail::several_functions_have_this_name_so_use_a_lambda_that_calls_one;

 public:
  using keyed_operations::after;
  using keyed_operations::call;
  using keyed_operations::reduce;
  using keyed_operations::send;
  /// Do not compile: the name of several functions is no handler. The compiler's list of candidates says so.
  template <overloaded F, class... Args>
  void send(Args&&... use_a_lambda_that_calls_one);
  template <overloaded F, class... Args>
  void call(Args&&... use_a_lambda_that_calls_one);
  template <overloaded F, class... Args>
  void reduce(Args&&... use_a_lambda_that_calls_one);
  template <overloaded F, class... Args>
  void after(Args&&... use_a_lambda_that_calls_one);

  /// Exposes memory of the caller: every rank that gets the handle may read and write it, or only read it if T is
  /// const. The memory must stay at its address until withdraw. An object that exposes its own members must refuse to
  /// move by may_migrate, else a balancer may move it. Elements that several ranks access at a time, one of them
  /// writing, have unspecified values.
  template <class T>
  [[nodiscard]] remote_memory<T> expose(std::span<T> own) {
    constexpr auto access = std::is_const_v<T> ? detail::memory_access::read_only : detail::memory_access::read_write;
    return remote_memory<T>(detail::expose(*core_, bytes_of(std::span<const T>(own)), access));
  }
  /// Exposes the elements that a vector has now; it must not get others until withdraw.
  template <class T>
  [[nodiscard]] remote_memory<T> expose(std::vector<T>& own) {
    return expose(std::span<T>(own));
  }
  /// Copies `from` to the elements from index `offset` on of exposed memory, of another rank or of this one. The future
  /// is ready when the bytes are in place there. `from` must stay unchanged until then, or until the future is dropped.
  /// Dropping it ends the transfer: bytes that have not left by then are not written. Long transfers are sent in pieces
  /// on channel::bulk. Several transfers have no order: wait for one before the next where order matters. The future
  /// fails with call_error when the range is not inside the memory, when the key is wrong, or when the memory was never
  /// exposed; nothing was written then. It also fails when the memory is withdrawn; some pieces may have been written
  /// by then.
  template <class T>
  [[nodiscard]] future<void> put(const remote_memory<T>& to, std::size_t offset,
                                 std::type_identity_t<std::span<const T>> from) {
    static_assert(!std::is_const_v<T>, "a handle to const elements can only be read through");
    return detail::put(*core_, *thread_, to.name(), {offset, sizeof(T), bytes_of(from)});
  }
  /// Copies elements of exposed memory, from index `offset` on, to `to`. The caller must keep `to` alive and untouched
  /// until the future is ready or dropped; Nacre does not access it afterwards. Order and errors are as for put.
  template <class T>
  [[nodiscard]] future<void> get(const remote_memory<T>& from, std::size_t offset,
                                 std::type_identity_t<std::span<std::remove_const_t<T>>> to) {
    return detail::get(*core_, *thread_, from.name(), {offset, sizeof(T), bytes_of(std::span<const T>(to))});
  }
  /// Ends access to memory that this rank has exposed. When it returns, Nacre does not access the memory any more;
  /// later accesses, and the rest of those under way, fail at their callers. It waits for no other rank, at most for a
  /// piece that another thread of this rank is copying. Throws usage_error when the memory is not, or no longer,
  /// exposed here.
  template <class T>
  void withdraw(const remote_memory<T>& exposed) {
    detail::withdraw(*core_, exposed.name());
  }

  /// An extension module, to send commands to; see extension_ref, in <nacre/extension.hpp>. `key` is the key that the
  /// owner of the module has handed out, or the key of the program, which opens the modules that the program has
  /// registered or loaded, unless they were closed by extension_access::key.
  [[nodiscard]] extension_ref extension(std::string_view name, const extension_key& key = {}) const;
  /// The key of the module of this name on this rank, for whoever is to command it here: it may be sent around like a
  /// number. Throws usage_error when this rank has no such module.
  [[nodiscard]] extension_key key_of_extension(std::string_view name) const {
    return detail::key_of_extension(*core_, name);
  }
  /// Ends the validity of that key, and of the key of the program for this module on this rank. Returns the new key.
  /// Commands that come with an old one fail at their callers. Throws usage_error when this rank has no such module.
  extension_key withdraw_extension_key(std::string_view name) const {
    return detail::withdraw_extension_key(*core_, name);
  }

  /// Runs F on this rank once no handler runs and no message is under way anywhere.
  template <auto F, class... Args>
  void on_quiescence(Args&&... args) {
    detail::post_on_quiescence(*core_, *thread_, detail::make_typed<F>(std::forward<Args>(args)...));
  }
  /// Runs a lambda without captures on this rank, as on_quiescence<F> does.
  template <class L, class... Args>
  void on_quiescence(L, Args&&... args) {
    on_quiescence<detail::rank_lambda<L>>(std::forward<Args>(args)...);
  }

  /// Enables (the default) or disables, for a phase of the program, the migrations that this rank's balancer requests.
  void enable_balancing(bool on) noexcept { detail::enable_balancing(*core_, on); }

 protected:
  using keyed_operations::keyed_operations;
  ~operations() = default;

 private:
  template <class T>
  static std::span<std::byte> bytes_of(std::span<const T> of) noexcept {
    return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(of.data())), of.size_bytes()};
  }
};

}  // namespace nacre
