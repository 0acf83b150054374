// SPDX-License-Identifier: Apache-2.0
// The checks of a shared object before the loader sees it.
#include "backplane/extension/shared_object.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <system_error>

#include <nacre/error.hpp>

namespace nacre {
namespace {

namespace fs = std::filesystem;

using segment = ElfW(Phdr);
constexpr std::uint64_t page_bytes_min = 4096, page_bytes_max = 65536;

/// Whether [offset, offset + bytes) lies in [0, end).
constexpr bool lies_in(std::uint64_t offset, std::uint64_t bytes, std::uint64_t end) noexcept {
  return offset <= end && bytes <= end - offset;
}

/// The segments that are loaded, in the order of their addresses.
class loaded_segments {
 public:
  loaded_segments(const file_parts& parts, const std::vector<segment>& all) : parts_(parts) {
    for (const segment& each : all) {
      if (each.p_type == PT_LOAD) add(each);
    }
    if (loads_.empty()) parts_.refuse("is damaged: it has no segment that can be loaded");
  }
  /// Whether the addresses lie in one segment; `partner`: flags that it must have.
  [[nodiscard]] bool hold(std::uint64_t address, std::uint64_t bytes, std::uint32_t partner = PF_R) const noexcept {
    return std::any_of(loads_.begin(), loads_.end(), [&](const segment& each) {
      return (each.p_flags & partner) == partner && address >= each.p_vaddr &&
             lies_in(address - each.p_vaddr, bytes, each.p_memsz);
    });
  }
  /// The place in the file of bytes that come from it.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t bytes) const noexcept {
    for (const segment& each : loads_) {
      if (address >= each.p_vaddr && lies_in(address - each.p_vaddr, bytes, each.p_filesz))
        return each.p_offset + (address - each.p_vaddr);
    }
    return std::nullopt;
  }

 private:
  void add(const segment& next) {
    const std::uint64_t end = loads_.empty() ? 0 : loads_.back().p_vaddr + loads_.back().p_memsz;
    const bool fits = next.p_filesz <= next.p_memsz && next.p_vaddr >= end &&
                      next.p_memsz <= std::numeric_limits<std::uint64_t>::max() / 2 - next.p_vaddr &&
                      (next.p_align <= 1 || std::has_single_bit(std::uint64_t{next.p_align})) &&
                      next.p_vaddr % page_bytes_min == next.p_offset % page_bytes_min;
    if (!fits) parts_.refuse("is damaged: the segments that are loaded do not fit together");
    loads_.push_back(next);
  }

  const file_parts& parts_;
  std::vector<segment> loads_;
};

/// The table of the loader: its entries by their tags. Those that may come twice are kept apart.
struct loader_table {
  std::map<std::int64_t, std::uint64_t> values;
  std::vector<std::uint64_t> names;  // offsets in the table of strings
};

loader_table read_loader_table(file_parts& parts, const segment& dynamic) {
  loader_table table;
  for (const auto& each : parts.read_all<ElfW(Dyn)>(dynamic.p_offset, dynamic.p_filesz / sizeof(ElfW(Dyn)))) {
    if (each.d_tag == DT_NULL) return table;
    if (each.d_tag == DT_NEEDED || each.d_tag == DT_SONAME || each.d_tag == DT_RPATH || each.d_tag == DT_RUNPATH) {
      table.names.push_back(each.d_un.d_val);
    }
    table.values[each.d_tag] = each.d_un.d_val;
  }
  parts.refuse("is damaged: the table of its loader has no end");
}

/// A table that the loader reads: the tag of its address, that of its size, and the size of an entry.
struct table_kind {
  std::int64_t address, bytes;
  std::uint64_t entry_bytes;
};
constexpr table_kind tables[] = {
    {DT_STRTAB, DT_STRSZ, 1},
    {DT_RELA, DT_RELASZ, sizeof(ElfW(Rela))},
    {DT_REL, DT_RELSZ, sizeof(ElfW(Rel))},
    {DT_JMPREL, DT_PLTRELSZ, sizeof(void*)},
    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, sizeof(void*)},
    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, sizeof(void*)},
};
/// Addresses of tables that have an end of their own; each has at least one word.
constexpr std::int64_t open_tables[] = {DT_SYMTAB, DT_HASH, DT_GNU_HASH, DT_VERSYM, DT_VERNEED, DT_VERDEF, DT_PLTGOT};

