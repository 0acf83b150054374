// SPDX-License-Identifier: Apache-2.0
// Asks the dynamic loader for its list of files.
#include "base/loaded_files.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <utility>

namespace nacre {
namespace {

int add_file(dl_phdr_info* file, std::size_t /*bytes*/, void* list) {
  auto& files = *static_cast<std::vector<loaded_file>*>(list);
  loaded_file& added = files.emplace_back();
  if (file->dlpi_name != nullptr) added.path = file->dlpi_name;
  for (const ElfW(Phdr) & each : std::span(file->dlpi_phdr, file->dlpi_phnum)) {
    const loaded_file::part part{file->dlpi_addr + each.p_vaddr, each.p_memsz, each.p_align};
    if (each.p_type == PT_LOAD) added.parts.push_back(part);
    if (each.p_type == PT_NOTE) added.notes.push_back(part);
  }
  return 0;
}

}  // namespace

bool loaded_file::holds(const void* address) const noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  return std::ranges::any_of(parts, [&](const part& each) { return place - each.begin < each.bytes; });
}

std::vector<loaded_file> loaded_files() {
  std::vector<loaded_file> files;
  ::dl_iterate_phdr(&add_file, &files);
  return files;
}

held_library::held_library(const std::string& path) noexcept
    : handle_(::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {}

held_library::held_library(held_library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

held_library::~held_library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

}  // namespace nacre
