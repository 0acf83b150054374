// SPDX-License-Identifier: Apache-2.0
// The promises of the executable's fingerprint.
#include <nacre/rng.hpp>

#include "wire/binary_fingerprint.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace nacre {
namespace {

using bytes = std::vector<std::byte>;

/// One ELF note, padded to `unit` as the linker does.
bytes note(std::string_view owner, std::uint32_t type, std::string_view content, std::size_t unit = 4) {
  const Elf64_Nhdr head{.n_namesz = static_cast<Elf64_Word>(owner.size()),
                        .n_descsz = static_cast<Elf64_Word>(content.size()),
                        .n_type = type};
  bytes data(sizeof head);
  std::memcpy(data.data(), &head, sizeof head);
  for (const std::string_view part : {owner, content}) {
    for (const char c : part) data.push_back(static_cast<std::byte>(c));
    data.resize((data.size() + unit - 1) / unit * unit);
  }
  return data;
}

std::string_view text(std::span<const std::byte> view) {
  return {reinterpret_cast<const char*>(view.data()), view.size()};
}

constexpr std::string_view gnu("GNU\0", 4);

class scratch_file {
 public:
  explicit scratch_file(std::string_view content)
      : path_(std::filesystem::temp_directory_path() / ("nacre_fingerprint_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~scratch_file() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(binary_fingerprint, is_the_same_every_time_and_not_zero) {
  EXPECT_EQ(binary_fingerprint(), binary_fingerprint());
  EXPECT_NE(binary_fingerprint(), 0u);
}

TEST(binary_fingerprint, the_build_id_is_found_among_other_notes) {
  bytes notes = note(gnu, NT_GNU_ABI_TAG, "0123456789abcdef");
  const bytes id = note(gnu, NT_GNU_BUILD_ID, "twenty bytes of sha1");
  notes.insert(notes.end(), id.begin(), id.end());
  const auto match = find_build_id(notes, 4);
  ASSERT_TRUE(match);
  EXPECT_EQ(text(*match), "twenty bytes of sha1");
}

TEST(binary_fingerprint, notes_aligned_to_eight_bytes_are_understood) {
  bytes notes = note(gnu, NT_GNU_PROPERTY_TYPE_0, "0123456789ab", 8);
  const bytes id = note(gnu, NT_GNU_BUILD_ID, "abc", 8);
  notes.insert(notes.end(), id.begin(), id.end());
  const auto match = find_build_id(notes, 8);
  ASSERT_TRUE(match);
  EXPECT_EQ(text(*match), "abc");
}

TEST(binary_fingerprint, notes_of_others_and_empty_ids_do_not_count) {
  EXPECT_FALSE(find_build_id(note("Go\0\0", NT_GNU_BUILD_ID, "abcd"), 4));
  EXPECT_FALSE(find_build_id(note(gnu, NT_GNU_BUILD_ID, ""), 4));
  EXPECT_FALSE(find_build_id({}, 4));
}

TEST(binary_fingerprint, damaged_notes_never_yield_bytes_outside_of_them) {
  rng numbers(51);
  for (int round = 0; round < 20'000; ++round) {
    bytes notes = note(gnu, NT_GNU_ABI_TAG, "0123");
    const bytes id = note(gnu, NT_GNU_BUILD_ID, "twenty bytes of sha1");
    notes.insert(notes.end(), id.begin(), id.end());
    for (int times = 0; times < 3; ++times) notes[numbers.below(notes.size())] = static_cast<std::byte>(numbers.next());
    notes.resize(numbers.below(notes.size() + 1));
    notes.shrink_to_fit();
    if (const auto match = find_build_id(notes, numbers.below(2) == 0 ? 4 : 8)) {
      ASSERT_GE(match->data(), notes.data());
      ASSERT_LE(match->data() + match->size(), notes.data() + notes.size());
    }
  }
}

TEST(binary_fingerprint, files_are_told_apart_by_their_content) {
  const auto fingerprint_of = [](std::string_view content) {
    const scratch_file file(content);
    return file_fingerprint(file.path().c_str());
  };
  const std::string large(200'000, 'x');
  ASSERT_TRUE(fingerprint_of("one"));
  EXPECT_EQ(fingerprint_of("one"), fingerprint_of("one"));
  EXPECT_NE(fingerprint_of("one"), fingerprint_of("two"));
  EXPECT_NE(fingerprint_of(large), fingerprint_of(large + "y"));
}

TEST(binary_fingerprint, a_file_that_is_not_there_has_none) {
  EXPECT_FALSE(file_fingerprint("/nonexistent/file"));
  EXPECT_TRUE(file_fingerprint("/proc/self/exe"));
}

}  // namespace
}  // namespace nacre
