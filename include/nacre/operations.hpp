// SPDX-License-Identifier: Apache-2.0
// The operations that mains and handlers share: all but collectives.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/colocate.hpp>
#include <nacre/extension_module.hpp>
#include <nacre/memory.hpp>
#include <nacre/message_operations.hpp>

namespace nacre {

class extension_ref;

namespace detail {

template <class T, class... Args>
mobile_ptr<T> create_remotely(context& ctx, Args... args);

/// The module and the number of a command, and the key that it comes with.
struct extension_target {
  std::uint64_t module;
  extension_key key;
  std::uint32_t command;
};

[[nodiscard]] extension_key key_of_extension(engine& core, std::string_view name);
extension_key withdraw_extension_key(engine& core, std::string_view name);
std::string load_extension(engine& core, thread_context& thread, const std::string& file, extension_access access);
void unload_extension(engine& core, thread_context& thread, std::string_view name);

}  // namespace detail

/// The operations that a rank's main (`runtime`) and its handlers (`context`) share. They return at once, except where
/// their comments say that they wait. None may be called from a thread that the program started itself. Arguments are
/// converted to the handler's parameter types before the call returns, so the caller's values may change or end then.
class operations : public message_operations {
 public:
  /// Makes a mobile object on this rank. T must be default-constructible and serializable, so that it can move.
  template <class T, class... Args>
  mobile_ptr<T> create(Args&&... args) {
    auto object = detail::make_object<T>(std::forward<Args>(args)...);
    return mobile_ptr<T>(detail::adopt_object(*core_, *thread_, detail::type_of<T>(), object.release()));
  }
  template <class T>
  mobile_ptr<T> create() {
    return mobile_ptr<T>(detail::adopt_object(*core_, *thread_, detail::type_of<T>(), new T()));
  }
  /// Makes a mobile object on another rank from copies of the arguments.
  template <class T, class... Args>
  [[nodiscard]] future<mobile_ptr<T>> create_on(rank_id rank, Args&&... args) {
    return call<&detail::create_remotely<T, detail::packed_argument<Args>...>>(rank, std::forward<Args>(args)...);
  }
  /// Moves an object after the messages that this caller sent to it before. The future is ready when the object has
  /// arrived. An object stays, and the future fails with call_error, if its class has a member `bool may_migrate()
  /// const` that returns false.
  template <class T>
  future<void> migrate(mobile_ptr<T> object, rank_id target) {
    auto moved = pending<void>();
    detail::post_migrate(*core_, *thread_, object.id(), target, *moved.state());
    return moved;
  }
  /// Ends an object after the messages that this caller sent to it before. Messages that others send later are reported
  /// to the error handlers of their ranks (runtime::on_delivery_error).
  template <class T>
  void destroy(mobile_ptr<T> object) {
    detail::post_destroy(*core_, *thread_, object.id());
  }
  /// Runs f(T&) in main, alone on the object, after the messages that main has sent to it before, and returns a copy of
  /// the result. An object on another rank moves here first; to work on it there, send it a member function. Main waits
  /// for access to the object and runs other work meanwhile. f may send, but must not wait: a call that would block (a
  /// future that is not ready, a collective, another lock) throws usage_error, so that no deadlock can arise. Migration
  /// and destruction of the object wait until f has ended, also if it ends by an exception, which the caller gets.
  /// Throws call_error when the object has been destroyed or refuses to move here (may_migrate), and usage_error in a
  /// handler.
  template <class T, class F>
  auto with_exclusive(mobile_ptr<T> object, F&& f) {
    const detail::object_lock lock(*core_, *thread_, object.id(), detail::object_access::exclusive,
                                   detail::key_of<T>());
    return std::forward<F>(f)(*static_cast<T*>(lock.held()));
  }
  /// Runs f(const T&) as with_exclusive does, but shared handlers may run on the object at the same time.
  template <class T, class F>
  auto with_shared(mobile_ptr<T> object, F&& f) {
    const detail::object_lock lock(*core_, *thread_, object.id(), detail::object_access::shared, detail::key_of<T>());
    return std::forward<F>(f)(*static_cast<const T*>(lock.held()));
  }
  /// Brings 2 to 16 different objects to one rank and runs F there once, alone on all of them (PREMA section 4.1.3,
  /// ilb_multicast). For example, colocate<merge>(p, q, 3) runs `void merge(nacre::context&, cell& a, part& b, int
  /// how)`. The context is optional; its self() is the first object. Each reference to an object takes a mobile_ptr to
  /// an object of its class. F is alone on each object, also where the reference is const. F runs after the messages
  /// that this caller has sent to each object before, and before those that it sends later. As few objects move as
  /// possible; if one refuses to move, F runs on its rank. F does not run when an object is destroyed before, or when
  /// objects on different ranks refuse to move: the failure is then reported to the error handler of this rank
  /// (on_delivery_error), and the other objects continue.
  ///
  /// Where their number is known at run time only, a vector or span of mobile_ptr<cell> names 1 to 1,024 different
  /// objects of one class: colocate<level>(cells, 3) runs `void level(nacre::context&, std::span<cell* const>, int
  /// how)` on them, in the order of the list. Throws usage_error for more, or none.
  template <auto F, class... Args>
  void colocate(Args&&... args) {
    post_colocation<F>(nullptr, args...);
  }
  /// Runs F as colocate does and returns a future of its result, which fails with call_error.
  template <auto F, class... Args>
  [[nodiscard]] auto colocate_call(Args&&... args) {
    using result = typename detail::colocation_of<F, std::decay_t<Args>...>::result;
    auto awaited = pending<result>();
    post_colocation<F>(awaited.state(), args...);
    return awaited;
  }
  /// Colocates for a lambda without captures, which stands behind the objects: colocate(p, q, [](cell& a, part& b, int
  /// how) { ... }, 3).
  template <class... Args>
  void colocate(Args&&... args) {
    detail::split_at_lambda(
        [&]<class L>(std::type_identity<L>, auto&&... rest) {
          colocate<detail::rank_lambda<L>>(std::forward<decltype(rest)>(rest)...);
        },
        std::forward<Args>(args)...);
  }
  template <class... Args>
  [[nodiscard]] auto colocate_call(Args&&... args) {
    return detail::split_at_lambda(
        [&]<class L>(std::type_identity<L>, auto&&... rest) {
          return colocate_call<detail::rank_lambda<L>>(std::forward<decltype(rest)>(rest)...);
        },
        std::forward<Args>(args)...);
  }
  /// The home of an object: the rank that knows where it is, and to which messages go that have no better way. It is
  /// the rank that made the object, or its place in an array, but in a job that has been restored on another number of
  /// ranks. Throws usage_error when `object` is none of this job.
  template <class T>
  [[nodiscard]] rank_id home_of(mobile_ptr<T> object) const {
    return detail::home_of(*core_, object.id());
  }
  /// Whether the object is on this rank at this moment.
  template <class T>
  [[nodiscard]] bool is_local(mobile_ptr<T> object) const noexcept {
    return detail::is_local(*core_, *thread_, object.id());
  }

