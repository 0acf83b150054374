// SPDX-License-Identifier: Apache-2.0
// Writing and reading the file of one rank.
#include "images/image_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xxhash.h>
#include <zstd.h>

#include <fmt/format.h>

#include "images/image_error.hpp"

namespace nacre::images {
namespace {

constexpr std::uint64_t magic = 0x31676d6965726361;  // "acreimg1" in the file
constexpr std::size_t raw_bytes_max = 4 << 20;       // of a piece
constexpr std::uint32_t end_section = ~std::uint32_t{0};
constexpr int zstd_level = 1;

struct file_head {
  std::uint64_t mark;
  std::uint64_t life, image;
  std::uint32_t rank, ranks;
};
static_assert(sizeof(file_head) == 32);

struct piece_head {
  std::uint32_t section;
  std::uint32_t raw;     ///< bytes that it unpacks to
  std::uint32_t stored;  ///< bytes that follow; less than `raw`: packed by zstd
  std::uint32_t zero;
  std::uint64_t place;     ///< how many pieces come before
  std::uint64_t checksum;  ///< of this head, with 0 here, then of the bytes that follow
};
static_assert(sizeof(piece_head) == 32);

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

std::uint64_t checksum_of(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t checksum_of(piece_head head, std::span<const std::byte> stored) noexcept {
  head.checksum = 0;
  return checksum_of(stored, checksum_of(bytes_of(head), 0));
}

/// Adds a piece to the checksum of a file.
std::uint64_t chained(std::uint64_t previous, const piece_head& head) noexcept {
  return checksum_of(bytes_of(head), previous);
}

[[noreturn]] void refuse(const std::string& path, std::uint64_t place, std::string_view reason) {
  throw damaged_error(fmt::format("{} is damaged at byte {}: {}", path, place, reason));
}

}  // namespace

image_writer::image_writer(const std::string& path, const file_name& name, compression packing)
    : file_(owned_file::make(path)), packing_(packing) {
  const file_head head{magic, name.life, name.image, name.rank, name.ranks};
  file_.write(bytes_of(head));
  bytes_ = sizeof head;
  checksum_ = checksum_of(bytes_of(head), 0);
}

void image_writer::add(std::uint32_t section, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), raw_bytes_max);
    add_piece(section, bytes.first(count));
    bytes = bytes.subspan(count);
  }
}

void image_writer::add_piece(std::uint32_t section, std::span<const std::byte> raw) {
  std::span<const std::byte> stored = raw;
  if (packing_ == compression::zstd) {
    packed_.resize(ZSTD_compressBound(raw.size()));
    const std::size_t bytes = ZSTD_compress(packed_.data(), packed_.size(), raw.data(), raw.size(), zstd_level);
    if (ZSTD_isError(bytes) == 0 && bytes < raw.size()) stored = std::span(packed_).first(bytes);
  }
  piece_head head{
      section, static_cast<std::uint32_t>(raw.size()), static_cast<std::uint32_t>(stored.size()), 0, pieces_, 0};
  head.checksum = checksum_of(head, stored);
  file_.write(bytes_of(head));
  file_.write(stored);
  ++pieces_;
  bytes_ += sizeof head + stored.size();
  checksum_ = chained(checksum_, head);
}

file_mark image_writer::finish() {
  add_piece(end_section, {});
  file_.sync();
  file_.close();
  return {bytes_, checksum_};
}

namespace {

/// A file while it is read: knows how much is left, so that no length in it is believed beyond that.
class image_reader {
 public:
  image_reader(const std::string& path, const file_mark& mark) : file_(owned_file::open(path)), left_(file_.size()) {
    if (left_ != mark.bytes) {
      throw damaged_error(fmt::format("{} has {} bytes, and the manifest says {}: it is cut off, or of another image",
                                      path, left_, mark.bytes));
    }
  }

  void check_head(const file_name& name) {
    file_head head{};
    take(std::as_writable_bytes(std::span(&head, 1)));
    if (head.mark != magic) refuse(path(), 0, "it is no file of an image, or of another version of Nacre");
    if (file_name{head.life, head.image, head.rank, head.ranks} != name) {
      refuse(
          path(), 0,
          fmt::format("it is of rank {} of {} in image {} of life {}", head.rank, head.ranks, head.image, head.life));
    }
    checksum_ = checksum_of(bytes_of(head), 0);
  }

  /// Reads a piece into its section. False: it was the last.
  bool take_piece(sections& sections) {
    const std::uint64_t place = place_;
    piece_head head{};
    take(std::as_writable_bytes(std::span(&head, 1)));
    if (head.place != pieces_ || head.zero != 0 || head.raw > raw_bytes_max || head.stored > head.raw ||
        head.stored > left_ || (head.section == end_section && head.raw != 0)) {
      refuse(path(), place, "what stands there is no head of a piece");
    }
    std::vector<std::byte>& section = head.section == end_section ? packed_ : sections[head.section];
    const bool packed = head.stored < head.raw;
    std::vector<std::byte>& target = packed ? packed_ : section;
    const std::size_t previous = packed || head.section == end_section ? 0 : section.size();
    target.resize(previous + head.stored);
    const std::span<std::byte> stored = std::span(target).subspan(previous);
    take(stored);
    if (checksum_of(head, stored) != head.checksum) refuse(path(), place, "its checksum differs");
    checksum_ = chained(checksum_, head);
    ++pieces_;
    if (packed) unpack(head, place, stored, section);
    return head.section != end_section;
  }

  void check_end(const file_mark& mark) const {
    if (left_ != 0) refuse(path(), place_, "bytes follow its end");
    if (checksum_ != mark.checksum) {
      throw damaged_error(fmt::format("{} is whole, but not the file that the manifest tells", path()));
    }
  }

 private:
  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  void take(std::span<std::byte> target) {
    if (target.size() > left_) refuse(path(), place_, "it ends too early");
    file_.read(target);
    left_ -= target.size();
    place_ += target.size();
  }
  void unpack(const piece_head& head, std::uint64_t place, std::span<const std::byte> stored,
              std::vector<std::byte>& section) {
    const std::size_t previous = section.size();
    section.resize(previous + head.raw);
    const std::size_t bytes = ZSTD_decompress(section.data() + previous, head.raw, stored.data(), stored.size());
    if (ZSTD_isError(bytes) != 0 || bytes != head.raw) refuse(path(), place, "zstd cannot unpack it");
  }

  owned_file file_;
  std::uint64_t left_;
  std::uint64_t place_ = 0;
  std::uint64_t pieces_ = 0;
  std::uint64_t checksum_ = 0;
  std::vector<std::byte> packed_;
};

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept { return checksum_of(bytes, 0); }

sections read_image_file(const std::string& path, const file_name& name, const file_mark& mark) {
  image_reader reader(path, mark);
  reader.check_head(name);
  sections all;
  while (reader.take_piece(all)) {
  }
  reader.check_end(mark);
  return all;
}

}  // namespace nacre::images
