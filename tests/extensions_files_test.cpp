// SPDX-License-Identifier: Apache-2.0
// Files of extension modules: found, checked before any of their code runs, and refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "backplane/extension/extension_file.hpp"
#include "backplane/extension/shared_object.hpp"

namespace nacre {
namespace {

namespace fs = std::filesystem;

std::string module_file(const std::string& name) { return NACRE_EXTENSIONS_DIR "/" + name + ".so"; }

std::string refusal_of(const fs::path& file) {
  ::unsetenv("EXTENSION_CODE_RAN");
  try {
    static_cast<void>(load_extension_file(file));
  } catch (const setup_error& refused) {
    return ::getenv("EXTENSION_CODE_RAN") == nullptr ? refused.what() : "its code has run";
  }
  return "loaded";
}

TEST(extension_files, a_file_that_does_not_fit_is_refused_before_any_of_its_code_runs) {
  const auto says = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  for (const auto& [name, reason] : std::initializer_list<std::pair<const char*, const char*>>{
           {"other_version", "has version 99 of the interface"},
           {"other_build", "was built by x"},
           {"without_entry", "lacks the symbol nacre_make_extension"},
           {"lacks_symbol", "nowhere_to_be_found"},
           {"no_module", "is no extension module"}}) {
    const std::string told = refusal_of(module_file(name));
    EXPECT_TRUE(says(told, reason)) << name << ": " << told;
  }
  EXPECT_EQ(refusal_of(module_file("loaded_counter")), "loaded");
  EXPECT_TRUE(says(refusal_of("/nowhere/x.so"), "cannot be read"));
  EXPECT_TRUE(says(refusal_of("/proc/self/exe"), "is no "));
}

TEST(extension_files, a_file_that_is_cut_off_anywhere_is_refused) {
  std::ifstream in(module_file("loaded_counter"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const fs::path cut = fs::temp_directory_path() / ("cut_" + std::to_string(::getpid()) + ".so");
  for (std::size_t bytes = 0; bytes < whole.size(); bytes = bytes * 3 / 2 + 1) {
    std::ofstream(cut, std::ios::binary | std::ios::trunc).write(whole.data(), static_cast<std::streamsize>(bytes));
    EXPECT_THROW(static_cast<void>(check_extension_file(cut)), setup_error) << bytes;
  }
  fs::remove(cut);
}

/// Calls `damage` with copies of the bytes, and expects each to be refused before the loader sees it.
void expect_refusals(const std::vector<std::function<void(std::string&)>>& damages) {
  std::ifstream in(module_file("loaded_counter"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const fs::path file = fs::temp_directory_path() / ("damaged_" + std::to_string(::getpid()) + ".so");
  for (std::size_t each = 0; each < damages.size(); ++each) {
    std::string bytes = whole;
    damages[each](bytes);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_THROW(static_cast<void>(check_extension_file(file)), setup_error) << each;
  }
  fs::remove(file);
}
/// Changes the entry at an offset of the bytes.
template <class Entry>
std::function<void(std::string&)> change(std::size_t offset, std::function<void(Entry&)> method) {
  return [=](std::string& bytes) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + offset, sizeof entry);
    method(entry);
    std::memcpy(bytes.data() + offset, &entry, sizeof entry);
  };
}

TEST(extension_files, a_damaged_segment_or_table_is_refused_before_the_loader_dies_of_it) {
  file_parts parts(module_file("loaded_counter"));
  const auto head = read_head(parts);
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  std::vector<std::function<void(std::string&)>> damages;
  std::size_t index = head.e_phoff;
  for (const auto& segment : read_segments(parts, head)) {
    if (segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) {
      damages.push_back(change<ElfW(Phdr)>(index, [=](auto& subject) { subject.p_filesz += far; }));
      damages.push_back(change<ElfW(Phdr)>(index, [=](auto& subject) { subject.p_offset += far; }));
      damages.push_back(change<ElfW(Phdr)>(index, [=](auto& subject) { subject.p_vaddr += far - 1; }));
    }
    index += sizeof segment;
    if (segment.p_type != PT_DYNAMIC) continue;
    std::size_t entry_at = segment.p_offset;
    for (const auto& entry : parts.read_all<ElfW(Dyn)>(segment.p_offset, segment.p_filesz / sizeof(ElfW(Dyn)))) {
      for (const std::int64_t tag : {DT_STRTAB, DT_STRSZ, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL, DT_PLTRELSZ,
                                     DT_INIT_ARRAY, DT_GNU_HASH, DT_NEEDED, DT_VERNEED, DT_INIT}) {
        if (entry.d_tag == tag)
          damages.push_back(change<ElfW(Dyn)>(entry_at, [=](auto& subject) { subject.d_un.d_val += far; }));
      }
      if (entry.d_tag == DT_RELA) {
        damages.push_back(change<ElfW(Rela)>(entry.d_un.d_ptr, [=](auto& subject) { subject.r_offset += far; }));
        damages.push_back(change<ElfW(Rela)>(entry.d_un.d_ptr, [=](auto& subject) { subject.r_addend += far; }));
      }
      entry_at += sizeof entry;
    }
  }
  ASSERT_GT(damages.size(), 15U);
  expect_refusals(damages);
}

TEST(extension_files, the_current_folder_is_not_searched_for_a_bare_name) {
  const fs::path path = fs::current_path();
  fs::current_path(NACRE_EXTENSIONS_DIR);
  EXPECT_THROW(static_cast<void>(find_extension_file("loaded_counter.so")), setup_error);
  EXPECT_EQ(find_extension_file("./loaded_counter.so"), fs::current_path() / "loaded_counter.so");
  fs::current_path(path);
}

}  // namespace
}  // namespace nacre
