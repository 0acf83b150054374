// SPDX-License-Identifier: Apache-2.0
// SHA-1 as the source of randomness of the trees: a node's state is a digest, its children's are digests of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace uts {

/// The random state of one node: a SHA-1 digest as five words in host order (word 0 holds the digest's first 4 bytes).
struct sha1_state {
  std::array<std::uint32_t, 5> words;
  friend bool operator==(const sha1_state&, const sha1_state&) = default;
};

/// One hash to compute: child number `child` of `parents[parent]`.
struct child_ref {
  std::uint32_t parent;
  std::uint32_t child;
};

/// Computes out[k] = SHA1(the 20 bytes of parents[jobs[k].parent], be32(jobs[k].child)) for every job.
///
/// Jobs are independent and come in any order, so that an implementation fills its lanes with siblings and with
/// children of different parents alike. `out` has room for jobs.size() states and overlaps neither input.
/// Reentrant; any number of threads may call it at once.
using hash_children_function = void(const sha1_state* parents, std::span<const child_ref> jobs, sha1_state* out);

/// One implementation of the hash. All give the same digests.
struct sha1_kernel {
  std::string_view name;
  hash_children_function* hash_children;
};

/// Which implementation to use. `automatic` takes the first of avx512, avx2, shani and portable that this processor can
/// run; the order is that of their speed (bin/uts --sequential --sha NAME).
enum class sha1_choice { automatic, avx512, avx2, shani, portable };

/// Their names, in the order of sha1_choice.
inline constexpr std::array<std::string_view, 5> sha1_names{"auto", "avx512", "avx2", "shani", "portable"};

/// Four lanes of gcc's vector extension, which every target of gcc and clang has.
hash_children_function hash_children_portable;
/// Four at a time by the processor's SHA instructions. Call these three only where sha1_available().
hash_children_function hash_children_shani;
/// Eight lanes of AVX2.
hash_children_function hash_children_avx2;
/// Sixteen lanes of AVX-512.
hash_children_function hash_children_avx512;

/// Whether this processor and its system can run an implementation. Asks the processor each time.
[[nodiscard]] bool sha1_available(sha1_choice choice) noexcept;

/// Throws nacre::setup_error when this processor cannot run the one asked for.
[[nodiscard]] sha1_kernel select_sha1(sha1_choice choice);

/// The root's state: SHA1(16 zero bytes, be32(seed)).
[[nodiscard]] sha1_state sha1_root(std::uint32_t seed) noexcept;

}  // namespace uts
