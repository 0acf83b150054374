// SPDX-License-Identifier: Apache-2.0
// Runs a handler for a message: takes the arguments out of the body, calls the handler, and sends the reply.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/colocate.hpp>
#include <nacre/group_next.hpp>
#include <nacre/handler.hpp>
#include <nacre/runtime.hpp>
#include <nacre/task.hpp>

namespace nacre::detail {

/// Sends the result of a call back. `request` identifies the caller and the call.
void post_reply(engine& core, thread_context& thread, const message_header& request, message_ptr reply);
/// In a catch clause: the handler threw, or the decoding of its arguments did. Sends the error to a caller that waits
/// for a result; without such a caller, ends the job with a line that names the handler.
void handler_failed(engine& core, thread_context& thread, const message_header& request, handler_id handler,
                    handler_phase handler_phase);

template <class R>
message_ptr make_reply(R&& value) {
  using values = std::tuple<std::decay_t<R>>;
  if constexpr (packs_at_once<values>) {
    return make_packed<values, values>(std::forward<R>(value));
  } else {
    message_ptr m = make_message(sizeof(values));
    ::new (static_cast<void*>(m->body())) values(std::forward<R>(value));
    m->ops = &body_of<values>::ops;
    return m;
  }
}

template <class Call>
void call_and_reply(engine& core, thread_context& thread, const message_header& request, Call&& body) {
  using result = decltype(body());
  if constexpr (std::is_void_v<result>) {
    body();
    if (request.reply != 0) post_reply(core, thread, request, make_message(0));
  } else if constexpr (std::is_constructible_v<std::decay_t<result>, result>) {
    if (request.reply != 0) {
      post_reply(core, thread, request, make_reply(body()));
    } else {
      static_cast<void>(body());
    }
  } else {
    static_cast<void>(body());  // a call with such a result does not compile
  }
}

template <auto F, class T, class Tuple>
decltype(auto) call_handler(context& ctx, void* target, Tuple&& arguments) {
  using shape = traits<F>;
  return std::apply(
      [&](auto&&... argument) -> decltype(auto) {
        if constexpr (std::is_void_v<T>) {
          if constexpr (shape::takes_context) {
            return F(ctx, std::forward<decltype(argument)>(argument)...);
          } else {
            return F(std::forward<decltype(argument)>(argument)...);
          }
        } else if constexpr (is_object_lambda<std::remove_const_t<decltype(F)>>) {
          using accessed = std::conditional_t<shape::is_const, const typename shape::target, typename shape::target>;
          accessed& object = *static_cast<T*>(target);
          if constexpr (shape::takes_context) {
            return F(object, ctx, std::forward<decltype(argument)>(argument)...);
          } else {
            return F(object, std::forward<decltype(argument)>(argument)...);
          }
        } else {
          // Uses the class that F is a member of: gcc reports a call through a derived class as an aliasing error.
          typename shape::target& object = *static_cast<T*>(target);
          if constexpr (shape::takes_context) {
            return (object.*F)(ctx, std::forward<decltype(argument)>(argument)...);
          } else {
            return (object.*F)(std::forward<decltype(argument)>(argument)...);
          }
        }
      },
      std::forward<Tuple>(arguments));
}

/// `m` is the message of the arguments; a coroutine with parameters that are views into it keeps it.
template <auto F, class T, class Tuple>
void run_handler(engine& core, thread_context& thread, const message_header& request, handler_id self, message_ptr& m,
                 void* target, Tuple&& arguments) {
  constexpr bool is_task = task_value<typename traits<F>::result>::is_task;
  try {
    if constexpr (is_task) {
      static_assert(traits<F>::all_by_value,
                    "a coroutine handler takes its arguments by value: they outlive the message");
      static_assert(!over_aligned<typename traits<F>::values>,
                    "a coroutine, as a call to all objects of a group is one, keeps its arguments in memory that is "
                    "aligned to 16 bytes, and one of these needs more: send it as a std::vector");
      message_ptr* const keep = has_view<typename traits<F>::views> ? &m : nullptr;
      start_coroutine(core, thread, request, self, keep,
                      [&](context& ctx) { return call_handler<F, T>(ctx, target, std::forward<Tuple>(arguments)); });
    } else {
      static_cast<void>(m);
      context ctx(core, thread, request);
      call_and_reply(core, thread, request, [&]() -> decltype(auto) {
        return call_handler<F, T>(ctx, target, std::forward<Tuple>(arguments));
      });
    }
  } catch (...) {
    handler_failed(core, thread, request, self, handler_phase::running);
    if constexpr (is_task) coroutine_finished(core, thread, request, self);  // there is no coroutine to do it
  }
}

/// Runs `body` on the request and the arguments that a packed message holds.
template <class Views, class Run>
outcome run_packed(message_ptr& m, Run&& body) {
  auto arguments = blank<Views>();
  reader in(m->payload());
  if constexpr (has_buffer<Views>) {
    std::apply([&](auto&... argument) { (read_argument(in, argument), ...); }, arguments);
    if (!in.finish()) return outcome::malformed;
    const message_header request = m->header;
    make_buffers_owning(arguments, m);
    body(request, std::move(arguments));
  } else {
    std::apply([&](auto&... argument) { in(argument...); }, arguments);
    if (!in.finish()) return outcome::malformed;
    body(m->header, std::move(arguments));
  }
  return outcome::done;
}

template <auto F, class T>
outcome invoke(engine& core, thread_context& thread, message_ptr& m, void* target, handler_id self) {
  using shape = traits<F>;
  if constexpr (is_awaited<typename shape::result>) {
    if constexpr (is_member_handler<std::remove_const_t<decltype(F)>>) {
      return take_for_main<F>(core, thread, m, self, F);
    } else {
      static_assert(!std::is_void_v<T>,
                    "a handler that returns nacre::awaited is a member function, of a mobile object or of a group's");
      return outcome::malformed;  // it is kept, and run when it is asked for
    }
  } else {
    if (!m->packed()) {
      run_handler<F, T>(core, thread, m->header, self, m, target,
                        std::move(body_of<typename shape::values>::values(*m)));
      return outcome::done;
    }
    try {
      return run_packed<typename shape::views>(m, [&](const message_header& request, auto&& arguments) {
        run_handler<F, T>(core, thread, request, self, m, target, std::move(arguments));
      });
    } catch (...) {  // decoding the arguments threw: the handler has not begun
      if (m == nullptr) throw;
      handler_failed(core, thread, m->header, self, handler_phase::decoding);
      if constexpr (task_value<typename shape::result>::is_task) coroutine_finished(core, thread, m->header, self);
      return outcome::done;
    }
  }
}

template <auto F, class T>
typename messages_awaiter<F, T>::result messages_awaiter<F, T>::run_oldest() {
  using shape = traits<F>;
  message_ptr m = messages.pop_front();
  const message_header request = m->header;
  const auto run = [&](auto&& arguments) -> result {
    try {
      auto product = call_handler<F, T>(context_of(*this), object_of(*this), std::move(arguments));
      if constexpr (std::is_void_v<result>) {
        if (request.reply != 0) reply_to_caller(*this, request, make_message(0));
      } else {
        result value = product.take();
        if (request.reply != 0) reply_to_caller(*this, request, make_reply(result(value)));
        return value;
      }
    } catch (...) {
      if (request.reply != 0) tell_caller(*this, request);
      throw;
    }
  };
  if (!m->packed()) return run(std::move(body_of<typename shape::values>::values(*m)));
  auto arguments = blank<typename shape::views>();
  reader in(m->payload());
  try {
    std::apply([&](auto&... argument) { (read_argument(in, argument), ...); }, arguments);
  } catch (...) {
    if (request.reply != 0) tell_caller(*this, request);
    throw;
  }
  if (!in.finish()) refuse_kept_message(context_of(*this).core(), request);
  if constexpr (has_buffer<typename shape::views>) make_buffers_owning(arguments, m);
  return run(std::move(arguments));
}

template <auto F, class T>
task<typename results_of_n<typename messages_awaiter<F, T>::result>::type> await_n(next_n_request<F, T> request) {
  using results = typename results_of_n<typename messages_awaiter<F, T>::result>::type;
  if constexpr (std::is_void_v<results>) {
    while (request.count != 0) request.count = co_await next_some_request<F, T, void>{request, nullptr};
  } else {
    results all;
    all.reserve(request.count);
    while (request.count != 0) request.count = co_await next_some_request<F, T, results>{request, &all};
    co_return all;
  }
}

/// Runs `call`, which is given the context and the arguments of F, for one packed message to a colocated function.
template <class Views, class Call>
outcome invoke_colocated(engine& core, thread_context& thread, message_ptr& m, handler_id self, const Call& call) {
  try {
    return run_packed<Views>(m, [&](const message_header& request, auto&& arguments) {
      try {
        context ctx(core, thread, request);
        call_and_reply(core, thread, request, [&]() -> decltype(auto) {
          return std::apply(
              [&](auto&&... argument) -> decltype(auto) {
                return call(ctx, std::forward<decltype(argument)>(argument)...);
              },
              std::move(arguments));
        });
      } catch (...) {
        handler_failed(core, thread, request, self, handler_phase::running);
      }
    });
  } catch (...) {  // decoding the arguments threw: the function has not begun
    if (m == nullptr) throw;
    handler_failed(core, thread, m->header, self, handler_phase::decoding);
    return outcome::done;
  }
}

/// Calls F with the context or without it.
template <auto F, class... Args>
decltype(auto) call_colocated(context& ctx, Args&&... args) {
  if constexpr (free_function<std::remove_const_t<decltype(F)>>::takes_context) {
    return F(ctx, std::forward<Args>(args)...);
  } else {
    return F(std::forward<Args>(args)...);
  }
}

template <auto F, class... T, class... P>
outcome colocated_function<F, param_list<T...>, param_list<P...>>::invoke(engine& core, thread_context& thread,
                                                                          message_ptr& m, void* target,
                                                                          handler_id self) {
  void* const* const objects = static_cast<const std::span<void* const>*>(target)->data();
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return invoke_colocated<views>(core, thread, m, self, [&](context& ctx, auto&&... argument) -> decltype(auto) {
      return call_colocated<F>(ctx, *static_cast<T*>(objects[Index])..., std::forward<decltype(argument)>(argument)...);
    });
  }
  (std::index_sequence_for<T...>());
}

template <auto F, class T, class... P>
outcome colocated_list<F, T, param_list<P...>>::invoke(engine& core, thread_context& thread, message_ptr& m,
                                                       void* target, handler_id self) {
  std::vector<T*> objects;
  for (void* const each : *static_cast<const std::span<void* const>*>(target)) {
    objects.push_back(static_cast<T*>(each));
  }
  return invoke_colocated<views>(core, thread, m, self, [&](context& ctx, auto&&... argument) -> decltype(auto) {
    return call_colocated<F>(ctx, std::span<T* const>(objects), std::forward<decltype(argument)>(argument)...);
  });
}

}  // namespace nacre::detail
