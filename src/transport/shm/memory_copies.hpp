// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of two processes of one host by one system call each.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "transport/direct_memory.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/segment.hpp"

namespace nacre::transport::shm {

/// Each registered region has a state word in the segment of its owner, which both ranks access:
///
/// | the word | `register_region` | `deregister` | the peer begins to copy | the peer has copied |
/// |---|---|---|---|---|
/// | free | registered, in a new generation | - | refused | - |
/// | registered | - | free | busy | - |
/// | busy | - | waits, then free | refused | used |
/// | used | - | free | refused | - |
///
/// `copy` makes the whole copy before it returns, so no copy is ever pending, and `stop` has nothing to wait for.
/// `deregister` waits at most for the copy that the peer is making, or until the peer's process has ended.
class shm_memory_copies final : public direct_memory {
 public:
  struct local_peer {
    std::shared_ptr<segment> theirs;  ///< null: the own rank, or a rank of another host
    std::uint32_t number = 0;         ///< its place in segments
    pid_t process = 0;
    bool able = false;                               ///< the kernel lets this rank copy there
    std::shared_ptr<const process_handle> handle{};  ///< null: its number must do
  };
  /// `own_number`: the own place in segments.
  shm_memory_copies(std::uint32_t own_number, std::shared_ptr<segment> own_segment, std::vector<local_peer> peers);

  bool reaches(rank_id peer) const noexcept override;
  std::optional<registered_region> register_region(rank_id target, std::span<std::byte> bytes, copy_way way) override;
  void deregister(rank_id source, const registered_region& region) noexcept override;
  copy_outcome copy(const direct_copy& direct_copy) override;
  void stop(std::uint64_t) noexcept override {}
  std::optional<ended_copy> take_ended() override { return std::nullopt; }

 private:
  const std::uint32_t own_number_;
  const std::shared_ptr<segment> own_segment_;
  const std::vector<local_peer> peers_;  // by rank
  std::mutex mutex_;
  std::vector<std::uint32_t> taken_;  // by rank, under mutex_: a bit for each word in use
  std::uint64_t generation_ = 0;      // under mutex_
};

}  // namespace nacre::transport::shm
