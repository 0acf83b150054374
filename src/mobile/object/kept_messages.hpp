// SPDX-License-Identifier: Apache-2.0
// Messages that an object keeps until a coroutine handler of the object asks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <nacre/message.hpp>
#include <nacre/next.hpp>

namespace nacre {

/// Keeps messages by handler and tag, each list in the order in which they came, and knows the coroutine that waits.
///
/// | coroutine | a message comes that it waits for | another one comes | the coroutine asks |
/// |---|---|---|---|
/// | none waits | - | kept | gets the oldest, or waits |
/// | waits | given to it: it goes on | kept | - |
///
/// Belongs to the holder of the object's activation. A coroutine that waits here has given the activation back, though
/// it keeps its access to the object: activations meanwhile only admit messages. The activation that has its message
/// hands the activation to it.
class kept_messages {
 public:
  /// Messages that wait in the object behind which it ends, or gets another element: those that come behind are for
  /// the time after. Counted by the activation.
  std::size_t endings = 0;

  /// True: the waiting coroutine has got it and must go on.
  [[nodiscard]] bool keep(message_ptr m, std::uint64_t tag) {
    if (waiter_ != nullptr && waiter_->message == nullptr && waiter_->handler == m->header.handler &&
        waiter_->tag == tag) {
      waiter_->message = std::move(m);
      return true;
    }
    lists_[{m->header.handler, tag}].push_back(std::move(m));
    ++count_;
    return false;
  }
  /// The oldest one; null when there is none.
  [[nodiscard]] message_ptr take(std::uint32_t handler, std::uint64_t tag) {
    const auto found = lists_.find({handler, tag});
    if (found == lists_.end()) return nullptr;
    message_ptr m = found->second.pop_front();
    if (found->second.empty()) lists_.erase(found);
    --count_;
    return m;
  }
  void wait(detail::message_waiter& by) noexcept { waiter_ = &by; }
  /// The coroutine that waits; null: none.
  [[nodiscard]] const detail::message_waiter* waiter() const noexcept { return waiter_; }
  /// Takes the coroutine out if it has got its message; else null.
  [[nodiscard]] detail::message_waiter* take_ready() noexcept {
    if (waiter_ == nullptr || waiter_->message == nullptr) return nullptr;
    return std::exchange(waiter_, nullptr);
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Takes all of them, list by list.
  [[nodiscard]] message_list take_all() noexcept {
    message_list all;
    for (auto& [key, list] : lists_) all.append(list);
    lists_.clear();
    count_ = 0;
    return all;
  }
  template <class Change>
  void replace(Change change) {
    for (auto& [key, list] : lists_) {
      message_list done;
      while (message_ptr m = list.pop_front()) done.push_back(change(std::move(m)));
      list = std::move(done);
    }
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, list] : lists_) {
      for (const message* m = list.front(); m != nullptr; m = m->next) visit(*m);
    }
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, message_list> lists_;  // by handler and tag; none is empty
  std::size_t count_ = 0;
  detail::message_waiter* waiter_ = nullptr;
};

}  // namespace nacre
