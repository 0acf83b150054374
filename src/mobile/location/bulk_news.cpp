// SPDX-License-Identifier: Apache-2.0
// Collecting and sending.
#include "mobile/location/bulk_news.hpp"

#include <algorithm>
#include <utility>

namespace nacre {

bulk_news::bulk_news(std::size_t contexts, std::uint64_t bound) : bound_(bound) {
  for (std::size_t each = 0; each < contexts; ++each) contexts_.push_back(std::make_unique<context_news>());
}

bool bulk_news::tell(std::size_t context, rank_id to, const object_news& news, std::uint64_t now, const sender& send) {
  context_news& own = *contexts_[context];
  batch leaving;
  bool first = false;
  {
    const std::scoped_lock lock(own.guard);
    collection& into = own.of_rank[to];
    const bool lately = into.ever && now - into.sent_at <= bound_;
    into.news.push_back(news);
    if (lately && !std::exchange(into.listed, true)) {
      if (own.open.empty()) {
        first = true;
        own.since = now;
        waiting_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in empty
      }
      own.open.push_back(to);
    }
    if (lately && into.news.size() < count_max) return first;
    leaving = std::exchange(into.news, {});
    into.sent_at = now;
    into.ever = true;
  }
  send(to, std::move(leaving));
  return first;
}

void bulk_news::flush_to(rank_id to, std::uint64_t now, const sender& send) {
  if (empty()) return;
  for (const auto& each : contexts_) {
    batch leaving;
    {
      const std::scoped_lock lock(each->guard);
      const auto found = each->of_rank.find(to);
      if (found == each->of_rank.end() || found->second.news.empty()) continue;
      leaving = std::exchange(found->second.news, {});  // the rank stays listed until the poll loop comes
      found->second.sent_at = now;
    }
    send(to, std::move(leaving));
  }
}

/// If polls are rarer than the bound, handlers are long; then all waiting news leaves at each poll.
std::uint64_t bulk_news::flush_overdue(std::uint64_t now, bool all, const sender& send) {
  const bool rare = now - std::exchange(polled_at_, now) >= bound_;
  if (empty()) return 0;
  std::uint64_t soonest = 0;
  for (const auto& each : contexts_) {
    std::vector<std::pair<rank_id, batch>> leaving;
    {
      const std::scoped_lock lock(each->guard);
      if (each->open.empty()) continue;
      if (!all && !rare && now < each->since + bound_) {
        soonest = soonest == 0 ? each->since + bound_ : std::min(soonest, each->since + bound_);
        continue;
      }
      for (const rank_id to : std::exchange(each->open, {})) {
        collection& from = each->of_rank[to];
        from.listed = false;
        if (from.news.empty()) continue;
        leaving.emplace_back(to, std::exchange(from.news, {}));
        from.sent_at = now;
      }
      waiting_.fetch_sub(1, std::memory_order_release);  // as in tell
    }
    for (auto& [to, news] : leaving) send(to, std::move(news));
  }
  return soonest;
}

}  // namespace nacre