#if defined(__x86_64__)
constexpr std::uint32_t relative = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
constexpr std::uint32_t relative = R_AARCH64_RELATIVE;
#else
constexpr std::uint32_t relative = ~std::uint32_t{0};
#endif

/// Checks the loader's table, and the tables that it names.
class loader_check {
 public:
  loader_check(file_parts& parts, const loaded_segments& loads, const loader_table& table)
      : parts_(parts), loads_(loads), table_(table), text_bytes_(value(DT_STRSZ).value_or(0)) {}

  void run() {
    check_places();
    check_text();
    check_needed_versions();
    check_relocations(DT_RELA, DT_RELASZ);
    if (value(DT_PLTREL) == std::uint64_t{DT_RELA}) check_relocations(DT_JMPREL, DT_PLTRELSZ);
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> value(std::int64_t tag) const {
    const auto match = table_.values.find(tag);
    return match != table_.values.end() ? std::optional(match->second) : std::nullopt;
  }
  void expect(bool sound) const {
    if (!sound) parts_.refuse("is damaged: a table of its loader leads out of what is loaded");
  }
  /// Reads entries that come from the file.
  template <class T>
  [[nodiscard]] std::vector<T> entries(std::uint64_t address, std::uint64_t count) {
    const auto offset = loads_.offset_of(address, count * sizeof(T));
    expect(offset.has_value());
    return parts_.read_all<T>(*offset, count);
  }

  void check_places() const {
    for (const table_kind& each : tables) {
      const auto address = value(each.address), bytes = value(each.bytes);
      if (!address && !bytes) continue;
      expect(address && bytes && *bytes % each.entry_bytes == 0 && loads_.offset_of(*address, *bytes));
    }
    for (const std::int64_t each : open_tables) {
      const auto address = value(each);
      expect(!address || loads_.hold(*address, sizeof(std::uint32_t)));
    }
    for (const std::int64_t each : {std::int64_t{DT_INIT}, std::int64_t{DT_FINI}}) {
      const auto address = value(each);
      expect(!address || loads_.hold(*address, 1, PF_X));
    }
    expect(value(DT_SYMTAB) && (value(DT_HASH) || value(DT_GNU_HASH)));
    expect(value(DT_SYMENT).value_or(sizeof(ElfW(Sym))) == sizeof(ElfW(Sym)));
    expect(value(DT_RELAENT).value_or(sizeof(ElfW(Rela))) == sizeof(ElfW(Rela)));
  }
  void check_text() {
    expect(text_bytes_ != 0 && value(DT_STRTAB));
    for (const std::uint64_t name : table_.names) expect(name < text_bytes_);
    expect(entries<char>(*value(DT_STRTAB) + text_bytes_ - 1, 1).front() == '\0');
  }
  /// The versions that it needs of other libraries: a list of lists, each entry with the distance of the next.
  void check_needed_versions() {
    const auto first = value(DT_VERNEED);
    for (std::uint64_t index = first.value_or(0), file = 0; first && file < value(DT_VERNEEDNUM).value_or(0); ++file) {
      const auto library = entries<ElfW(Verneed)>(index, 1).front();
      expect(library.vn_file < text_bytes_);
      std::uint64_t version_at = index + library.vn_aux;
      for (std::uint32_t each = 0; each < library.vn_cnt; ++each) {
        const auto version = entries<ElfW(Vernaux)>(version_at, 1).front();
        expect(version.vna_name < text_bytes_ && (version.vna_next != 0) == (each + 1U < library.vn_cnt));
        version_at += version.vna_next;
      }
      expect((library.vn_next != 0) == (file + 1 < value(DT_VERNEEDNUM).value_or(0)));
      index += library.vn_next;
    }
  }
  void check_relocations(std::int64_t table, std::int64_t bytes) {
    if (!value(table)) return;
    for (const auto& each : entries<ElfW(Rela)>(*value(table), *value(bytes) / sizeof(ElfW(Rela)))) {
      expect(loads_.hold(each.r_offset, sizeof(void*), PF_W));
      if (ELF64_R_TYPE(each.r_info) == relative) {
        expect(loads_.hold(static_cast<std::uint64_t>(each.r_addend), 0));
        continue;
      }
      const std::uint64_t index = *value(DT_SYMTAB) + ELF64_R_SYM(each.r_info) * sizeof(ElfW(Sym));
      const auto symbol = entries<ElfW(Sym)>(index, 1).front();
      expect(symbol.st_name < text_bytes_ && (symbol.st_shndx == SHN_UNDEF || loads_.hold(symbol.st_value, 0) ||
                                              symbol.st_shndx == SHN_ABS || ELF64_ST_TYPE(symbol.st_info) == STT_TLS));
    }
  }

  file_parts& parts_;
  const loaded_segments& loads_;
  const loader_table& table_;
  const std::uint64_t text_bytes_;
};

}  // namespace

