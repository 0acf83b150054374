// SPDX-License-Identifier: Apache-2.0
// Filling, closing and running the bundles of main to its own rank.
#include "am/own_bundles.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "am/am_engine.hpp"
#include "am/bundle.hpp"

namespace nacre {

own_bundles::own_bundles(thread_context& main, const settings& how) : main_(main), how_(how) {}

bool own_bundles::belongs_in_bundle(const message& m) const noexcept {
  const bool is_short = short_[m.header.handler % short_.size()].load(std::memory_order_relaxed);  // a hint
  return is_short && m.packed() && m.header.channel == channel::application;
}

own_bundles::opened own_bundles::append(message_ptr m) {
  const bool bundled = belongs_in_bundle(*m);
  const std::size_t bytes = bundle::part_bytes(m->header.payload_bytes);
  std::uint32_t tokens = 0;
  auto result = opened::no;
  {
    const std::scoped_lock lock(busy_);
    if (bundled && open_ != nullptr && used_ + bytes <= room_) {
      add_part(*m);
      return result;
    }
    const std::uint64_t now = main_.pool().instant();
    if (open_ != nullptr) {
      if (bundled) room_ = static_cast<std::uint32_t>(std::min<std::size_t>(how_.bytes_max, std::size_t{room_} * 2));
      close(now);
      ++tokens;
    }
    if (bundled && bytes * 2 <= how_.bytes_max && now - closed_at_ <= how_.bound_ticks) {
      start_bundle(*m, now);
      result = opened::yes;
    } else {
      if (how_.window != nullptr && m->ops == nullptr) how_.window->acquire(*m);
      entries_.push_back(std::move(m));
      closed_at_ = now;
      ++tokens;
    }
  }
  hand_over(main_, tokens);
  return result;
}

void own_bundles::start_bundle(const message& first, std::uint64_t now) {
  open_ = make_message(std::max<std::size_t>(room_, bundle::part_bytes(first.header.payload_bytes)));
  message_header& header = open_->header;
  header.kind = message_kind::bundle;
  header.channel = channel::application;
  header.flags = flag_uncounted;
  header.source = first.header.source;
  header.object = bundle::uniform;
  header.epoch = 0;  // where its runner begins
  used_ = 0;
  if (how_.window != nullptr) how_.window->acquire_bundle(*open_);
  add_part(first);
  note_waiting(now);
}

void own_bundles::add_part(const message& m) {
  bundle::write_part(open_->body() + used_, m.header, m.payload());
  const std::size_t bytes = bundle::part_bytes(m.header.payload_bytes);
  used_ += static_cast<std::uint32_t>(bytes);
  if (how_.window != nullptr) how_.window->grow(bytes);
}

void own_bundles::close(std::uint64_t now) {
  open_->header.payload_bytes = used_;
  entries_.push_back(std::move(open_));
  closed_at_ = now;
  note_none_waits();
}

void own_bundles::flush(thread_context& by) {
  {
    const std::scoped_lock lock(busy_);
    if (open_ == nullptr) return;
    if (used_ < room_ / 4) room_ = std::max(room_min, room_ / 2);
    close(main_.pool().instant());
  }
  hand_over(by, 1);
}

void own_bundles::put_back(thread_context& by, message_ptr rest) {
  {
    const std::scoped_lock lock(busy_);
    rests_.push_back(std::move(rest));
  }
  hand_over(by, 1);
}

/// After the entries, so that each token finds one.
void own_bundles::hand_over(thread_context& by, std::uint32_t tokens) {
  for (; tokens != 0; --tokens) main_.pool().make_ready(by, token_);
}

void own_bundles::run_oldest(work& item, thread_context& on) {
  own_bundles& of = static_cast<token&>(item).owner;
  message_ptr m;
  {
    const std::scoped_lock lock(of.busy_);
    m = of.rests_.empty() ? of.entries_.pop_front() : of.rests_.pop_front();
  }
  on.messages().run_own(on, std::move(m));
}

}  // namespace nacre
