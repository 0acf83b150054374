// SPDX-License-Identifier: Apache-2.0
// A segment of shared memory without a name: the kernel frees it when its last process ends.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "join/net/socket.hpp"
#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// A mapping of one segment: a memfd with a sealed size, so that no access can fault. The kernel frees it when the last
/// process that maps it or holds its descriptor has ended, in any way.
class segment {
 public:
  /// A new segment, all zero. Throws setup_error.
  [[nodiscard]] static segment create(const geometry& sizes);

  /// Maps the segment that another process has under that descriptor. It goes through /proc, which allows that to
  /// processes of one user. Nothing, with errno set, when that fails, or the segment has another size or no seal.
  [[nodiscard]] static std::optional<segment> open(pid_t owner, int descriptor, const geometry& sizes);

  [[nodiscard]] segment_head& head() const noexcept { return *reinterpret_cast<segment_head*>(memory_.get()); }
  [[nodiscard]] ring_view ring(std::uint32_t sender, std::size_t on_channel) const noexcept {
    return sizes_.ring(memory_.get(), sender, on_channel);
  }
  [[nodiscard]] region_table& regions(std::uint32_t peer) const noexcept {
    return *sizes_.regions(memory_.get(), peer);
  }
  /// Its descriptor in the process that has created it; -1 elsewhere.
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
