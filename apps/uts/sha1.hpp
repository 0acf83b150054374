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

/// Which implementation to use. `automatic` takes the fastest that this processor can run.
enum class sha1_choice { automatic, portable, native };

/// Needs nothing beyond the language (and gcc's vector extension, which every target of gcc and clang has).
hash_children_function hash_children_portable;

/// Uses the processor's SHA instructions. Call it only where native_sha1_available().
hash_children_function hash_children_native;

/// Whether this processor has the instructions that hash_children_native needs. Asks the processor each time.
[[nodiscard]] bool native_sha1_available() noexcept;

/// Throws nacre::setup_error when `native` is asked for and this processor cannot.
[[nodiscard]] sha1_kernel select_sha1(sha1_choice choice);

/// The root's state: SHA1(16 zero bytes, be32(seed)).
[[nodiscard]] sha1_state sha1_root(std::uint32_t seed) noexcept;

}  // namespace uts
