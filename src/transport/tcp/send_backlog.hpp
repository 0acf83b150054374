// SPDX-License-Identifier: Apache-2.0
// The links of an endpoint with bytes that no socket has taken yet.
#pragma once

#include <cstddef>
#include <vector>

namespace nacre::transport::tcp {

/// A link whose socket is full is not tried again before the kernel has told that it takes more: a call that fails
/// costs as much as one that sends, and there may be a thousand such links at every poll. `Link` is a peer_link, or
/// stands for it in tests. One thread.
template <class Link>
class send_backlog {
 public:
  [[nodiscard]] bool empty() const noexcept { return links_.empty(); }

  /// A link with unsent bytes, which is not here yet. Those of channel system come first.
  void add(Link& link) {
    links_.insert(link.number() == 0 ? links_.begin() : links_.end(), &link);
    all_blocked_ = false;
  }
  void remove(const Link& link) { std::erase(links_, &link); }
  void clear() noexcept { links_.clear(); }

  /// The socket of a link takes bytes again.
  void note_writable(Link& link) noexcept {
    link.note_writable();
    all_blocked_ = false;
  }

  /// Lets the links send that are not blocked, and `watched_here`, of which no event may tell; null: none. Calls
  /// `drained(link)` for each that leaves the backlog. True when bytes moved.
  template <class Drained>
  bool flush(const Link* watched_here, Drained&& drained) {
    const bool is_tried = watched_here != nullptr && watched_here->unsent_bytes() != 0;
    if (all_blocked_ && !is_tried) return false;
    return flush_those([&](const Link& link) { return !link.blocked() || &link == watched_here; }, drained);
  }
  /// Lets all links send, blocked or not; otherwise as `flush`.
  template <class Drained>
  bool flush_all(Drained&& drained) {
    return flush_those([](const Link&) { return true; }, drained);
  }

 private:
  template <class Condition, class Drained>
  bool flush_those(Condition&& may_send, Drained& drained) {
    bool moved = false;
    all_blocked_ = true;
    std::erase_if(links_, [&](Link* link) {
      if (may_send(*link)) moved |= link->flush();
      const bool is_over = link->unsent_bytes() == 0;
      all_blocked_ &= is_over || link->blocked();
      if (is_over) drained(*link);
      return is_over;
    });
    return moved;
  }

  std::vector<Link*> links_;
  bool all_blocked_ = true;  // as far as known
};

}  // namespace nacre::transport::tcp
