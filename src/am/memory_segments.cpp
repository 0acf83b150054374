// SPDX-License-Identifier: Apache-2.0
// Checks of accesses, and the end of a segment.
#include "am/memory_segments.hpp"

#include <limits>

#include "base/marks.hpp"

namespace nacre {
namespace {

/// Compares in constant time.
bool same_key(const std::array<std::uint64_t, 2>& a, const std::array<std::uint64_t, 2>& b) noexcept {
  return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

}  // namespace

const char* describe(memory_status status) noexcept {
  switch (status) {
    case memory_status::done:
      return "nothing is wrong";
    case memory_status::never_exposed:
      return "that rank has exposed no such memory: is the handle one that expose has returned?";
    case memory_status::withdrawn:
      return "it has been withdrawn: let its rank wait, for example at a barrier, before it withdraws";
    case memory_status::wrong_key:
      return "the handle's key is wrong: is it one that expose has returned?";
    case memory_status::out_of_range:
      return "the range does not lie inside the memory";
    case memory_status::read_only:
      return "it was exposed for reading only: expose elements that are not const";
    case memory_status::unreachable:
      return "its transport cannot copy the caller's memory";
  }
  return "";
}

detail::memory_name memory_segments::expose(std::span<std::byte> bytes, detail::memory_access access,
                                            const std::array<std::uint64_t, 2>& key) {
  const std::scoped_lock lock(mutex_);
  if (last_ == std::numeric_limits<std::uint32_t>::max()) {
    throw usage_error(
        "this rank has exposed 2^32 - 1 memories, which is all it has numbers for: expose fewer, larger ones");
  }
  const std::uint32_t number = ++last_;
  exposed_.emplace(number, segment{bytes, access, key, 0});
  return {.rank = self_.value(), .segment = number, .bytes = bytes.size(), .key = key};
}

bool memory_segments::withdraw(const detail::memory_name& name, const std::function<void()>& hasten) {
  std::unique_lock lock(mutex_);
  const auto position = exposed_.find(name.segment);
  if (name.rank != self_.value() || position == exposed_.end() || !same_key(position->second.key, name.key))
    return false;
  const std::uint32_t leases = position->second.leases;
  exposed_.erase(position);
  if (leases == 0) return true;
  ending_.emplace(name.segment, leases);
  lock.unlock();
  hasten();
  lock.lock();
  unused_.wait(lock, [&] { return !ending_.contains(name.segment); });
  return true;
}

memory_status memory_segments::check(const detail::memory_name& name, std::uint64_t offset, std::uint64_t length,
                                     intent intent) const {
  if (name.segment == 0 || name.segment > last_) return memory_status::never_exposed;
  const auto position = exposed_.find(name.segment);
  if (position == exposed_.end()) {
    NACRE_MARK("an access comes after its memory has been withdrawn");
    return memory_status::withdrawn;
  }
  const segment& segment = position->second;
  if (!same_key(segment.key, name.key)) return memory_status::wrong_key;
  const std::uint64_t size = segment.bytes.size();
  if (offset > size || length > size - offset) return memory_status::out_of_range;
  if (intent == intent::write && segment.access == detail::memory_access::read_only) return memory_status::read_only;
  return memory_status::done;
}

expected<memory_segments::lease, memory_status> memory_segments::access(const detail::memory_name& name,
                                                                        std::uint64_t offset, std::uint64_t length,
                                                                        intent intent) {
  const std::scoped_lock lock(mutex_);
  const memory_status status = check(name, offset, length, intent);
  if (status != memory_status::done) return unexpected(status);
  segment& segment = exposed_.find(name.segment)->second;
  ++segment.leases;
  return lease(*this, name.segment, segment.bytes.subspan(offset, length));
}

void memory_segments::end_lease(std::uint32_t number) {
  const std::scoped_lock lock(mutex_);
  if (const auto position = exposed_.find(number); position != exposed_.end()) {
    --position->second.leases;
    return;
  }
  const auto position = ending_.find(number);
  if (--position->second != 0) return;
  ending_.erase(position);
  unused_.notify_all();
}

std::size_t memory_segments::count() const {
  const std::scoped_lock lock(mutex_);
  return exposed_.size();
}

}  // namespace nacre
