// SPDX-License-Identifier: Apache-2.0
// An intrusive doubly linked list.
#pragma once

namespace nacre {

/// Each node has the members `next` and `previous`, of type Node*. While a node is in the list, only the list touches
/// them. The list owns no node. Not thread-safe.
template <class Node>
class linked_list {
 public:
  /// The node that was added last; null when there is none.
  [[nodiscard]] Node* front() const noexcept { return front_; }

  void push_front(Node& added) noexcept {
    added.previous = nullptr;
    added.next = front_;
    if (front_ != nullptr) front_->previous = &added;
    front_ = &added;
  }
  /// `gone` must be in this list.
  void remove(Node& gone) noexcept {
    (gone.previous == nullptr ? front_ : gone.previous->next) = gone.next;
    if (gone.next != nullptr) gone.next->previous = gone.previous;
  }

 private:
  Node* front_ = nullptr;
};

}  // namespace nacre