  /// Makes the element of a place from the arguments, on the place's home. The insertion is a message to the place:
  /// messages that this caller sends to the element later find it. The future fails with call_error when the place has
  /// an element already.
  template <class T, class P, class... Args>
  future<void> insert(const array_ptr<T, P>& array, const index& index, Args&&... args) {
    const mobile_ptr<T> element = array[index];
    auto object = detail::make_object<T>(std::forward<Args>(args)...);
    auto done = pending<void>();
    detail::post_insert(*core_, *thread_, element.id(), detail::type_of<T>(), object.release(), *done.state());
    return done;
  }
  /// Ends the element of a place, on whichever rank it is, after the messages that this caller sent to it before. The
  /// place may get another element. The future fails with call_error when there is no element. `destroy` ends an
  /// element too, without a future.
  template <class T, class P>
  future<void> erase(const array_ptr<T, P>& array, const index& index) {
    auto done = pending<void>();
    detail::post_erase(*core_, *thread_, array[index].id(), *done.state());
    return done;
  }

  /// Makes the element of a key from the arguments, on the key's home, as for other arrays.
  template <class T, class K, class... Args>
  future<void> insert(const keyed_array_ptr<T, K>& keyed_array_ptr, const std::type_identity_t<K>& key,
                      Args&&... args) {
    auto object = detail::make_object<T>(std::forward<Args>(args)...);
    message_ptr m = detail::make_insertion(detail::type_of<T>(), object.release());
    auto done = pending<void>();
    post_to_key(keyed_array_ptr[key], std::move(m), done, detail::key_wish::insertion);
    return done;
  }
  /// Ends the element of a key, as for other arrays.
  template <class T, class K>
  future<void> erase(const keyed_array_ptr<T, K>& keyed_array_ptr, const std::type_identity_t<K>& key) {
    auto done = pending<void>();
    post_to_key(keyed_array_ptr[key], detail::make_erasure(), done, detail::key_wish::none);
    detail::table_of(*core_, keyed_array_ptr.table()).note_erasure(*this, *core_, key);
    return done;
  }
  /// The name of the element of a key, to migrate or colocate it, or to keep. Not valid for a key that no rank has sent
  /// to so far. What this caller sends by the name has no order with what it has sent by the key before.
  template <class T, class K>
  [[nodiscard]] future<mobile_ptr<T>> element_of(const keyed_array_ptr<T, K>& in, const std::type_identity_t<K>& key) {
    const auto table = in.table();
    return call<&detail::key_table<T, K>::find>(
        table[detail::table_of(*core_, table).home_of(*core_, {detail::hash_of(key), key})], key);
  }

