// SPDX-License-Identifier: Apache-2.0
// The transitions of a collective; the states stand in the header.
#include "am/collective.hpp"

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

bool same(const collective_mismatch::entry& a, const collective_mismatch::entry& b) noexcept {
  return a.kind == b.kind && a.root == b.root;
}

std::string phrase(const collective_mismatch::entry& entered) {
  std::string text = "rank " + std::to_string(entered.rank.value()) + " calls ";
  switch (entered.kind) {
    case collective_kind::barrier:
      return text + "barrier";
    case collective_kind::broadcast:
      return text + "broadcast with root " + std::to_string(entered.root.value());
    case collective_kind::all_reduce:
      return text + "all_reduce";
  }
  return text;
}

}  // namespace

std::string describe(const collective_mismatch& what) {
  return "collective number " + std::to_string(what.number) + " is not the same on all ranks: " + phrase(what.one) +
         ", " + phrase(what.other);
}

collective_engine::collective_engine(const options& tree) : self_(tree.self), size_(tree.size), arity_(tree.arity) {
  NACRE_EXPECT(tree.self.value() < tree.size, "a rank's number is below the number of ranks");
  NACRE_EXPECT(tree.arity >= 1 && tree.arity <= arity_max, "the arity of the tree is 1 to arity_max");
  const std::uint64_t first = std::uint64_t{self_.value()} * arity_ + 1;
  children_ = first < size_ ? static_cast<std::uint32_t>(std::min<std::uint64_t>(size_ - first, arity_)) : 0;
}

std::uint32_t collective_engine::start(collective_host& host, collective_call call) {
  NACRE_EXPECT(outstanding_ < outstanding_max, "too many collectives at a time: wait for one of them first");
  NACRE_EXPECT(call.root.value() < size_, "a broadcast's root is one of the ranks");
  NACRE_EXPECT(call.kind != collective_kind::all_reduce || call.combine, "all_reduce needs a function that combines");
  if (call.kind != collective_kind::broadcast) call.root = rank_id{0};
  if (call.kind == collective_kind::barrier || (call.kind == collective_kind::broadcast && call.root != self_)) {
    call.value.clear();
  }
  const std::uint32_t number = next_++;
  ++outstanding_;
  slot& at = *find(number);
  if (failed_ || !agrees(host, number, at, {self_, call.kind, call.root})) return number;
  at.call = std::move(call);
  at.now = state::waiting;
  advance(host, number, at);
  return number;
}

bool collective_engine::on_message(collective_host& host, rank_id from, collective_message m) {
  if (failed_) return true;
  const bool well_formed = wire_valid(m.kind) && m.root < size_ &&
                           (m.root == 0 || m.kind == collective_kind::broadcast) &&
                           (m.value.empty() || m.kind != collective_kind::barrier);
  if (!well_formed) return false;
  return m.result ? take_result(host, from, m) : take_contribution(host, from, m);
}

/// The slot of a number that is open here or may become so; null for any other. Makes it when it is not there yet.
collective_engine::slot* collective_engine::find(std::uint32_t number) {
  const std::uint32_t offset = number - first_;
  if (offset >= next_ - first_ + outstanding_max) return nullptr;
  if (offset >= slots_.size()) slots_.resize(offset + 1);
  return &slots_[offset];
}

/// Compares with what is known of this number already; reports the difference if there is one.
bool collective_engine::agrees(collective_host& host, std::uint32_t number, slot& at,
                               const collective_mismatch::entry& entered) {
  if (!at.known) {
    at.known = true;
    at.first = entered;
  }
  if (same(at.first, entered)) return true;
  failed_ = true;
  host.mismatch({.number = number, .one = at.first, .other = entered});
  return false;
}

bool collective_engine::take_contribution(collective_host& host, rank_id from, collective_message& m) {
  const std::uint32_t index = from.value() - child(0).value();
  slot* at = index < children_ ? find(m.number) : nullptr;
  const std::uint32_t bit = std::uint32_t{1} << (index % 32);
  if (at == nullptr || at->now > state::waiting || (at->arrived & bit) != 0) return false;
  if (!agrees(host, m.number, *at, {from, m.kind, rank_id{m.root}})) return true;
  at->arrived |= bit;
  at->contributions.resize(children_);
  at->contributions[index] = std::move(m.value);
  advance(host, m.number, *at);
  return true;
}

bool collective_engine::take_result(collective_host& host, rank_id from, collective_message& m) {
  slot* at = find(m.number);
  const bool expected = at != nullptr && at->now == state::contributed && self_.value() != 0 && from == parent() &&
                        same(at->first, {from, m.kind, rank_id{m.root}});
  if (!expected) return false;
  at->call.value = std::move(m.value);
  finish(host, m.number, *at);
  return true;
}

/// Combines and passes up when the local call and all contributions are there.
void collective_engine::advance(collective_host& host, std::uint32_t number, slot& at) {
  if (at.now != state::waiting || at.arrived != (std::uint32_t{1} << children_) - 1) return;
  at.now = state::contributed;
  collective_call& call = at.call;
  for (std::vector<std::byte>& each : at.contributions) {
    if (call.kind == collective_kind::all_reduce) {
      call.combine(call.value, each);
    } else if (!each.empty()) {
      call.value = std::move(each);  // the broadcast's root is below that child
    }
  }
  at.contributions.clear();
  if (self_.value() == 0) {
    finish(host, number, at);
  } else {
    host.send(parent(), {.number = number,
                         .root = call.root.value(),
                         .kind = call.kind,
                         .result = false,
                         .value = std::move(call.value)});
  }
}

/// Passes the result down, forgets the collective and tells the host.
void collective_engine::finish(collective_host& host, std::uint32_t number, slot& at) {
  collective_call call = std::exchange(at.call, {});
  at.now = state::over;
  for (std::uint32_t index = 0; index < children_; ++index) {
    host.send(child(index),
              {.number = number, .root = call.root.value(), .kind = call.kind, .result = true, .value = call.value});
  }
  --outstanding_;
  while (!slots_.empty() && slots_.front().now == state::over) {
    slots_.pop_front();
    ++first_;
  }
  host.complete(number, std::move(call.value));
}

}  // namespace nacre
