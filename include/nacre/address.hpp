// SPDX-License-Identifier: Apache-2.0
// The addresses of messages: how a message to each kind of target is made and posted.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <nacre/array.hpp>
#include <nacre/core.hpp>
#include <nacre/error.hpp>
#include <nacre/group.hpp>
#include <nacre/handler.hpp>
#include <nacre/ids.hpp>
#include <nacre/keyed_array.hpp>
#include <nacre/message.hpp>
#include <nacre/mobile_ptr.hpp>
#include <nacre/section.hpp>

namespace nacre::detail {

/// How many handlers a message to a target runs.
enum class target_count : std::uint8_t { none, one, several };

/// The caller of an operation. `acting` is the object that its handler runs on, or not valid().
struct message_caller {
  engine& core;
  thread_context& thread;
  object_id acting;
};
/// The receiver of the result of a message: the state of the caller's future, or null; `fold` is as in array_request.
struct message_request {
  future_state* result = nullptr;
  std::uint32_t fold = 0;
};

template <class T, class K>
key_table<T, K>& table_of(engine& core, group_ptr<key_table<T, K>> table) {
  try {
    return *static_cast<key_table<T, K>*>(local_member(core, table.number(), group_type_of<key_table<T, K>>));
  } catch (const usage_error&) {
    throw usage_error("a message to a key of a keyed array that has been destroyed, or of a handle that names none");
  }
}

// One class for each kind of target, which holds the target in the form that the untyped functions take. `object` is
// the class of the objects on which the handlers run, void for ranks. `named` is the class by which programs name the
// target. `post` posts a message; the table of a keyed array also gets the actor (`By`), by which it sends messages of
// its own.

struct rank_address {
  using object = void;
  using named = rank_id;
  static constexpr target_count count = target_count::one;
  rank_id rank;
  template <class By>
  void post(By&, const message_caller& caller, message_ptr&& m, message_request request) const {
    post_to_rank(caller.core, caller.thread, rank, std::move(m), request.result);
  }
};
struct all_ranks_address {
  using object = void;
  using named = to_all_t;
  static constexpr target_count count = target_count::several;
  static constexpr bool asks_tree = true;
  template <class By>
  void post(By&, const message_caller& caller, message_ptr&& m, message_request) const {
    post_to_all(caller.core, caller.thread, std::move(m));
  }
};
/// A mobile object, which may be the element of an array.
template <class T>
struct object_address {
  using object = T;
  using named = mobile_ptr<T>;
  static constexpr target_count count = target_count::one;
  object_id id;
  template <class By>
  void post(By&, const message_caller& caller, message_ptr&& m, message_request request) const {
    post_to_object(caller.core, caller.thread, {caller.acting, id}, std::move(m), request.result);
  }
};
template <class T, class P>
struct array_address {
  using object = T;
  using named = array_ptr<T, P>;
  static constexpr target_count count = target_count::several;
  std::uint64_t first;
  template <class By>
  void post(By&, const message_caller& caller, message_ptr&& m, message_request request) const {
    post_to_array(caller.core, caller.thread, {.first = first, .done = request.result, .fold = request.fold},
                  std::move(m));
  }
};
template <class T, class P>
struct section_address {
  using object = T;
  using named = section<T, P>;
  static constexpr target_count count = target_count::several;
  std::uint64_t first;
  std::span<const section_part> parts;
  template <class By>
  void post(By&, const message_caller& caller, message_ptr&& m, message_request request) const {
    post_to_section(caller.core, caller.thread, {.first = first, .done = request.result, .fold = request.fold}, parts,
                    std::move(m));
  }
};
template <class T>
struct member_address {
  using object = T;
  using named = group_member<T>;
  static constexpr target_count count = target_count::one;
  group_member<T> member;
  [[nodiscard]] std::uint32_t group() const noexcept { return member.group(); }
  template <class By>
  void post(By&, const message_caller& caller, message_ptr&& m, message_request request) const {
    post_to_rank(caller.core, caller.thread, member.rank(), std::move(m), request.result);
  }
};
template <class T>
struct group_address {
  using object = T;
  using named = group_ptr<T>;
  static constexpr target_count count = target_count::several;
  static constexpr bool asks_tree = true;
  std::uint32_t number;
  [[nodiscard]] std::uint32_t group() const noexcept { return number; }
  template <class By>
  void post(By&, const message_caller& caller, message_ptr&& m, message_request) const {
    post_to_all(caller.core, caller.thread, std::move(m));
  }
};
template <class T, class K>
struct key_address {
  using object = T;
  using named = keyed_element<T, K>;
  static constexpr target_count count = target_count::one;
  const keyed_element<T, K>& element;
  template <class By>
  void post(By& actor, const message_caller& caller, message_ptr&& m, message_request request) const {
    post(actor, caller, std::move(m), request.result, key_wish::first_use);
  }
  template <class By>
  void post(By& actor, const message_caller& caller, message_ptr&& m, future_state* result, key_wish wish) const {
    table_of(caller.core, element.table())
        .post(actor, {caller.core, caller.thread, caller.acting}, element.key(), {std::move(m), result, wish});
  }
};
/// The address of a type that is no target. It only keeps the compiler from printing further errors.
struct no_address {
  using object = void;
  static constexpr target_count count = target_count::none;
};

/// A message that runs F on a rank.
template <auto F, class... Args>
message_ptr rank_message(const with& options, Args&&... arguments) {
  static_assert(std::is_void_v<typename traits<F>::target> || !traits<F>::possible,
                "a member function runs on an object: its target is a mobile_ptr, an array, a section, a group or the "
                "element of a key, and no rank");
  message_ptr m = make_typed<F>(std::forward<Args>(arguments)...);
  stamp<F>(*m, options);
  return m;
}
template <auto F, class Address, class... Args>
message_ptr message_to([[maybe_unused]] const Address& address, const with& options, Args&&... arguments) {
  using object = typename Address::object;
  if constexpr (std::is_void_v<object>) {
    return rank_message<F>(options, std::forward<Args>(arguments)...);
  } else if constexpr (requires { address.group(); }) {
    return rank_message<member_handler<F, object>{}>(options, address.group(), std::forward<Args>(arguments)...);
  } else {
    static_assert(std::is_base_of_v<typename traits<F>::target, object> || !traits<F>::possible,
                  "F is no member function of the object, or the lambda takes an object of another class");
    message_ptr m = make_typed<F, object>(std::forward<Args>(arguments)...);
    m->header.kind = message_kind::object;
    stamp<F>(*m, options);
    return m;
  }
}

}  // namespace nacre::detail