  /// Tells the homes of the places of a section that its elements will contribute among themselves, see
  /// element_operations::contribute. The future gives the name by which they do so, once all those ranks know it: send
  /// it to the elements. It costs one message for each of these ranks, and memory for each place of the section until
  /// destroy_section or the end of the array. The future fails with call_error for a section without places, and when
  /// the array has been destroyed.
  template <class T, class P>
  [[nodiscard]] future<section_ptr> create_section(const section<T, P>& section) {
    return call<&detail::open_section>(
        rank(), section.array().first(),
        std::vector<detail::section_part>(section.parts().begin(), section.parts().end()));
  }
  /// Ends the steps of a section: those that lack values are dropped, which is reported as a message that was not
  /// delivered. Contributions that come later are reported, too, or are usage errors of their handlers. The future is
  /// ready when no rank knows the section any more, and fails with call_error when it has been destroyed before.
  template <std::same_as<section_ptr> Name>
  future<void> destroy_section(const Name& subject) {
    if (!subject) throw usage_error("destroy_section of a section_ptr that names nothing (it was default-constructed)");
    return call<&detail::close_section>(rank_id(subject.root().value() % size()), subject.array(), subject.number());
  }

  /// Exposes memory of the caller: every rank that gets the handle may read and write it, or only read it if T is
  /// const. The memory must stay at its address until withdraw. An object that exposes its own members must refuse to
  /// move by may_migrate, else a balancer may move it. Elements that several ranks access at a time, one of them
  /// writing, have unspecified values.
  template <class T>
  [[nodiscard]] remote_memory<T> expose(std::span<T> values) {
    constexpr auto access = std::is_const_v<T> ? detail::memory_access::read_only : detail::memory_access::read_write;
    return remote_memory<T>(detail::expose(*core_, bytes_of(std::span<const T>(values)), access));
  }
  /// Exposes the elements that a vector has now; it must not get others until withdraw.
  template <class T>
  [[nodiscard]] remote_memory<T> expose(std::vector<T>& values) {
    return expose(std::span<T>(values));
  }
  /// Copies `values` to the elements from index `offset` on of exposed memory, of another rank or of this one. The
  /// future is ready when the bytes are in place there. `values` must stay unchanged until then, or until the future is
  /// dropped. Dropping it ends the transfer: bytes that have not left by then are not written. Long transfers are sent
  /// in pieces on channel::bulk. Several transfers have no order: wait for one before the next where order matters. The
  /// future fails with call_error when the range is not inside the memory, when the key is wrong, or when the memory
  /// was never exposed; nothing was written then. It also fails when the memory is withdrawn; some pieces may have been
  /// written by then.
  template <class T>
  [[nodiscard]] future<void> put(const remote_memory<T>& remote_memory, std::size_t offset,
                                 std::type_identity_t<std::span<const T>> values) {
    static_assert(!std::is_const_v<T>, "a handle to const elements can only be read through");
    return detail::put(*core_, *thread_, remote_memory.name(), {offset, sizeof(T), bytes_of(values)});
  }
  /// Copies elements of exposed memory, from index `offset` on, to `values`. The caller must keep `values` alive and
  /// untouched until the future is ready or dropped; Nacre does not access it afterwards. Order and errors are as for
  /// put.
  template <class T>
  [[nodiscard]] future<void> get(const remote_memory<T>& remote_memory, std::size_t offset,
                                 std::type_identity_t<std::span<std::remove_const_t<T>>> values) {
    return detail::get(*core_, *thread_, remote_memory.name(),
                       {offset, sizeof(T), bytes_of(std::span<const T>(values))});
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
  void enable_balancing(bool is_on) noexcept { detail::enable_balancing(*core_, is_on); }

 protected:
  using message_operations::message_operations;
  ~operations() = default;

 private:
  template <class T, class K>
  void post_to_key(const keyed_element<T, K>& element, message_ptr m, const future<void>& done, detail::key_wish wish) {
    detail::address_of(element).post(*this, caller(), std::move(m), done.state(), wish);
  }
  template <auto F, class... Args>
  void post_colocation(detail::future_state* result, Args&... args) {
    const auto ids = detail::colocation_of<F, std::decay_t<Args>...>::ids(args...);
    detail::post_colocate(*core_, *thread_, ids, detail::colocation_message<F>(args...), result);
  }
  template <class T>
  static std::span<std::byte> bytes_of(std::span<const T> values) noexcept {
    return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(values.data())), values.size_bytes()};
  }
};

}  // namespace nacre
