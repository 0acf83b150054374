// SPDX-License-Identifier: Apache-2.0
// The table of watched calls.
#include "am/watched_calls.hpp"

namespace nacre {

watched_calls::answer watched_calls::ask(rank_id source, std::uint64_t call) {
  const std::scoped_lock lock(mutex_);
  if (!gone_.empty() && gone_.count(source.value()) != 0) return answer::given_up;
  const auto [known, is_new] = calls_.try_emplace(name(source.value(), call), false);
  if (is_new) return answer::first;
  return known->second ? answer::given_up : answer::waits;
}

void watched_calls::note(rank_id source, std::uint64_t call, call_news news) {
  const std::scoped_lock lock(mutex_);
  const auto known = calls_.find(name(source.value(), call));
  if (known == calls_.end()) return;
  if (news == call_news::over) {
    calls_.erase(known);
  } else {
    known->second = true;
  }
}

void watched_calls::note_gone(rank_id source) {
  const std::scoped_lock lock(mutex_);
  gone_.insert(source.value());
}

std::size_t watched_calls::count() const {
  const std::scoped_lock lock(mutex_);
  return calls_.size();
}

}  // namespace nacre