file_parts::file_parts(const fs::path& file) : path_(file), in_(file, std::ios::binary) {
  std::error_code problem;
  bytes_ = fs::file_size(file, problem);
  if (!in_ || problem) refuse("cannot be read");
}

void file_parts::refuse(const std::string& problem) const {
  throw setup_error({.problem = path_.string() + " " + problem,
                     .why = "an extension module runs inside the runtime, so it is checked before any of its code runs",
                     .remedy = "name a shared object of this machine that has NACRE_EXTENSION(class) in it"});
}

std::vector<std::byte> file_parts::read(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes > part_bytes_max) refuse("is damaged");
  if (!lies_in(offset, bytes, bytes_)) refuse("is no complete shared object");
  std::vector<std::byte> part(bytes);
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(offset));
  in_.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(bytes));
  if (!in_) refuse("is no complete shared object");
  return part;
}

ElfW(Ehdr) read_head(file_parts& parts) {
  const auto head = parts.read_all<ElfW(Ehdr)>(0, 1).front();
  ElfW(Ehdr) own_head{};  // of this program's own kind
  own_head.e_machine =
#if defined(__x86_64__)
      EM_X86_64;
#elif defined(__aarch64__)
      EM_AARCH64;
#else
      head.e_machine;
#endif
  const bool fits = std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                    head.e_ident[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) &&
                    head.e_machine == own_head.e_machine && head.e_type == ET_DYN &&
                    head.e_phentsize == sizeof(ElfW(Phdr)) && head.e_shentsize == sizeof(ElfW(Shdr));
  if (!fits) parts.refuse("is no shared object of this machine");
  return head;
}

std::vector<segment> read_segments(file_parts& parts, const ElfW(Ehdr) & head) {
  return parts.read_all<segment>(head.e_phoff, head.e_phnum);
}

void check_segments(file_parts& parts, const ElfW(Ehdr) & head) {
  const std::vector<segment> all = read_segments(parts, head);
  const segment* dynamic = nullptr;
  for (const segment& each : all) {
    if (each.p_type != PT_GNU_STACK && !lies_in(each.p_offset, each.p_filesz, parts.bytes())) {
      parts.refuse("is no complete shared object: a segment ends behind the end of the file");
    }
    if (each.p_type == PT_DYNAMIC) dynamic = &each;
  }
  const loaded_segments loads(parts, all);
  for (const segment& each : all) {
    const bool in_memory = each.p_type == PT_DYNAMIC || each.p_type == PT_GNU_RELRO || each.p_type == PT_NOTE ||
                           each.p_type == PT_GNU_EH_FRAME || each.p_type == PT_PHDR;
    // The part that becomes read-only may reach to the end of a page.
    const bool to_page = each.p_type == PT_GNU_RELRO;
    const bool kept = !in_memory || loads.hold(each.p_vaddr, to_page ? 1 : each.p_memsz);
    const bool image = each.p_type != PT_TLS || loads.offset_of(each.p_vaddr, each.p_filesz);
    const bool too_long = to_page && each.p_memsz > each.p_filesz + page_bytes_max;
    if (!kept || !image || too_long) parts.refuse("is damaged: a segment lies outside of what is loaded");
  }
  if (dynamic == nullptr || loads.offset_of(dynamic->p_vaddr, dynamic->p_filesz) != dynamic->p_offset) {
    parts.refuse("is damaged: it has no table for its loader");
  }
  const loader_table table = read_loader_table(parts, *dynamic);
  loader_check(parts, loads, table).run();
}

}  // namespace nacre
