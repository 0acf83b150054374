// SPDX-License-Identifier: Apache-2.0
// Choice of the SHA-1 implementation, and the root's state.
#include "sha1.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstddef>
#include <nacre/error.hpp>
#include <stdexcept>
#include <string>

#include "sha1_lanes.hpp"

namespace uts {
#if defined(__x86_64__)
namespace {

/// The one feature that __builtin_cpu_supports of gcc 12 does not know.
bool sha_instructions() noexcept {
  constexpr unsigned sha_bit = 1u << 29;  // leaf 7, ebx
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha_bit) != 0;
}

}  // namespace
#endif

bool sha1_available(sha1_choice choice) noexcept {
  switch (choice) {
#if defined(__x86_64__)
    case sha1_choice::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
    case sha1_choice::avx2:
      return __builtin_cpu_supports("avx2") != 0;
    case sha1_choice::shani:
      return sha_instructions() && __builtin_cpu_supports("sse4.1") != 0;
#else
    case sha1_choice::avx512:
    case sha1_choice::avx2:
    case sha1_choice::shani:
      return false;
#endif
    case sha1_choice::automatic:
    case sha1_choice::portable:
      break;
  }
  return true;
}

sha1_kernel select_sha1(sha1_choice choice) {
  constexpr std::array<hash_children_function*, 5> functions{nullptr, hash_children_avx512, hash_children_avx2,
                                                             hash_children_shani, hash_children_portable};
  auto index = static_cast<std::size_t>(choice);
  if (index >= functions.size()) throw std::out_of_range("a choice of SHA-1 that does not exist");
  if (choice == sha1_choice::automatic) {
    do {
      ++index;
    } while (!sha1_available(static_cast<sha1_choice>(index)));  // portable is the last and always there
  }
  const std::string name(sha1_names[index]);
  if (sha1_available(static_cast<sha1_choice>(index))) return {sha1_names[index], functions[index]};
  throw nacre::setup_error({"--sha " + name + " cannot run", "this processor has no such instructions",
                            "try --sha portable, or --sha auto to take the best there is"});
}

sha1_state sha1_root(std::uint32_t seed) noexcept {
  std::uint32_t w[16] = {};
  w[4] = seed;
  w[5] = 0x80000000u;
  w[15] = 160;
  const sha1_variables<std::uint32_t> digest = sha1_compress(w);
  return {{digest.a, digest.b, digest.c, digest.d, digest.e}};
}

}  // namespace uts
