// SPDX-License-Identifier: Apache-2.0
// Messages that an object keeps until a coroutine handler of the object asks for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <nacre/message.hpp>
#include <nacre/next.hpp>

namespace nacre {

/// The messages that wait in an object to end it, or to end the element of a place. The activation counts them when
/// they are first asked for.
class waiting_endings {
 public:
  [[nodiscard]] bool counted() const noexcept { return counted_; }
  void begin_count() noexcept {
    sources_.clear();
    of_array_ = 0;
    counted_ = true;
  }
  void forget() noexcept { counted_ = false; }
  /// Whether a message is an ending. An insertion is none: it fails if the place has an element.
  [[nodiscard]] static bool is_one(const message_header& header) noexcept {
    return header.kind == message_kind::destroy || ends_array(header);
  }
  /// Counts a waiting message if it is an ending.
  void note_waits(const message_header& header) {
    if (header.kind == message_kind::destroy) sources_.push_back(header.source);
    if (ends_array(header)) ++of_array_;
  }
  void note_ran(const message_header& header) noexcept {
    if (!counted_) return;
    if (ends_array(header)) --of_array_;
    const auto match = std::find(sources_.begin(), sources_.end(), header.source);
    if (header.kind == message_kind::destroy && match != sources_.end()) sources_.erase(match);
  }
  [[nodiscard]] bool any() const noexcept { return of_array_ != 0 || !sources_.empty(); }
  /// Whether a message of this rank that comes now is behind such an ending. The end of an array comes to a place in
  /// the stream of its home, which has nothing to do with what elements there send.
  [[nodiscard]] bool any_of(std::uint32_t source) const noexcept {
    return std::find(sources_.begin(), sources_.end(), source) != sources_.end();
  }

 private:
  [[nodiscard]] static bool ends_array(const message_header& header) noexcept {
    return header.kind == message_kind::everyone && header.handler == 0;
  }
  std::vector<std::uint32_t> sources_;  // a rank for each ending, hardly ever more than one
  std::size_t of_array_ = 0;
  bool counted_ = false;
};

/// Keeps messages by handler and tag, each list in the order in which they came, and knows the coroutine that waits.
///
/// | coroutine | a message comes that it waits for | another one comes | the coroutine asks | it is to give up |
/// |---|---|---|---|---|
/// | none waits | - | kept | gets the oldest, and waits unless it is ready | - |
/// | waits | given to it: it goes on when it is ready | kept | - | goes on without a message |
///
/// Belongs to the holder of the object's activation. A coroutine that waits here has given the activation back, though
/// it keeps its access to the object: activations meanwhile only admit messages. The activation that makes
/// it ready hands the activation to it.
class kept_messages {
 public:
  /// The endings that wait. A message behind an ending in its own stream is for the next element, so it is not kept
  /// here.
  waiting_endings endings;
  bool held_up = false;  ///< message_waits knows that an ending waits for the coroutine; the activation

  /// True: the waiting coroutine has got it and goes on.
  [[nodiscard]] bool keep(message_ptr m, std::uint64_t tag) {
    const std::uint32_t handler = m->header.handler;
    if (waiter_ != nullptr && waiter_->waits() && waiter_->handler == handler && waiter_->tag == tag) {
      waiter_->take(std::move(m));
      return waiter_->ready;
    }
    list_of(handler, tag).push_back(std::move(m));
    ++count_;
    return false;
  }
  /// Gives the oldest ones to `waiter`, which is ready then or must wait.
  void take(detail::message_waiter& waiter) {
    const auto match = lists_.find({waiter.handler, waiter.tag});
    if (match == lists_.end()) return;
    for (; !waiter.ready && !match->second.empty(); --count_) waiter.take(match->second.pop_front());
    if (match->second.empty()) spare_ = lists_.extract(match);
  }
  /// Keeps what `waiter` has and does not need, before what has come since.
  void keep_again(detail::message_waiter& waiter) {
    if (waiter.messages.empty()) return;
    message_list& list = list_of(waiter.handler, waiter.tag);
    count_ += waiter.messages.size();
    waiter.messages.append(list);
    list = std::move(waiter.messages);
  }
  void wait(detail::message_waiter& waiter) noexcept { waiter_ = &waiter; }
  /// The coroutine that waits; null: none.
  [[nodiscard]] const detail::message_waiter* waiter() const noexcept { return waiter_; }
  /// The coroutine that waits, if any, gets no message, and leaves those that it has.
  void give_up() {
    if (waiter_ == nullptr || !waiter_->waits()) return;
    keep_again(*waiter_);
    waiter_->given_up = true;
  }
  /// Takes the coroutine out if it has got its messages, or gives up; else null.
  [[nodiscard]] detail::message_waiter* take_ready() noexcept {
    return waiter_ == nullptr || waiter_->waits() ? nullptr : std::exchange(waiter_, nullptr);
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
      for (message* m = list.front(); m != nullptr; m = m->next) visit(*m);
    }
  }

 private:
  using lists = std::map<std::pair<std::uint32_t, std::uint64_t>, message_list>;  // by handler and tag

  /// Steps come and go: the memory of the last list that became empty serves the next one.
  [[nodiscard]] message_list& list_of(std::uint32_t handler, std::uint64_t tag) {
    const lists::key_type key{handler, tag};
    if (spare_.empty()) return lists_[key];
    const auto next = lists_.lower_bound(key);
    if (next != lists_.end() && next->first == key) return next->second;
    spare_.key() = key;
    return lists_.insert(next, std::move(spare_))->second;
  }

  lists lists_;  // none is empty
  lists::node_type spare_;
  std::size_t count_ = 0;
  detail::message_waiter* waiter_ = nullptr;
};

}  // namespace nacre
