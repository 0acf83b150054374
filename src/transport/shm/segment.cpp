// SPDX-License-Identifier: Apache-2.0
// A segment of shared memory without a name: the kernel frees it when its last process ends.
#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include <nacre/error.hpp>

namespace nacre::transport::shm {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

void segment::unmap::operator()(std::byte* memory) const noexcept { ::munmap(memory, bytes); }

bool segment::map() {
  const std::uint64_t bytes = sizes_.segment_bytes();
  // NORESERVE: rings that are never used take neither memory nor a promise of it.
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_.get(), 0);
  if (memory == MAP_FAILED) return false;
  memory_ = {static_cast<std::byte*>(memory), unmap(bytes)};
  return true;
}

segment segment::create(const geometry& sizes) {
  segment result(sizes, net::unique_fd(::memfd_create("nacre_shm", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  const int descriptor = result.descriptor_.get();
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(sizes.segment_bytes())) != 0 ||
      ::fcntl(descriptor, F_ADD_SEALS, seals) != 0 || !result.map()) {
    throw setup_error(
        {.problem = "cannot make a segment of shared memory of " + std::to_string(sizes.segment_bytes() >> 10) +
                    " KiB: " + net::error_text(errno),
         .why = "ranks of one host talk through shared memory",
         .remedy = "raise the limit of memory (ulimit -v), lower shm.memory_max, or use --transport tcp"});
  }
  return result;
}

std::optional<segment> segment::open(pid_t owner, int descriptor, const geometry& sizes) {
  const std::string path = "/proc/" + std::to_string(owner) + "/fd/" + std::to_string(descriptor);
  segment result(sizes, net::unique_fd(::open(path.c_str(), O_RDWR | O_CLOEXEC)));
  struct stat status {};
  if (!result.descriptor_ || ::fstat(result.descriptor_.get(), &status) != 0) return std::nullopt;
  const int sealed = ::fcntl(result.descriptor_.get(), F_GET_SEALS);
  if (sealed < 0 || (sealed & seals) != seals || status.st_size != static_cast<off_t>(sizes.segment_bytes())) {
    errno = EINVAL;
    return std::nullopt;
  }
  if (!result.map()) return std::nullopt;
  result.descriptor_.reset();
  return result;
}

}  // namespace nacre::transport::shm
