// SPDX-License-Identifier: Apache-2.0
// A segment of shared memory that has no name, so that nothing is left of it when its users have ended.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "transport/net/socket.hpp"
#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// A mapping of one segment: memory of the kernel (memfd) that is sealed against another size, so that no access can
/// fault. It ends with the last process that maps it or holds its descriptor, however that ends.
class segment {
 public:
  /// A new one, all zero. Throws setup_error.
  [[nodiscard]] static segment create(const geometry& sizes);

  /// Maps the segment that another process has under that descriptor; through /proc, which lets in processes of the
  /// same user. Nothing, and errno set, when that fails or the segment has another size or no seal.
  [[nodiscard]] static std::optional<segment> open(pid_t owner, int descriptor, const geometry& sizes);

  [[nodiscard]] segment_head& head() const noexcept { return *reinterpret_cast<segment_head*>(memory_.get()); }
  [[nodiscard]] ring_view ring(std::uint32_t sender, std::size_t on_channel) const noexcept {
    return sizes_.ring(memory_.get(), sender, on_channel);
  }
  [[nodiscard]] lent_words& lent(std::uint32_t peer) const noexcept { return *sizes_.lent(memory_.get(), peer); }
  /// Of the process that has created it; -1 elsewhere.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  struct unmap {
    unmap() noexcept : bytes(0) {}
    explicit unmap(std::uint64_t mapped) noexcept : bytes(mapped) {}
    void operator()(std::byte* memory) const noexcept;
    std::uint64_t bytes;
  };

  segment(const geometry& sizes, net::unique_fd descriptor) noexcept
      : sizes_(sizes), descriptor_(std::move(descriptor)) {}
  [[nodiscard]] bool map();

  geometry sizes_;
  net::unique_fd descriptor_;
  std::unique_ptr<std::byte[], unmap> memory_;
};

}  // namespace nacre::transport::shm
