// SPDX-License-Identifier: Apache-2.0
// The transitions of a collective; the states stand in the header.
#include "am/collective.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

bool same(const collective_mismatch::entry& a, const collective_mismatch::entry& b) noexcept {
  return a.kind == b.kind && a.root == b.root && a.type == b.type;
}

bool has_root(collective_kind kind) noexcept {
  return kind == collective_kind::broadcast || kind == collective_kind::reduce || kind == collective_kind::gather;
}

bool is_scan(collective_kind kind) noexcept {
  return kind == collective_kind::scan || kind == collective_kind::exclusive_scan;
}

bool is_gather(collective_kind kind) noexcept {
  return kind == collective_kind::gather || kind == collective_kind::all_gather;
}

bool combines(collective_kind kind) noexcept {
  return kind == collective_kind::reduce || kind == collective_kind::all_reduce || kind >= collective_kind::array ||
         is_scan(kind);
}

const char* predicate_of(collective_kind kind) noexcept {
  constexpr const char* predicates[] = {
      "calls barrier",
      "calls broadcast",
      "calls reduce",
      "calls all_reduce",
      "calls gather",
      "calls all_gather",
      "calls scan",
      "calls exclusive_scan",
      "makes or destroys an array",
      "makes or destroys a group",
      "makes a container",
      "waits for quiescence with a kept value, or calls checkpoint",
      "has left its main",
  };
  static_assert(std::size(predicates) == static_cast<std::size_t>(collective_kind::end_of_main) + 1);
  return predicates[static_cast<std::size_t>(kind)];
}

std::string phrase(const collective_mismatch::entry& entered) {
  std::string text = "rank " + std::to_string(entered.rank.value()) + " " + predicate_of(entered.kind);
  if (has_root(entered.kind)) text += " with root " + std::to_string(entered.root.value());
  return text;
}

}  // namespace

std::string describe(const collective_mismatch& collective_mismatch) {
  std::string text = "collective number " + std::to_string(collective_mismatch.number) +
                     " is not the same on all ranks: " + phrase(collective_mismatch.one) + ", " +
                     phrase(collective_mismatch.other);
  if (collective_mismatch.one.kind == collective_mismatch.other.kind &&
      collective_mismatch.one.root == collective_mismatch.other.root)
    text += " with values of another type";
  return text +
         ". Every main makes the same collective calls in the same order, also those that need no result; making an "
         "array, a group or a container is one, and so is what a container says of itself, such as its size";
}

collective_engine::collective_engine(const options& tree)
    : self_(tree.self), size_(tree.size), first_(tree.first), next_(tree.first) {
  NACRE_EXPECT(tree.self.value() < tree.size, "a rank's number is below the number of ranks");
  NACRE_EXPECT(tree.arity >= 1 && tree.arity <= arity_max, "the arity of the tree is 1 to arity_max");
  tree_place place = place_in_tree(self_.value(), size_, tree.arity);
  parent_ = rank_id{place.parent};
  children_ = std::move(place.children);
}

std::uint32_t collective_engine::start(collective_host& host, collective_call call) {
  NACRE_EXPECT(outstanding_ < outstanding_max, "too many collectives at a time: wait for one of them first");
  NACRE_EXPECT(call.root.value() < size_, "the root of a collective is one of the ranks");
  NACRE_EXPECT(!combines(call.kind) || call.combine, "a reduction or scan needs a function that combines");
  if (!has_root(call.kind)) call.root = rank_id{0};
  if (call.kind == collective_kind::barrier || (call.kind == collective_kind::broadcast && call.root != self_)) {
    call.value.clear();
  }
  const std::uint32_t number = next_++;
  ++outstanding_;
  slot& slot = *find(number);
  if (failed_ || !agrees(host, number, slot, {self_, call.kind, call.root, call.type})) return number;
  slot.call = std::move(call);
  slot.now = state::waiting;
  advance(host, number, slot);
  return number;
}

bool collective_engine::on_message(collective_host& host, rank_id source, collective_message m) {
  if (failed_) return true;
  const bool well_formed = wire_valid(m.kind) && m.root < size_ && (m.root == 0 || has_root(m.kind)) &&
                           (m.value.empty() || m.kind != collective_kind::barrier);
  if (!well_formed) return false;
  return m.result ? take_result(host, source, m) : take_contribution(host, source, m);
}

/// The slot of a number that is open here or may become so; null for any other. Makes it when it is not there yet.
collective_engine::slot* collective_engine::find(std::uint32_t number) {
  const std::uint32_t offset = number - first_;
  if (offset >= next_ - first_ + outstanding_max) return nullptr;
  if (offset >= slots_.size()) slots_.resize(offset + 1);
  return &slots_[offset];
}

/// Compares `entered` with the first entry known of this number; reports the difference if there is one.
bool collective_engine::agrees(collective_host& host, std::uint32_t number, slot& slot,
                               const collective_mismatch::entry& entered) {
  if (!slot.known) {
    slot.known = true;
    slot.first = entered;
  }
  if (same(slot.first, entered)) return true;
  failed_ = true;
  host.mismatch({.number = number, .one = slot.first, .other = entered});
  return false;
}

bool collective_engine::take_contribution(collective_host& host, rank_id source, collective_message& m) {
  const auto child =
      std::find_if(children_.begin(), children_.end(), [&](const rank_run& r) { return r.begin == source.value(); });
  slot* slot = child != children_.end() ? find(m.number) : nullptr;
  const auto index = static_cast<std::size_t>(child - children_.begin());
  const std::uint32_t bit = std::uint32_t{1} << (index % 32);
  if (slot == nullptr || slot->now > state::waiting || (slot->arrived & bit) != 0) return false;
  if (!agrees(host, m.number, *slot, {source, m.kind, rank_id{m.root}, m.type})) return true;
  slot->arrived |= bit;
  slot->contributions.resize(children_.size());
  slot->contributions[index] = std::move(m.value);
  advance(host, m.number, *slot);
  return true;
}

