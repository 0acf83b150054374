// SPDX-License-Identifier: Apache-2.0
// An intrusive queue from many producers to one consumer.
#pragma once

#include <atomic>
#include <type_traits>

#include "base/cache_line.hpp"

namespace nacre {

/// The base class of an element of mpsc_queue. A node is in at most one queue or list at a time; while it is in none,
/// its link has no meaning.
struct mpsc_node {
  std::atomic<mpsc_node*> next{nullptr};
};

/// A singly linked list of nodes taken from an mpsc_queue, oldest first. Does not own its nodes. Used by one thread.
template <class T>
class mpsc_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  /// Takes the oldest node, or nullptr.
  T* pop() noexcept {
    T* const node = first_;
    if (node == nullptr) return nullptr;
    first_ = node == last_ ? nullptr : static_cast<T*>(node->next.load(std::memory_order_relaxed));  // own thread
    return node;
  }

  void append(T* node) noexcept {
    if (first_ == nullptr) {
      first_ = node;
    } else {
      last_->next.store(node, std::memory_order_relaxed);  // own thread: no other thread sees a list
    }
    last_ = node;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

/// Unbounded first-in first-out queue. Its callers supply the nodes, and so bound their number. T derives from
/// mpsc_node. The queue does not own its nodes; the destructor leaves remaining nodes alone. Elements of one producer
/// come out in the order in which that producer pushed them.
///
/// Invariant: a producer that wakes a sleeping consumer after its push never leaves an element behind. A push that has
/// begun and not ended hides all nodes pushed after it; until it ends, pop returns nullptr and empty() returns false.
/// Its producer wakes the consumer when it has ended. Source: the queue of D. Vyukov (2010), with one exchange per push
/// and a stub node.
template <class T>
class mpsc_queue {
 public:
  mpsc_queue() noexcept : newest_(&stub_), oldest_(&stub_) {}
  mpsc_queue(const mpsc_queue&) = delete;
  mpsc_queue& operator=(const mpsc_queue&) = delete;

  /// Adds a node; any thread; wait-free.
  void push(T* node) noexcept {
    static_assert(std::is_base_of_v<mpsc_node, T>);
    link(node);
  }

  /// Takes the oldest node, or returns nullptr when there is none, or when a push that has not ended hides it.
  /// Consumer.
  T* pop() noexcept {
    mpsc_node* node = oldest_;
    mpsc_node* next = node->next.load(std::memory_order_acquire);  // pairs with the release store in link
    if (node == &stub_) {
      if (next == nullptr) return nullptr;
      oldest_ = node = next;
      next = node->next.load(std::memory_order_acquire);  // pairs with the release store in link
    }
    if (next == nullptr) {
      if (node != newest_.load(std::memory_order_acquire)) return nullptr;  // pairs with the exchange in link
      link(&stub_);                                       // the last node can leave only when another node follows it
      next = node->next.load(std::memory_order_acquire);  // pairs with the release store in link
      if (next == nullptr) return nullptr;
    }
    oldest_ = next;
    return static_cast<T*>(node);
  }

  /// Takes the nodes that are in the queue now, in order, and none that comes later, so that busy producers cannot keep
  /// the consumer in this call. May take fewer when a push has not ended. Consumer.
  mpsc_list<T> take_all() noexcept {
    mpsc_list<T> taken;
    const mpsc_node* const last = newest_.load(std::memory_order_acquire);  // pairs with the exchange in link
    while (last != &stub_ || oldest_ != &stub_) {
      T* const node = pop();
      if (node == nullptr) break;
      taken.append(node);
      if (node == last) break;
    }
    return taken;
  }

  /// False also while a push is under way. Consumer.
  [[nodiscard]] bool empty() const noexcept {
    return oldest_ == &stub_ && newest_.load(std::memory_order_acquire) == &stub_;  // pairs with the exchange in link
  }

 private:
  void link(mpsc_node* node) noexcept {
    node->next.store(nullptr, std::memory_order_relaxed);  // published by the exchange below
    // Pairs with the next producer's exchange: its store into this node's link comes after the one above.
    mpsc_node* const previous = newest_.exchange(node, std::memory_order_acq_rel);
    previous->next.store(node, std::memory_order_release);  // pairs with the acquire loads in pop
  }

  alignas(cache_line_bytes) std::atomic<mpsc_node*> newest_;  // producers
  alignas(cache_line_bytes) mpsc_node* oldest_;               // consumer
  mpsc_node stub_;
};

}  // namespace nacre
