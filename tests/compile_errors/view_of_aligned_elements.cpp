// SPDX-License-Identifier: Apache-2.0
// A handler that would look at elements in its message that are aligned more than the message.
//
// error: nacre: a message is aligned to 16 bytes, so a handler cannot look at elements in it that need more: take
#include <nacre/nacre.hpp>

#include <cstddef>
#include <span>
#include <vector>

struct alignas(64) wide {
  double values[8]{};
};

#ifdef FIXED
std::size_t count(const std::vector<wide>& many) { return many.size(); }
#else
std::size_t count(std::span<const wide> many) { return many.size(); }
#endif

std::size_t ask(nacre::runtime& rt) { return rt.call<count>(nacre::rank_id{0}, std::vector<wide>(3)).get(); }
