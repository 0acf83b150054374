// SPDX-License-Identifier: Apache-2.0
// An intrusive doubly linked list.
#pragma once

namespace nacre {

/// Each node has the members `next` and `previous`, of type Node*. While a node is in the list, only the list touches
/// them. The list owns no node. Not thread-safe.
template <class Node>
class linked_list {
 public:
  /// The first node; null when there is none.
  [[nodiscard]] Node* front() const noexcept { return front_; }
  [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }

  void push_front(Node& added) noexcept {
    added.previous = nullptr;
    added.next = front_;
    (front_ == nullptr ? back_ : front_->previous) = &added;
    front_ = &added;
  }
  void push_back(Node& added) noexcept {
    added.previous = back_;
    added.next = nullptr;
    (back_ == nullptr ? front_ : back_->next) = &added;
    back_ = &added;
  }
  /// `gone` must be in this list.
  void remove(Node& gone) noexcept {
    (gone.previous == nullptr ? front_ : gone.previous->next) = gone.next;
    (gone.next == nullptr ? back_ : gone.next->previous) = gone.previous;
  }

 private:
  Node* front_ = nullptr;
  Node* back_ = nullptr;
};

}  // namespace nacre
