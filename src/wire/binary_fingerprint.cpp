// SPDX-License-Identifier: Apache-2.0
// Finds the build-id in the program's own memory, or hashes its file.
#include "wire/binary_fingerprint.hpp"

#include <elf.h>
#include <link.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <nacre/error.hpp>

namespace nacre {

namespace {

/// A hash that takes its input piece by piece, cut to 64 bits.
class hash64 {
 public:
  hash64() { crypto_generichash_init(&state_, nullptr, 0, crypto_generichash_BYTES_MIN); }

  void add(std::span<const std::byte> bytes) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }

  [[nodiscard]] std::uint64_t result() {
    std::array<unsigned char, crypto_generichash_BYTES_MIN> digest{};
    crypto_generichash_final(&state_, digest.data(), digest.size());
    std::uint64_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    return number;
  }

 private:
  crypto_generichash_state state_;
};

/// dl_iterate_phdr calls this for a loaded module. The first module is the executable; returning 1 ends the walk there.
int look_at_executable(dl_phdr_info* module, std::size_t, void* match) {
  auto& fingerprint = *static_cast<std::optional<std::uint64_t>*>(match);
  for (std::size_t i = 0; i < module->dlpi_phnum && !fingerprint; ++i) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const std::byte*>(module->dlpi_addr + segment.p_vaddr);
    if (const auto id = find_build_id({notes, segment.p_memsz}, segment.p_align)) {
      hash64 hash;
      hash.add(*id);
      fingerprint = hash.result();
    }
  }
  return 1;
}

}  // namespace

std::optional<std::span<const std::byte>> find_build_id(std::span<const std::byte> notes, std::size_t alignment) {
  const std::size_t unit = alignment == 8 ? 8 : 4;
  const auto padded = [unit](std::size_t bytes) { return (bytes + unit - 1) / unit * unit; };
  constexpr std::string_view owner("GNU\0", 4);
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const std::size_t id_at = padded(sizeof head + head.n_namesz);
    const std::size_t id_end = id_at + head.n_descsz;
    if (id_end > notes.size()) return std::nullopt;
    const bool named =
        head.n_namesz == owner.size() && std::memcmp(notes.data() + sizeof head, owner.data(), owner.size()) == 0;
    if (named && head.n_type == NT_GNU_BUILD_ID && head.n_descsz > 0) return notes.subspan(id_at, head.n_descsz);
    notes = notes.subspan(std::min(notes.size(), padded(id_end)));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> file_fingerprint(const char* path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), &std::fclose);
  if (file == nullptr) return std::nullopt;
  hash64 hash;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  while (const std::size_t bytes = std::fread(piece.data(), 1, piece.size(), file.get())) {
    hash.add(std::span<const std::byte>(piece).first(bytes));
  }
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return hash.result();
}

std::uint64_t binary_fingerprint() {
  std::optional<std::uint64_t> fingerprint;
  dl_iterate_phdr(&look_at_executable, &fingerprint);
  if (!fingerprint) fingerprint = file_fingerprint("/proc/self/exe");
  if (!fingerprint) {
    throw setup_error({.problem = "the executable has no fingerprint",
                       .why = "ranks compare it to be sure that they run the same program",
                       .remedy = "link with -Wl,--build-id, or mount /proc"});
  }
  return *fingerprint;
}

}  // namespace nacre