bool collective_engine::take_result(collective_host& host, rank_id source, collective_message& m) {
  slot* slot = find(m.number);
  const bool expected = slot != nullptr && slot->now == state::contributed && self_.value() != 0 && source == parent_ &&
                        same(slot->first, {source, m.kind, rank_id{m.root}, m.type});
  if (!expected) return false;
  (is_scan(m.kind) ? slot->prefix : slot->call.value) = std::move(m.value);
  finish(host, m.number, *slot);
  return true;
}

/// Combines and passes up when the local call and all contributions are there.
void collective_engine::advance(collective_host& host, std::uint32_t number, slot& slot) {
  if (slot.now != state::waiting || slot.arrived != (std::uint32_t{1} << children_.size()) - 1) return;
  slot.now = state::contributed;
  collective_call& call = slot.call;
  std::vector<std::byte> up;
  if (is_scan(call.kind)) {
    if (self_.value() != 0) up = call.value;  // contribution and value are needed again on the way down
  } else if (is_gather(call.kind)) {
    detail::append_part(up, call.value);
  } else {
    up = std::move(call.value);
  }
  for (std::vector<std::byte>& each : slot.contributions) {
    if (is_gather(call.kind)) {
      up.insert(up.end(), each.begin(), each.end());
    } else if (is_scan(call.kind)) {
      if (self_.value() != 0) call.combine(up, each);
    } else if (combines(call.kind)) {
      call.combine(up, each);
    } else if (!each.empty()) {
      up = std::move(each);  // the broadcast's root is below that child
    }
  }
  if (!is_scan(call.kind)) slot.contributions.clear();
  if (self_.value() == 0) {
    if (!is_scan(call.kind)) call.value = std::move(up);
    finish(host, number, slot);
  } else {
    host.send(parent_, {.number = number,
                        .root = call.root.value(),
                        .type = call.type,
                        .kind = call.kind,
                        .result = false,
                        .value = std::move(up)});
  }
}

/// Sends the result to all children, or, if it is for one rank, only to the child on the way to it; the others get an
/// empty value, which ends the collective there.
void collective_engine::pass_down(collective_host& host, collective_message m, const slot& slot) {
  const bool for_one = slot.call.kind == collective_kind::reduce || slot.call.kind == collective_kind::gather;
  for (const rank_run& each : children_) {
    const std::uint32_t root = slot.call.root.value();
    const bool gets = !for_one || (root >= each.begin && root < each.end);
    m.value = gets ? slot.call.value : std::vector<std::byte>();
    host.send(rank_id{each.begin}, m);
  }
}

/// Sends to each child the combination of all ranks before it, and returns the own result.
std::vector<std::byte> collective_engine::pass_down_scan(collective_host& host, collective_message m, slot& slot) {
  std::vector<std::byte> sum = slot.prefix;
  if (self_.value() == 0) {
    sum = slot.call.value;
  } else {
    slot.call.combine(sum, slot.call.value);
  }
  std::vector<std::byte> own_bytes = slot.call.kind == collective_kind::scan ? sum : std::move(slot.prefix);
  for (std::size_t index = 0; index < children_.size(); ++index) {
    m.value = sum;
    host.send(rank_id{children_[index].begin}, m);
    if (index + 1 != children_.size()) slot.call.combine(sum, slot.contributions[index]);
  }
  return own_bytes;
}

/// Passes the result down, forgets the collective and tells the host.
void collective_engine::finish(collective_host& host, std::uint32_t number, slot& position) {
  slot range = std::exchange(position, {});
  position.now = state::over;
  const collective_call& call = range.call;
  const collective_message m{
      .number = number, .root = call.root.value(), .type = call.type, .kind = call.kind, .result = true, .value = {}};
  std::vector<std::byte> own_bytes;
  if (is_scan(call.kind)) {
    own_bytes = pass_down_scan(host, m, range);
  } else {
    pass_down(host, m, range);
    const bool for_one = call.kind == collective_kind::reduce || call.kind == collective_kind::gather;
    if (!for_one || call.root == self_) own_bytes = std::move(range.call.value);
  }
  --outstanding_;
  while (!slots_.empty() && slots_.front().now == state::over) {
    slots_.pop_front();
    ++first_;
  }
  host.complete(number, std::move(own_bytes));
}

namespace detail {

void append_part(std::vector<std::byte>& target, std::span<const std::byte> part) {
  const std::uint64_t length = part.size();
  const std::size_t index = target.size();
  target.resize(index + sizeof length + part.size());
  std::memcpy(target.data() + index, &length, sizeof length);
  std::copy(part.begin(), part.end(), target.begin() + static_cast<std::ptrdiff_t>(index + sizeof length));
}

std::vector<std::span<const std::byte>> parts_of(std::span<const std::byte> gathered) {
  std::vector<std::span<const std::byte>> parts;
  while (!gathered.empty()) {
    std::uint64_t length = gathered.size();
    if (gathered.size() >= sizeof length) std::memcpy(&length, gathered.data(), sizeof length);
    if (gathered.size() < sizeof length || length > gathered.size() - sizeof length) {
      throw std::runtime_error("a collective got bytes that are no gathered values");
    }
    parts.push_back(gathered.subspan(sizeof length, length));
    gathered = gathered.subspan(sizeof length + length);
  }
  return parts;
}

}  // namespace detail
}  // namespace nacre
