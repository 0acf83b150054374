// SPDX-License-Identifier: Apache-2.0
// The poll loop and outboxes.
#include "backplane/backplane.hpp"

#include <algorithm>
#include <thread>

#include <nacre/assert.hpp>

#include "base/marks.hpp"

namespace nacre {

backplane::backplane(std::unique_ptr<transport::endpoint> link, clock& time, const settings& bounds)
    : link_(std::move(link)),
      time_(time),
      rank_(link_->rank()),
      size_(link_->size()),
      declared_(link_->declared()),
      messages_a_poll_(bounds.messages_a_poll),
      duties_(time),
      congestion_(bounds.send_bytes),
      due_(window_bytes_of(bounds.receive_bytes, size_)),
      peers_(window_bytes_of(bounds.receive_bytes, size_), due_) {}

backplane::backplane(std::unique_ptr<transport::endpoint> link, clock& time)
    : backplane(std::move(link), time, settings{}) {}

backplane::~backplane() = default;

void backplane::send(const thread_context* thread, rank_id target, message_ptr m) {
  NACRE_EXPECT(target.value() < size_, "a message to a rank that does not exist");
  if (m->packed() && m->ops != nullptr && !declared_.by_pointer) {  // it is forwarded, and holds credit until here
    m->ops->destroy(*m);
    credit_account::let_go(*m);
  }
  if (target == rank_ && !declared_.virtual_time) return send_to_self(std::move(m));
  if (declared_.concurrent_submit) {
    message_list single;
    single.push_back(std::move(m));
    link_->submit(target, single);
    NACRE_ENSURE(single.empty(), "a transport that any thread may submit to takes everything; see its contract");
    return;
  }
  // relaxed: equal only if this thread has stored it
  if (thread != nullptr && holder_.load(std::memory_order_relaxed) == thread) return pass(target, std::move(m));
  if (declared_.virtual_time) {  // it leaves now, at the sender's time
    pass(target, std::move(m));
    flush();
    return;
  }
  if (!poll_lock_.try_lock()) {
    outbox& box = peers_.box(target, m->header.channel);
    put(box, std::move(m));
    link_->wake();
    return;
  }
  pass(target, std::move(m));
  flush();
  poll_lock_.unlock();
  if (listed_.load(std::memory_order_relaxed) != nullptr)
    link_->wake();  // put there by this thread, or by one that wakes
}

/// Sends past the outbox when nothing is in it, else through it. A message that needs no credit and finds room makes no
/// outbox. Under poll_lock_; the caller flushes later.
void backplane::pass(rank_id target, message_ptr m) {
  const channel via = m->header.channel;
  const bool spends = needs_credit(m->header) && !declared_.by_pointer;
  outbox* const box = spends ? &peers_.box(target, via) : peers_.find_box(target, via);
  if (box != nullptr && !box->clear.load(std::memory_order_relaxed)) return put(*box, std::move(m));  // see outbox
  if (spends) {
    const std::uint64_t cost = due_.prices.cost_of(m->header);
    if (!box->window.admits(cost)) return put(*box, std::move(m));
    box->window.spend(cost);
  }
  message_list single;
  single.push_back(std::move(m));
  link_->submit(target, single);
  if (single.empty()) return;
  outbox& rest = peers_.box(target, via);
  rest.leaving.append(single);
  const std::scoped_lock lock(rest.mutex);
  rest.clear.store(false, std::memory_order_relaxed);  // see outbox
  if (!rest.listed) list(rest);
}

void backplane::put(outbox& box, message_ptr m) {
  const std::scoped_lock lock(box.mutex);
  congestion_.note_waiting(bytes_of(m->header));
  box.waiting.push_back(std::move(m));
  box.clear.store(false, std::memory_order_relaxed);  // see outbox
  if (!box.listed) list(box);
}

void backplane::send_to_self(message_ptr m) {
  {
    const std::scoped_lock lock(own_mutex_);
    own_messages_.push_back(std::move(m));
    own_waiting_.store(true, std::memory_order_relaxed);  // a hint: the next poll sees it if this one misses it
  }
  link_->wake();
}

/// Under the box's mutex.
void backplane::list(outbox& box) noexcept {
  box.listed = true;
  outbox* head = listed_.load(std::memory_order_relaxed);
  do {
    box.next = head;
  } while (!listed_.compare_exchange_weak(head, &box, std::memory_order_release, std::memory_order_relaxed));  // flush
}

bool backplane::flush_listed() {
  bool moved = false;
  // The second pass sends the requests for credit that the first one has made. Threads leave the rest to the next poll.
  for (int pass = 0; pass < 2 || declared_.virtual_time; ++pass) {
    if (listed_.load(std::memory_order_relaxed) != nullptr) {              // as in flush
      outbox* box = listed_.exchange(nullptr, std::memory_order_acquire);  // pairs with list
      for (; box != nullptr; box = box->next) sending_[static_cast<std::size_t>(box->via)].push_back(box);
    } else if (pass != 0) {
      break;
    }
    for (std::vector<outbox*>& boxes : sending_) {
      if (boxes.empty()) continue;
      std::erase_if(boxes, [&](outbox* box) {
        bool blocked = false;
        moved |= flush_one(*box, blocked);
        return !blocked;
      });
    }
  }
  blocked_ = std::any_of(sending_.begin(), sending_.end(), [](const auto& boxes) { return !boxes.empty(); });
  return moved;
}

/// Sends as much as credit and link admit. `blocked`: the link is full, and the next poll tries again. The grant lists
/// a box again that waits for credit.
bool backplane::flush_one(outbox& box, bool& blocked) {
  bool moved = false;
  for (;;) {
    if (box.leaving.empty()) {
      bool ask = false;
      std::uint64_t spent = 0;
      {
        const std::scoped_lock lock(box.mutex);
        admit(box);
        if (box.leaving.empty()) {
          box.listed = false;
          box.clear.store(box.waiting.empty(), std::memory_order_relaxed);  // see outbox
          ask = !box.waiting.empty() && !box.asked;
          box.asked |= ask;
          spent = box.window.total();
        }
      }
      if (ask) {
        NACRE_MARK("a message waits for credit");
        send_credit(box.peer, box.via, spent, true);
      }
      if (box.leaving.empty()) return moved;
    }
    const std::size_t previous = box.leaving.size();
    link_->submit(box.peer, box.leaving);
    moved |= box.leaving.size() < previous;
    blocked = !box.leaving.empty();
    if (blocked) return moved;
  }
}

/// Moves the messages that the window admits from `waiting` to `leaving`. Under the box's mutex.
void backplane::admit(outbox& box) {
  std::uint64_t admitted = 0;
  while (!box.waiting.empty()) {
    const message_header& next = box.waiting.front()->header;
    if (needs_credit(next) && !declared_.by_pointer) {
      NACRE_EXPECT(next.source == rank_.value(),
                   "a message is forwarded with a hop more; its sender cannot be granted");
      const std::uint64_t cost = due_.prices.cost_of(next);
      if (!box.window.admits(cost)) break;
      box.window.spend(cost);
    }
    admitted += bytes_of(next);
    box.leaving.push_back(box.waiting.pop_front());
  }
  if (admitted == 0) return;
  congestion_.note_left(admitted);
}

void backplane::take_own(message_list& arrived) {
  if (!own_waiting_.load(std::memory_order_relaxed)) return;  // a hint: the next poll sees it if this one misses it
  const std::scoped_lock lock(own_mutex_);
  own_waiting_.store(false, std::memory_order_relaxed);
  arrived.append(own_messages_);
}

bool backplane::progress(thread_context& thread, bool thorough) {
  if (!poll_lock_.try_lock()) {
    refused_.exchange(true, std::memory_order_acq_rel);  // pairs with the exchange of the next poll
    try {
      sink_->flush(thread);
    } catch (...) {
      sink_->escaped(thread);
    }
    return false;
  }
  holder_.store(&thread, std::memory_order_relaxed);  // a thread compares it with its own context only
  polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // for hints
  if (refused_.load(std::memory_order_relaxed)) {         // a miss leaves it to the next poll
    refused_.exchange(false, std::memory_order_acq_rel);  // so this poll sees all that woke the refused threads
  }
  bool moved = false;
  try {
    moved = move_messages(thread, thorough);
  } catch (...) {
    sink_->escaped(thread);
  }
  holder_.store(nullptr, std::memory_order_relaxed);
  poll_lock_.unlock();
  return moved;
}

/// One poll, under poll_lock_.
bool backplane::move_messages(thread_context& thread, bool thorough) {
  sink_->flush(thread);
  bool moved = flush();
  message_list arrived;
  moved |= link_->poll(arrived, messages_a_poll_);
  if (!declared_.by_pointer && !arrived.empty()) account_for(arrived);
  take_own(arrived);
  if (!arrived.empty()) {
    moved = true;
    sink_->deliver(thread, arrived);
    sink_->flush(thread);
  }
  if (!due_.empty() || !asked_.empty()) moved |= grant_credits();
  flush();
  if (moved || thorough) duties_.take(thread);
  if (!thorough) return moved;
  if (declared_.separate_processes) {
    while (const auto failure = link_->failed()) sink_->peer_failed(*failure);
  }
  moved |= duties_.run_timers(thread);
  duties_.run_hooks(thread, congested() ? congestion_.check(time_.now()) : std::chrono::nanoseconds::max());
  return moved;
}

void backplane::wait(std::chrono::nanoseconds timeout, std::chrono::nanoseconds least) {
  waits_.store(waits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // for hints
  // The poll that refused a thread may be past its look at the message that woke it, and the polling thread may sleep
  // next.
  if (refused_.load(std::memory_order_relaxed)) {  // cleared only by a poll that sees all that came before the refusal
    std::this_thread::yield();
    return;
  }
  const auto now = time_.now();
  timeout = std::min({timeout, std::max(duties_.ticks_due() - now, least), duties_.timers().due() - now});
  if (timeout > std::chrono::nanoseconds::zero()) link_->wait(timeout);
}

void backplane::close(std::chrono::nanoseconds timeout) {
  flush();
  link_->close(timeout);
}

}  // namespace nacre
