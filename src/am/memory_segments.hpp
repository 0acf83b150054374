// SPDX-License-Identifier: Apache-2.0
// The memory that a rank has exposed: which accesses may touch which bytes of it, and until when.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include <nacre/expected.hpp>
#include <nacre/memory.hpp>

namespace nacre {

/// How an access ended at the target.
enum class memory_status : std::uint8_t {
  done,
  never_exposed,
  withdrawn,
  wrong_key,
  out_of_range,
  read_only,
  unreachable
};

/// Archives check with this a status that a peer has sent.
[[nodiscard]] constexpr bool wire_valid(memory_status status) noexcept { return status <= memory_status::unreachable; }

/// The reason, for the caller; the text before it is "put of 8 bytes at ... failed: ".
[[nodiscard]] const char* describe(memory_status status) noexcept;

/// The segments of one rank. Any thread.
///
/// | a segment | access | withdraw | last lease ends |
/// |---|---|---|---|
/// | exposed | checked; a lease | withdrawn; returns when there is no lease | - |
/// | withdrawn | refused | refused: misuse | forgotten |
///
/// Invariant: nothing touches the memory after withdraw has returned. Bytes are touched under a lease only, and
/// `withdraw` refuses new leases, and returns when the last one has ended. A lease lasts as long as the copy of one
/// piece, by a thread of the rank or by its transport, which withdraw tells to stop.
class memory_segments {
 public:
  /// The right to touch a range, held while it is copied.
  class lease {
   public:
    lease(memory_segments& owner, std::uint32_t segment, std::span<std::byte> bytes) noexcept
        : owner_(&owner), segment_(segment), bytes_(bytes) {}
    lease(lease&& other) noexcept : owner_(other.owner_), segment_(other.segment_), bytes_(other.bytes_) {
      other.owner_ = nullptr;
    }
    lease& operator=(lease&&) = delete;
    ~lease() {
      if (owner_ != nullptr) owner_->end_lease(segment_);
    }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint32_t segment() const noexcept { return segment_; }

   private:
    memory_segments* owner_;
    std::uint32_t segment_;
    std::span<std::byte> bytes_;
  };

  /// `previous`: the number before that of the first memory.
  explicit memory_segments(rank_id self, std::uint32_t previous = 0) : self_(self), last_(previous) {}

  /// `key` must be new and unpredictable.
  [[nodiscard]] detail::memory_name expose(std::span<std::byte> bytes, detail::memory_access access,
                                           const std::array<std::uint64_t, 2>& key);
  /// Ends the exposure, and waits for its leases. False: nothing of that name is exposed here. If leases are still
  /// open, calls `hasten`, which ends the long ones.
  [[nodiscard]] bool withdraw(
      const detail::memory_name& name, const std::function<void()>& hasten = [] {});

  enum class intent : std::uint8_t { read, write };
  [[nodiscard]] friend constexpr bool wire_valid(intent intent) noexcept { return intent <= intent::write; }
  /// The range, to be touched while the lease lives. The arguments are untrusted: each is checked.
  [[nodiscard]] expected<lease, memory_status> access(const detail::memory_name& name, std::uint64_t offset,
                                                      std::uint64_t length, intent intent);
  /// Segments exposed and not withdrawn.
  [[nodiscard]] std::size_t count() const;

 private:
  struct segment {
    std::span<std::byte> bytes;
    detail::memory_access access = detail::memory_access::read_only;
    std::array<std::uint64_t, 2> key{};
    std::uint32_t leases = 0;
  };
  [[nodiscard]] memory_status check(const detail::memory_name& name, std::uint64_t offset, std::uint64_t length,
                                    intent intent) const;
  void end_lease(std::uint32_t segment);

  const rank_id self_;
  mutable std::mutex mutex_;
  std::condition_variable unused_;                           // a withdrawn segment has lost its last lease
  std::uint32_t last_;                                       // under mutex_: the number given last
  std::unordered_map<std::uint32_t, segment> exposed_;       // under mutex_
  std::unordered_map<std::uint32_t, std::uint32_t> ending_;  // under mutex_: leases of withdrawn ones
};

}  // namespace nacre
