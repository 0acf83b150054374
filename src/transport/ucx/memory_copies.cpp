// SPDX-License-Identifier: Apache-2.0
// The protocol of copies between the memories of two ranks, as one end sees it.
#include "transport/ucx/memory_copies.hpp"

#include <algorithm>

namespace nacre::transport::ucx {

std::uint32_t memory_copies::add_region(std::uint32_t target, std::span<std::byte> bytes, copy_way way) {
  do ++last_region_;
  while (regions_.contains(last_region_));
  regions_.emplace(last_region_, region{.peer = target, .bytes = bytes, .way = way});
  return last_region_;
}

bool memory_copies::remove_idle_region(std::uint32_t id) {
  const auto position = regions_.find(id);
  if (position == regions_.end()) return true;
  if (position->second.now == region::state::busy) return false;
  regions_.erase(position);
  return true;
}

bool memory_copies::start(copy_id id, const direct_copy& copy) {
  const auto [entry, is_new] = copies_.emplace(id, active_copy{.copy = copy});
  if (!is_new) return false;
  if (copy.way == copy_way::from_region) {
    frames_.push_back({frame_kind::take, id});
  } else {
    entry->second.leaving = true;
  }
  return true;
}

std::optional<copy_id> memory_copies::find(std::uint64_t tag) const {
  const auto position =
      std::find_if(copies_.begin(), copies_.end(), [&](const auto& each) { return each.second.copy.tag == tag; });
  if (position == copies_.end()) return std::nullopt;
  return position->first;
}

void memory_copies::stop(copy_id id) {
  if (!in_use(id) && copies_.at(id).copy.way == copy_way::from_region) end(id, false);
}

bool memory_copies::in_use(copy_id id) const {
  const auto position = copies_.find(id);
  return position != copies_.end() && (position->second.landing || position->second.leaving);
}

memory_copies::region* memory_copies::usable(copy_id id, copy_way way) {
  const auto position = regions_.find(id.id);
  if (position == regions_.end()) return nullptr;
  region& region = position->second;
  return region.peer == id.far && region.way == way && region.now == region::state::idle ? &region : nullptr;
}

void memory_copies::receive(frame_kind kind, copy_id id) {
  if (kind == frame_kind::take) {
    region* const region = usable(id, copy_way::from_region);
    if (region != nullptr) region->now = region::state::busy;
    frames_.push_back({region != nullptr ? frame_kind::taken : frame_kind::refused, id});
    return;
  }
  const auto position = copies_.find(id);
  if (position == copies_.end()) return;
  const bool well = kind == frame_kind::landed;
  if (position->second.landing || (well && position->second.copy.way == copy_way::from_region)) return;
  if (position->second.leaving) {
    position->second.answer = well;
  } else {
    end(id, well);
  }
}

std::byte* memory_copies::destination(frame_kind kind, copy_id id, std::size_t byte_count) {
  if (kind == frame_kind::given) {
    region* const region = usable(id, copy_way::to_region);
    if (region == nullptr || region->bytes.size() != byte_count) {
      frames_.push_back({frame_kind::refused, id});
      return nullptr;
    }
    region->now = region::state::busy;
    return region->bytes.data();
  }
  const auto position = copies_.find(id);
  if (position == copies_.end() || position->second.copy.way != copy_way::from_region || position->second.landing)
    return nullptr;
  if (position->second.copy.local_memory.size() != byte_count) {
    end(id, false);
    return nullptr;
  }
  position->second.landing = true;
  return position->second.copy.local_memory.data();
}

void memory_copies::landed(frame_kind kind, copy_id id, bool well) {
  if (kind == frame_kind::taken) return end(id, well);
  region_left(id);
  if (well) frames_.push_back({frame_kind::landed, id});  // else the peer cannot be reached any more
}

/// The region is gone if `remove_region` has removed it because its peer was lost.
void memory_copies::region_left(copy_id id) {
  if (const auto position = regions_.find(id.id); position != regions_.end())
    position->second.now = region::state::used;
}

void memory_copies::own_left(copy_id id, bool well) {
  active_copy& copy = copies_.at(id);
  copy.leaving = false;
  if (copy.answer || !well) end(id, well && *copy.answer);
}

std::optional<memory_copies::frame> memory_copies::next_frame() {
  if (frames_.empty()) return std::nullopt;
  frame first = frames_.front();
  frames_.pop_front();
  if (first.kind != frame_kind::taken) return first;
  if (const auto position = regions_.find(first.copy.id); position != regions_.end())
    first.bytes = position->second.bytes;
  return first;
}

std::optional<direct_memory::ended_copy> memory_copies::take_ended() {
  if (ended_.empty()) return std::nullopt;
  const direct_memory::ended_copy first = ended_.front();
  ended_.pop_front();
  return first;
}

void memory_copies::end(copy_id id, bool well) {
  const auto position = copies_.find(id);
  ended_.push_back({.tag = position->second.copy.tag, .well = well});
  copies_.erase(position);
}

}  // namespace nacre::transport::ucx
