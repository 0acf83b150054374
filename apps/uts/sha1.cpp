// SPDX-License-Identifier: Apache-2.0
// Choice of the SHA-1 implementation, and the root's state.
#include "sha1.hpp"

#include <nacre/error.hpp>

#include "sha1_lanes.hpp"

namespace uts {

sha1_kernel select_sha1(sha1_choice choice) {
  constexpr sha1_kernel portable{"portable", hash_children_portable};
  constexpr sha1_kernel native{"native", hash_children_native};
  if (choice == sha1_choice::portable) return portable;
  if (native_sha1_available()) return native;
  if (choice == sha1_choice::automatic) return portable;
  throw nacre::setup_error({"--sha native cannot run", "this processor has no SHA instructions that this build knows",
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
