// SPDX-License-Identifier: Apache-2.0
// Receipts for messages to all elements and to sections, by which a main that floods arrays is made to wait.
#include "mobile/elements/broadcast_receipts.hpp"

#include <string>

namespace nacre {

class broadcast_receipts::copies : public body_ops {
 public:
  explicit copies(std::shared_ptr<outbox> box) noexcept
      : body_ops{nullptr, nullptr, &end_of, true}, box_(std::move(box)) {}

  void add() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }  // the caller has a share
  void remove() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // the last thread sees `receipt`
    const std::shared_ptr<outbox> box = box_;
    box->push(*this);
  }

  rank_id sender{0};
  std::uint64_t receipt = 0;  ///< to be sent; 0 until a message has asked for one
  copies* next = nullptr;     ///< in the outbox

 private:
  static void end_of(message& m) noexcept {
    const_cast<copies&>(static_cast<const copies&>(*m.ops)).remove();  // messages name their operations as constant
  }
  std::atomic<std::uint64_t> left_{1};
  const std::shared_ptr<outbox> box_;
};

broadcast_receipts::copies_share::copies_share(copies& counted) noexcept : counted_(&counted) { counted.add(); }

broadcast_receipts::copies_share::~copies_share() {
  if (counted_ != nullptr) counted_->remove();
}

void broadcast_receipts::copies_share::count(message& m) const noexcept {
  if (counted_ == nullptr) return;
  counted_->add();
  m.ops = counted_;
}

broadcast_receipts::broadcast_receipts(am_engine& messages)
    : messages_(messages), box_(std::make_shared<outbox>(messages)) {
  messages_.attach_module(*this);
}

broadcast_receipts::~broadcast_receipts() {
  for (const auto& [sender, open] : of_sections_) {
    if (open != nullptr) open->remove();
  }
  copies* due = nullptr;
  {
    const std::scoped_lock lock(box_->mutex);
    box_->owner = nullptr;
    due = std::exchange(box_->first, nullptr);
  }
  while (due != nullptr) delete std::exchange(due, due->next);
}

void broadcast_receipts::outbox::push(copies& done) noexcept {
  const std::scoped_lock lock(mutex);
  if (owner == nullptr) {
    delete &done;
    return;
  }
  done.next = std::exchange(first, &done);
  any.store(true, std::memory_order_relaxed);  // the wake-up orders it
  owner->wake_poll_loop();
}

std::uint64_t broadcast_receipts::take(const thread_context& thread, target kind, std::uint64_t number,
                                       std::uint64_t bytes) {
  main_send_window* const window = thread.window();
  if (window == nullptr) return 0;
  constexpr std::uint64_t parts_of_window = 8;  // so many receipts are under way when main waits
  const std::scoped_lock lock(mutex_);
  unasked& of_window = unasked_[window];
  main_send_window::room& room = of_window.rooms[{kind, number}];
  room.add(window->take(bytes));
  of_window.bytes += bytes;
  if (of_window.bytes < window->bytes_max() / parts_of_window) return 0;
  of_window.bytes -= room.bytes();
  const std::uint64_t receipt = awaited_.open({.left = 1, .held = std::move(room)});
  of_window.rooms.erase({kind, number});
  return receipt;
}

void broadcast_receipts::forget_array(std::uint64_t first) {
  const std::scoped_lock lock(mutex_);
  for (auto& [window, of_window] : unasked_) {
    const auto match = of_window.rooms.find({target::array, first});
    if (match == of_window.rooms.end()) continue;
    of_window.bytes -= match->second.bytes();
    of_window.rooms.erase(match);
  }
}

std::uint64_t broadcast_receipts::open(rank_id sender, std::uint64_t receipt, std::uint32_t count) {
  const std::scoped_lock lock(mutex_);
  return awaited_.open({.left = count, .sender = sender.value(), .receipt = receipt});
}

broadcast_receipts::copies_share broadcast_receipts::count_copies(std::uint64_t receipt) {
  auto* const counted = new copies(box_);
  counted->sender = messages_.rank();
  counted->receipt = receipt;
  copies_share share(*counted);
  counted->remove();
  return share;
}

broadcast_receipts::copies_share broadcast_receipts::count_section(rank_id sender, std::uint64_t receipt) {
  copies*& open = of_sections_[sender.value()];
  if (open == nullptr) open = new copies(box_);
  copies_share share(*open);
  if (receipt == 0) return share;
  open->sender = sender;
  open->receipt = receipt;
  std::exchange(open, nullptr)->remove();
  return share;
}

void broadcast_receipts::send(thread_context& thread, rank_id sender, std::uint64_t receipt) {
  if (receipt == 0) return;
  if (sender != messages_.rank()) {
    return messages_.post_to_module<&broadcast_receipts::on_receipt>(thread, sender, receipt);
  }
  if (!count_down(thread, receipt)) messages_.fail("a receipt for a message to an array that nobody waits for");
}

void broadcast_receipts::on_receipt(context& ctx, std::uint64_t receipt) {
  if (count_down(detail::thread_of(ctx), receipt)) return;
  messages_.fail("rank " + std::to_string(ctx.source().value()) + " sent a receipt that nobody waits for");
}

void broadcast_receipts::send_due(thread_context& thread) {
  copies* due = nullptr;
  {
    const std::scoped_lock lock(box_->mutex);
    box_->any.store(false, std::memory_order_relaxed);  // the mutex orders it
    due = std::exchange(box_->first, nullptr);
  }
  while (due != nullptr) {
    const std::unique_ptr<copies> done(std::exchange(due, due->next));
    send(thread, done->sender, done->receipt);
  }
}

/// One of the receipts has come that a receipt of this rank needs. False: there is no such receipt.
bool broadcast_receipts::count_down(thread_context& thread, std::uint64_t receipt) {
  awaited done;
  {
    const std::scoped_lock lock(mutex_);
    awaited* const match = awaited_.find(receipt);
    if (match == nullptr) return false;
    if (--match->left != 0) return true;
    done = std::move(*match);
    awaited_.close(receipt);
  }
  send(thread, rank_id(done.sender), done.receipt);
  return true;
}

}  // namespace nacre
