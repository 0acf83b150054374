// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of two processes of one host by one system call each.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/direct_memory.hpp"
#include "transport/shm/segment.hpp"

namespace nacre::transport::shm {

/// Writes into the memory of another process, as read_memory reads. False: errno tells.
[[nodiscard]] bool write_memory(pid_t process, std::uint64_t address, const std::byte* from,
                                std::size_t bytes) noexcept;
/// Whether this process may do both there: `word` lies at `address`, and is read, and written back as it is.
[[nodiscard]] bool can_copy_directly(pid_t process, std::uint64_t address, std::uint64_t word) noexcept;

/// Each piece of lent memory has a word in the segment of its lender, which both ends know:
///
/// | the word | lend | recall | the peer copies | it has copied |
/// |---|---|---|---|---|
/// | free | lent, of a new generation | - | refused | - |
/// | lent | - | free | busy | - |
/// | busy | - | waits, then free | refused | used |
/// | used | - | free | refused | - |
///
/// The rank that copies does so within `copy`, so nothing is ever pending, and it waits for nobody before it gives its
/// own memory back. Who recalls waits at most for the copy of a peer that runs, or until that peer has ended.
class shm_direct final : public direct_memory {
 public:
  struct neighbour {
    std::shared_ptr<segment> theirs;  ///< null: the own rank, or not of this host
    pid_t process = 0;
    bool able = false;  ///< the kernel lets this rank copy there
  };
  shm_direct(rank_id self, std::shared_ptr<segment> own, std::vector<neighbour> peers);

  bool reaches(rank_id peer) const noexcept override;
  std::optional<lent_memory> lend(rank_id to, std::span<std::byte> bytes, copy_way what) override;
  void recall(rank_id from, const lent_memory& what) noexcept override;
  copy_outcome copy(const direct_copy& what) override;
  void stop(std::uint64_t) noexcept override {}
  std::optional<ended_copy> take_ended() override { return std::nullopt; }

 private:
  const rank_id self_;
  const std::shared_ptr<segment> own_;
  const std::vector<neighbour> peers_;  // by rank
  std::mutex mutex_;
  std::vector<std::uint32_t> taken_;  // by rank, under mutex_: a bit for each word that is not free
  std::uint64_t generation_ = 0;      // under mutex_
};

}  // namespace nacre::transport::shm
