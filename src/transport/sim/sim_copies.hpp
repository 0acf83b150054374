// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of simulated ranks: the network carries them, and no processor takes part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "transport/direct_memory.hpp"
#include "transport/sim/sim_fabric.hpp"

namespace nacre::transport {

/// The copies of all ranks. Each is a transfer to the region's owner and one back; one of them carries the bytes:
///
/// | a copy | arrives at the owner | is stopped | arrives back |
/// |---|---|---|---|
/// | from a region | a region still registered is read | fails | the bytes are written to the own memory |
/// | to a region | the own memory is written to a region still registered | fails unless it was written | - |
///
/// Events alone touch the memory, so `deregister` and `stop` never wait.
class sim_copies {
 public:
  explicit sim_copies(sim_fabric::state& state, std::uint32_t ranks);

  [[nodiscard]] registered_region register_region(rank_id owner, rank_id target, std::span<std::byte> bytes,
                                                  copy_way way);
  void deregister(rank_id owner, const registered_region& region) noexcept;
  /// `copy.peer` is another rank than `rank`.
  void start(rank_id rank, const direct_copy& copy);
  void stop(rank_id rank, std::uint64_t tag) noexcept;
  [[nodiscard]] bool has_ended(rank_id rank) const noexcept { return !rank_states_[rank.value()].ended.empty(); }
  [[nodiscard]] std::optional<direct_memory::ended_copy> take_ended(rank_id rank);
  /// Copies that have begun and that take_ended has not returned yet.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return under_way_; }
  /// The rank has closed: no copy touches its memory any more.
  void close(rank_id rank) noexcept;

 private:
  struct region_record {
    rank_id peer;
    std::span<std::byte> bytes;
    copy_way way = copy_way::from_region;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct rank_state {
    std::unordered_map<std::uint64_t, region_record> regions;  // by id
    std::deque<direct_memory::ended_copy> ended;
    std::uint32_t first = none;  // of its copies under way, a list
  };
  struct pending_copy {
    rank_id rank;
    direct_copy copy;
    std::uint32_t previous = none, next = none;  // of the rank's copies under way
    bool returning = false;
    bool stopped = false;
    bool well = false;
    std::vector<std::byte> taken{};
    machine::message_way way{};  // where links have contention
  };
  void depart(std::uint32_t index);
  [[nodiscard]] static machine::transfer transfer_of(const pending_copy& copy) noexcept;
  static void cross(void* self, std::uint64_t index);
  static void reach(void* self, std::uint64_t index);
  static void complete(void* self, std::uint64_t index);
  void copy_at_owner(pending_copy& copy);
  void finish(std::uint32_t index);
  void link(std::uint32_t index) noexcept;
  void unlink(std::uint32_t index) noexcept;

  sim_fabric::state& shared_;
  std::vector<rank_state> rank_states_;      // by rank
  std::deque<pending_copy> pending_copies_;  // by index
  std::vector<std::uint32_t> free_;
  std::uint64_t last_id_ = 0;
  std::uint64_t under_way_ = 0;
};

}  // namespace nacre::transport
