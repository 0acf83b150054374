// SPDX-License-Identifier: Apache-2.0
// Looks for the notes of copies of the runtime in all files that the process has loaded.
#include "runtime/runtime_copies.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "runtime/runtime_note.hpp"

namespace nacre {
namespace {

constexpr std::string_view note_name("Nacre\0", 6);
constexpr std::uint32_t note_type = 1;

std::size_t padded(std::size_t bytes) noexcept { return (bytes + 3) & ~std::size_t{3}; }

/// Whether one of the notes in so many bytes is that of the runtime.
bool has_note(const char* notes, std::size_t bytes) {
  ElfW(Nhdr) head;
  while (bytes >= sizeof head) {
    std::memcpy(&head, notes, sizeof head);
    const std::size_t whole = sizeof head + padded(head.n_namesz) + padded(head.n_descsz);
    if (whole > bytes) return false;
    if (head.n_type == note_type && std::string_view(notes + sizeof head, head.n_namesz) == note_name) return true;
    notes += whole;
    bytes -= whole;
  }
  return false;
}

/// Calls look(header) for the parts of a loaded file that have this type, until one call returns true.
template <class Look>
bool any_part(const dl_phdr_info& file, std::uint32_t type, Look&& look) {
  return std::any_of(file.dlpi_phdr, file.dlpi_phdr + file.dlpi_phnum,
                     [&](const ElfW(Phdr) & part) { return part.p_type == type && look(part); });
}

int look_at(dl_phdr_info* file, std::size_t /*bytes*/, void* match) {
  auto& copies = *static_cast<runtime_copies*>(match);
  const bool holds_copy = any_part(*file, PT_NOTE, [&](const ElfW(Phdr) & part) {
    return has_note(reinterpret_cast<const char*>(file->dlpi_addr + part.p_vaddr), part.p_filesz);
  });
  if (!holds_copy) return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(&look_at);
  const bool is_own = any_part(*file, PT_LOAD, [&](const ElfW(Phdr) & part) {
    return address - (file->dlpi_addr + part.p_vaddr) < part.p_memsz;
  });
  if (is_own) copies.own_is_first = copies.files.empty();
  const bool is_program = file->dlpi_name == nullptr || *file->dlpi_name == '\0';
  copies.files.emplace_back(is_program ? program_invocation_name : file->dlpi_name);
  return 0;
}

}  // namespace

runtime_copies find_runtime_copies() {
  runtime_copies copies;
  ::dl_iterate_phdr(&look_at, &copies);
  return copies;
}

void tell_of_runtime_copies() {
  static std::atomic_flag told;
  const runtime_copies copies = find_runtime_copies();
  if (copies.own_is_first || told.test_and_set()) return;
  std::string files;
  for (const std::string& each : copies.files) files += (files.empty() ? "" : " and in ") + each;
  std::fprintf(stderr,
               "nacre: this process has %zu copies of the runtime, in %s (no message passes from one to another, and "
               "each starts ranks of its own): let one library hold it, and the others call that\n",
               copies.files.size(), files.c_str());
}

}  // namespace nacre
