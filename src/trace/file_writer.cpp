// SPDX-License-Identifier: Apache-2.0
// Compresses blocks and writes them.
#include "trace/file_writer.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "base/length_signal.hpp"

namespace nacre::trace {
namespace {

constexpr int level = 1;  // low, because the thread contexts wait while it compresses

}  // namespace

struct file_writer::compressor {
  compressor() : context(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  }
  compressor(const compressor&) = delete;
  compressor& operator=(const compressor&) = delete;
  ~compressor() { ZSTD_freeCCtx(context); }

  ZSTD_CCtx* context;
  std::vector<std::byte> block;  // head and payload
};

file_writer::file_writer(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw setup_error({.problem = "the trace '" + path_ + "' cannot be written: " + std::strerror(errno),
                       .why = "--nacre.trace asks for it",
                       .remedy = "name a file in a folder that exists and may be written"});
  }
  const file_head head;
  write(std::as_bytes(std::span(&head, 1)));
}

file_writer::~file_writer() {
  if (file_ >= 0) ::close(file_);
}

std::unique_ptr<file_writer::compressor> file_writer::borrow() {
  const std::scoped_lock lock(mutex_);
  if (file_ < 0) return nullptr;
  if (free_.empty()) return std::make_unique<compressor>();
  std::unique_ptr<compressor> one = std::move(free_.back());
  free_.pop_back();
  return one;
}

void file_writer::append(block_head head, std::span<const std::byte> payload) {
  NACRE_EXPECT(payload.size() <= block_bytes_max, "a block is larger than readers accept");
  std::unique_ptr<compressor> partner = borrow();
  if (partner == nullptr) return;
  std::vector<std::byte>& block = partner->block;
  block.resize(sizeof head + ZSTD_compressBound(payload.size()));
  const std::size_t stored = ZSTD_compress2(partner->context, block.data() + sizeof head, block.size() - sizeof head,
                                            payload.data(), payload.size());
  NACRE_ASSERT(ZSTD_isError(stored) == 0, "zstd compresses whatever fits its bound");
  head.raw_bytes = static_cast<std::uint32_t>(payload.size());
  head.stored_bytes = static_cast<std::uint32_t>(stored);
  head.check = check_of(head);
  std::memcpy(block.data(), &head, sizeof head);
  const std::scoped_lock lock(mutex_);
  write(std::span(block).first(sizeof head + stored));
  free_.push_back(std::move(partner));
}

/// Writes all bytes, or gives the file up and writes nothing from then on.
void file_writer::write(std::span<const std::byte> bytes) {
  const length_signal signal;
  std::size_t done = 0;
  while (file_ >= 0 && done < bytes.size()) {
    const ssize_t wrote = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (const int fault = errno; fault != EINTR) {
      if (fault == EFBIG) signal.take();
      const std::string line =
          "nacre: the trace '" + path_ + "' ends here: " + std::strerror(fault) + "; the job goes on without it\n";
      std::fputs(line.c_str(), stderr);
      // Cuts off the incomplete block. Where that is impossible, readers find that the file breaks off.
      [[maybe_unused]] const int cut = ::ftruncate(file_, static_cast<off_t>(written_));
      ::close(std::exchange(file_, -1));
    }
  }
  written_ += done;
}

}  // namespace nacre::trace
