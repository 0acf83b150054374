// SPDX-License-Identifier: Apache-2.0
// Messages to the elements of keyed arrays.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <nacre/keyed_array.hpp>
#include <nacre/section.hpp>

namespace nacre {

/// Operations on single elements of keyed arrays. A base class of `operations`.
///
/// Messages from one handler or main to one key run in the order sent, as for every object. The first message that a
/// rank sends to a key asks the key's home for the element; until the answer is there, later ones wait on the rank.
class keyed_operations : public section_operations {
 public:
  using section_operations::call;
  using section_operations::erase;
  using section_operations::insert;
  using section_operations::send;

  /// Runs the member function F on the element of a key: rt.send<&word::seen>(words["nacre"], 1).
  template <auto F, class T, class K, class... Args>
  void send(const keyed_element<T, K>& to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class K, class... Args>
  void send(with how, const keyed_element<T, K>& to, Args&&... args) {
    detail::refuse_deadline(how);
    post(to, object_message<F, T>(how, std::forward<Args>(args)...), nullptr, true);
  }
  template <auto F, class T, class K, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(const keyed_element<T, K>& to, Args&&... args) {
    return call<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class K, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(with how, const keyed_element<T, K>& to, Args&&... args) {
    message_ptr m = object_message<F, T>(how, std::forward<Args>(args)...);
    auto result = pending<detail::result_of<F>>();
    make_call(how, result, [&] { post(to, std::move(m), result.state(), true); });
    return result;
  }
  /// Runs a lambda without captures on the element, which it takes first.
  template <class T, class K, class L, class... Args>
  void send(const keyed_element<T, K>& to, L, Args&&... args) {
    send<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class T, class K, class L, class... Args>
  [[nodiscard]] future<detail::result_of<detail::object_lambda<L>>> call(const keyed_element<T, K>& to, L,
                                                                         Args&&... args) {
    return call<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }

  /// Makes the element of a key from the arguments, on the key's home, as for other arrays.
  template <class T, class K, class... Args>
  future<void> insert(const keyed_array_ptr<T, K>& into, const std::type_identity_t<K>& key, Args&&... args) {
    auto object = std::make_unique<T>(make_aggregate_or_object<T>(std::forward<Args>(args)...));
    message_ptr m = detail::make_insertion(detail::type_of<T>(), object.release());
    auto done = pending<void>();
    post(into[key], std::move(m), done.state(), false);
    return done;
  }
  /// Ends the element of a key, as for other arrays.
  template <class T, class K>
  future<void> erase(const keyed_array_ptr<T, K>& from, const std::type_identity_t<K>& key) {
    auto done = pending<void>();
    post(from[key], detail::make_erasure(), done.state(), false);
    table_of(from.table()).note_erasure(*this, *core_, key);
    return done;
  }
  /// The name of the element of a key, to migrate or colocate it, or to keep. Not valid for a key that no rank has sent
  /// to so far. What this caller sends by the name has no order with what it has sent by the key before.
  template <class T, class K>
  [[nodiscard]] future<mobile_ptr<T>> element_of(const keyed_array_ptr<T, K>& in, const std::type_identity_t<K>& key) {
    const auto table = in.table();
    return call<&detail::key_table<T, K>::find>(table[table_of(table).home_of(*core_, {detail::hash_of(key), key})],
                                                key);
  }

 protected:
  using section_operations::section_operations;
  ~keyed_operations() = default;

 private:
  template <class T, class K>
  detail::key_table<T, K>& table_of(group_ptr<detail::key_table<T, K>> table) const {
    try {
      return local(table);
    } catch (const usage_error&) {
      throw usage_error("a message to a key of a keyed array that has been destroyed, or of a handle that names none");
    }
  }
  template <class T, class K>
  void post(const keyed_element<T, K>& to, message_ptr m, detail::future_state* result, bool makes) {
    table_of(to.table()).post(*this, {*core_, *thread_, acting_}, to.key(), {std::move(m), result, makes});
  }
};

}  // namespace nacre
