// SPDX-License-Identifier: Apache-2.0
// Files of images: what is written is read again, and what is damaged is refused.
#include "images/image_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "images/image_error.hpp"

namespace nacre::images {
namespace {

const file_name own_name{.life = 3, .image = 7, .rank = 1, .ranks = 4};

/// A folder that goes with the test.
struct image_file : testing::Test {
  void SetUp() override { std::filesystem::create_directory(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  [[nodiscard]] std::string path() const { return folder + "/rank-00001"; }

  file_mark write(const sections& all, image_writer::compression packing) {
    std::filesystem::remove(path());
    image_writer file(path(), own_name, packing);
    for (const auto& [section, bytes] : all) file.add(section, bytes);
    return file.finish();
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void overwrite(const std::string& text) const { std::ofstream(path(), std::ios::binary | std::ios::trunc) << text; }

  std::string folder = testing::TempDir() + "nacre_image_file." + std::to_string(::getpid());
};

std::vector<std::byte> some_bytes(std::size_t count, unsigned seed, unsigned values) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random() % values);
  return bytes;
}

TEST_F(image_file, is_refused_beyond_the_length_that_the_process_may_write) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
  const sections all{{1, some_bytes(3 << 20, 1, 256)}};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(static_cast<void>(write(all, image_writer::compression::none)), write_error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NO_THROW(static_cast<void>(write(all, image_writer::compression::none)));
}

TEST_F(image_file, gives_back_all_sections_packed_or_not) {
  const sections all{
      {1, some_bytes(100, 1, 256)}, {2, some_bytes(9'000'001, 2, 3)}, {9, some_bytes(5'000'000, 3, 256)}};
  const file_mark plain = write(all, image_writer::compression::none);
  EXPECT_EQ(read_image_file(path(), own_name, plain), all);
  const file_mark packed = write(all, image_writer::compression::zstd);
  EXPECT_EQ(read_image_file(path(), own_name, packed), all);
  EXPECT_LT(packed.bytes, plain.bytes - 5'000'000) << "three values take two bits each";
}

TEST_F(image_file, may_be_empty) {
  const file_mark mark = write({}, image_writer::compression::none);
  EXPECT_TRUE(read_image_file(path(), own_name, mark).empty());
}

TEST_F(image_file, takes_the_place_of_no_other) {
  static_cast<void>(write({}, image_writer::compression::none));
  EXPECT_THROW(image_writer(path(), own_name, image_writer::compression::none), write_error);
  EXPECT_THROW(image_writer(folder + "/none/rank", own_name, image_writer::compression::none), write_error);
}

TEST_F(image_file, is_refused_when_it_is_of_another_rank_or_image) {
  const file_mark mark = write({{1, some_bytes(10, 1, 256)}}, image_writer::compression::none);
  file_name other = own_name;
  other.rank = 2;
  EXPECT_THROW(static_cast<void>(read_image_file(path(), other, mark)), damaged_error);
  other = own_name;
  other.image = 8;
  EXPECT_THROW(static_cast<void>(read_image_file(path(), other, mark)), damaged_error);
  const file_mark wrong{mark.bytes, mark.checksum + 1};
  EXPECT_THROW(static_cast<void>(read_image_file(path(), own_name, wrong)), damaged_error);
  EXPECT_THROW(static_cast<void>(read_image_file(folder, own_name, mark)), damaged_error);
  EXPECT_THROW(static_cast<void>(read_image_file(path() + "x", own_name, mark)), damaged_error);
}

/// Each byte, with one bit turned round, and each length.
TEST_F(image_file, is_refused_when_any_bit_has_changed_or_the_end_is_missing) {
  for (const auto packing : {image_writer::compression::none, image_writer::compression::zstd}) {
    const file_mark mark = write({{1, some_bytes(200, 1, 4)}, {2, some_bytes(50, 2, 256)}}, packing);
    const std::string whole = bytes();
    ASSERT_EQ(whole.size(), mark.bytes);
    for (std::size_t place = 0; place < whole.size(); ++place) {
      std::string other = whole;
      other[place] = static_cast<char>(other[place] ^ (1 << (place % 8)));
      overwrite(other);
      EXPECT_THROW(static_cast<void>(read_image_file(path(), own_name, mark)), damaged_error) << place;
      overwrite(whole.substr(0, place));
      EXPECT_THROW(static_cast<void>(read_image_file(path(), own_name, mark)), damaged_error) << place;
    }
    overwrite(whole + "x");
    EXPECT_THROW(static_cast<void>(read_image_file(path(), own_name, mark)), damaged_error);
    overwrite(whole);
    EXPECT_EQ(read_image_file(path(), own_name, mark).size(), 2U);
  }
}

/// Heads whose checksums are right, as of a peer that lies: nothing but an error, and no memory for lengths that are
/// not there.
TEST_F(image_file, is_refused_when_random_bytes_stand_in_it) {
  const file_mark mark = write({{1, some_bytes(300, 1, 256)}}, image_writer::compression::zstd);
  const std::string whole = bytes();
  std::mt19937 random(4);
  for (int number = 0; number < 2000; ++number) {
    std::string other = whole;
    const std::size_t begin = 32 + random() % (other.size() - 32);
    const std::size_t count = 1 + random() % std::min<std::size_t>(64, other.size() - begin);
    for (std::size_t place = begin; place < begin + count; ++place) other[place] = static_cast<char>(random());
    if (other == whole) continue;
    overwrite(other);
    EXPECT_THROW(static_cast<void>(read_image_file(path(), own_name, mark)), damaged_error) << number;
  }
}

}  // namespace
}  // namespace nacre::images
