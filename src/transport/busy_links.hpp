// SPDX-License-Identifier: Apache-2.0
// The links of an endpoint on which messages wait for room.
#pragma once

#include <cstddef>
#include <vector>

namespace nacre::transport {

/// A set without order. Link names a link. One thread, or a lock.
template <class Link>
class busy_links {
 public:
  /// The link must not be in the set.
  void add(Link link) { all_.push_back(link); }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  void clear() noexcept { all_.clear(); }

  /// Calls advance(link) for each link, and removes those for which it returns false: nothing waits there any more.
  /// `advance` adds no link.
  template <class Advance>
  void visit(Advance advance) {
    for (std::size_t i = 0; i < all_.size();) {
      if (advance(all_[i])) {
        ++i;
      } else {
        all_[i] = all_.back();
        all_.pop_back();
      }
    }
  }

 private:
  std::vector<Link> all_;
};

}  // namespace nacre::transport
