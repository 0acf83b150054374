// SPDX-License-Identifier: Apache-2.0
// The protocol of copies between the memories of two ranks, as one end sees it.
#include "transport/ucx/memory_copies.hpp"

#include <algorithm>

namespace nacre::transport::ucx {

std::uint32_t memory_copies::add_region(std::uint32_t to, std::span<std::byte> bytes, copy_way what) {
  do ++last_region_;
  while (regions_.contains(last_region_));
  regions_.emplace(last_region_, region{.to = to, .bytes = bytes, .what = what});
  return last_region_;
}

bool memory_copies::remove_idle_region(std::uint32_t id) {
  const auto at = regions_.find(id);
  if (at == regions_.end()) return true;
  if (at->second.now == region::state::busy) return false;
  regions_.erase(at);
  return true;
}

bool memory_copies::start(copy_id which, const direct_copy& what) {
  const auto [at, is_new] = copies_.emplace(which, active_copy{.what = what});
  if (!is_new) return false;
  if (what.way == copy_way::from_region) {
    frames_.push_back({frame_kind::take, which});
  } else {
    at->second.leaving = true;
  }
  return true;
}

std::optional<copy_id> memory_copies::find(std::uint64_t tag) const {
  const auto at =
      std::find_if(copies_.begin(), copies_.end(), [&](const auto& each) { return each.second.what.tag == tag; });
  if (at == copies_.end()) return std::nullopt;
  return at->first;
}

void memory_copies::stop(copy_id which) {
  if (!in_use(which) && copies_.at(which).what.way == copy_way::from_region) end(which, false);
}

bool memory_copies::in_use(copy_id which) const {
  const auto at = copies_.find(which);
  return at != copies_.end() && (at->second.landing || at->second.leaving);
}

memory_copies::region* memory_copies::usable(copy_id which, copy_way what) {
  const auto at = regions_.find(which.id);
  if (at == regions_.end()) return nullptr;
  region& own = at->second;
  return own.to == which.far && own.what == what && own.now == region::state::idle ? &own : nullptr;
}

void memory_copies::receive(frame_kind what, copy_id which) {
  if (what == frame_kind::take) {
    region* const own = usable(which, copy_way::from_region);
    if (own != nullptr) own->now = region::state::busy;
    frames_.push_back({own != nullptr ? frame_kind::taken : frame_kind::refused, which});
    return;
  }
  const auto at = copies_.find(which);
  if (at == copies_.end()) return;
  const bool well = what == frame_kind::landed;
  if (at->second.landing || (well && at->second.what.way == copy_way::from_region)) return;
  if (at->second.leaving) {
    at->second.answer = well;
  } else {
    end(which, well);
  }
}

std::byte* memory_copies::destination(frame_kind what, copy_id which, std::size_t byte_count) {
  if (what == frame_kind::given) {
    region* const own = usable(which, copy_way::to_region);
    if (own == nullptr || own->bytes.size() != byte_count) {
      frames_.push_back({frame_kind::refused, which});
      return nullptr;
    }
    own->now = region::state::busy;
    return own->bytes.data();
  }
  const auto at = copies_.find(which);
  if (at == copies_.end() || at->second.what.way != copy_way::from_region || at->second.landing) return nullptr;
  if (at->second.what.own.size() != byte_count) {
    end(which, false);
    return nullptr;
  }
  at->second.landing = true;
  return at->second.what.own.data();
}

void memory_copies::landed(frame_kind what, copy_id which, bool well) {
  if (what == frame_kind::taken) return end(which, well);
  region_left(which);
  if (well) frames_.push_back({frame_kind::landed, which});  // else the peer cannot be reached any more
}

/// The region is gone if `remove_region` has removed it because its peer was lost.
void memory_copies::region_left(copy_id which) {
  if (const auto at = regions_.find(which.id); at != regions_.end()) at->second.now = region::state::used;
}

void memory_copies::own_left(copy_id which, bool well) {
  active_copy& of = copies_.at(which);
  of.leaving = false;
  if (of.answer || !well) end(which, well && *of.answer);
}

std::optional<memory_copies::frame> memory_copies::next_frame() {
  if (frames_.empty()) return std::nullopt;
  frame first = frames_.front();
  frames_.pop_front();
  if (first.what != frame_kind::taken) return first;
  if (const auto at = regions_.find(first.of.id); at != regions_.end()) first.bytes = at->second.bytes;
  return first;
}

std::optional<direct_memory::ended_copy> memory_copies::take_ended() {
  if (ended_.empty()) return std::nullopt;
  const direct_memory::ended_copy first = ended_.front();
  ended_.pop_front();
  return first;
}

void memory_copies::end(copy_id which, bool well) {
  const auto at = copies_.find(which);
  ended_.push_back({.tag = at->second.what.tag, .well = well});
  copies_.erase(at);
}

}  // namespace nacre::transport::ucx
