// SPDX-License-Identifier: Apache-2.0
// Reads the notes and symbols of a module's file, and loads it.
#include "backplane/extension/extension_file.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include <nacre/error.hpp>

#include "backplane/extension/shared_object.hpp"
#include "base/exception_text.hpp"
#include "transport/module_file.hpp"

namespace nacre {
namespace {

namespace fs = std::filesystem;

constexpr const char* entry_symbol = "nacre_make_extension";

[[noreturn]] void refuse_file(const fs::path& file, const std::string& problem, const std::string& remedy) {
  throw setup_error({.problem = file.string() + " " + problem,
                     .why = "an extension module runs inside the runtime, so it is checked before any of its code runs",
                     .remedy = remedy});
}

[[noreturn]] void refuse_kind(const fs::path& file, const std::string& problem) {
  refuse_file(file, problem, "name a shared object of this machine that has NACRE_EXTENSION(class) in it");
}

/// Our note among those of a segment, if it is there in full.
std::optional<detail::extension_note> note_among(std::span<const std::byte> notes, std::size_t alignment) {
  const std::size_t unit = alignment == 8 ? 8 : 4;
  const auto padded = [unit](std::size_t bytes) { return (bytes + unit - 1) / unit * unit; };
  const detail::extension_note own_note;
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const std::size_t bytes = padded(padded(sizeof head + head.n_namesz) + head.n_descsz);
    const bool ours = head.n_type == own_note.type && head.n_namesz == own_note.name_bytes &&
                      notes.size() >= sizeof own_note &&
                      std::memcmp(notes.data() + sizeof head, own_note.owner, sizeof own_note.owner) == 0;
    if (ours) {
      detail::extension_note extension_note;
      std::memcpy(&extension_note, notes.data(), sizeof extension_note);
      extension_note.module[sizeof extension_note.module - 1] = '\0';
      extension_note.build[sizeof extension_note.build - 1] = '\0';
      return extension_note;
    }
    notes = notes.subspan(std::min(notes.size(), bytes));
  }
  return std::nullopt;
}

std::optional<detail::extension_note> find_note(file_parts& parts, const ElfW(Ehdr) & head) {
  for (const auto& segment : read_segments(parts, head)) {
    if (segment.p_type != PT_NOTE) continue;
    const auto notes = parts.read(segment.p_offset, segment.p_filesz);
    if (const auto extension_note = note_among(notes, segment.p_align)) return extension_note;
  }
  return std::nullopt;
}

bool defines(file_parts& parts, const ElfW(Ehdr) & head, std::string_view symbol) {
  const auto sections = parts.read_all<ElfW(Shdr)>(head.e_shoff, head.e_shnum);
  for (const auto& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const auto& text = sections[section.sh_link];
    const auto names = parts.read(text.sh_offset, text.sh_size);
    for (const auto& each : parts.read_all<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
      if (each.st_shndx == SHN_UNDEF || each.st_name >= names.size()) continue;
      const char* const begin = reinterpret_cast<const char*>(names.data()) + each.st_name;
      if (std::string_view(begin, ::strnlen(begin, names.size() - each.st_name)) == symbol) return true;
    }
  }
  return false;
}

}  // namespace

fs::path find_extension_file(const std::string& written) {
  if (written.find('/') != std::string::npos) return fs::absolute(written).lexically_normal();
  const auto places = transport::places_of_module(written, {});
  if (const fs::path* const path = transport::find_module(places)) return *path;
  throw setup_error({.problem = "there is no extension module " + written + " in " + transport::list_places(places),
                     .why = "the current folder is not searched, since it must not decide what code is loaded",
                     .remedy = "write its path, such as ./" + written});
}

std::string check_extension_file(const fs::path& file) {
  file_parts parts(file);
  const ElfW(Ehdr) head = read_head(parts);
  const auto note = find_note(parts, head);
  if (!note) refuse_kind(file, "is no extension module");
  const detail::extension_note extension_note;
  const std::string remedy = "compile it again, with the headers of this Nacre and the compiler of this program";
  if (note->version != extension_note.version) {
    refuse_file(file,
                "has version " + std::to_string(note->version) + " of the interface of extension modules, where " +
                    "this program has version " + std::to_string(extension_note.version),
                remedy);
  }
  if (std::string_view(note->build) != extension_note.build) {
    refuse_file(
        file, std::string("was built by ") + note->build + ", where this program was built by " + extension_note.build,
        remedy);
  }
  if (note->module[0] == '\0') refuse_kind(file, "is an extension module without a name");
  if (!defines(parts, head, entry_symbol)) {
    refuse_file(file, std::string("lacks the symbol ") + entry_symbol,
                "write NACRE_EXTENSION(class) in it once, and let the linker keep it");
  }
  check_segments(parts, head);
  return note->module;
}

extension_file load_extension_file(const std::string& written) {
  const fs::path file = find_extension_file(written);
  extension_file result{.name = check_extension_file(file), .make = {}, .keeps = {}};
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    refuse_file(file, std::string("cannot be loaded: ") + ::dlerror(),
                "link it with the libraries that it needs; of the program it can use what is in <nacre/extension.hpp>");
  }
  result.keeps = std::shared_ptr<void>(handle, [](void* loaded) { ::dlclose(loaded); });
  using factory = extension* (*)(const config&);
  const auto make = reinterpret_cast<factory>(::dlsym(handle, entry_symbol));
  if (make == nullptr) refuse_file(file, std::string("lacks the symbol ") + entry_symbol, "link it again");
  result.make = [make, name = result.name](const config& configuration) {
    try {
      return std::unique_ptr<extension>(make(configuration));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {  // its class may be in the file, which is unloaded before the exception is caught
      throw setup_error("the factory of the extension module " + name + " threw: " + text_of_thrown());
    }
  };
  return result;
}

}  // namespace nacre
