// SPDX-License-Identifier: Apache-2.0
// Collecting and sending.
#include "mobile/location/bulk_news.hpp"

#include <algorithm>
#include <utility>

namespace nacre {

bulk_news::bulk_news(std::size_t contexts, std::uint64_t bound) : bound_(bound) {
  for (std::size_t each = 0; each < contexts; ++each) contexts_.push_back(std::make_unique<context_news>());
}

bool bulk_news::tell(std::size_t context, rank_id target, const object_news& news, std::uint64_t now,
                     const sender& send) {
  context_news& context_news = *contexts_[context];
  batch leaving;
  bool first = false;
  {
    const std::scoped_lock lock(context_news.guard);
    collection& collection = context_news.of_rank[target];
    const bool lately = collection.ever && now - collection.sent_at <= bound_;
    collection.news.push_back(news);
    if (lately && !std::exchange(collection.listed, true)) {
      if (context_news.open.empty()) {
        first = true;
        context_news.since = now;
        waiting_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in empty
      }
      context_news.open.push_back(target);
    }
    if (lately && collection.news.size() < count_max) return first;
    leaving = std::exchange(collection.news, {});
    collection.sent_at = now;
    collection.ever = true;
  }
  send(target, std::move(leaving));
  return first;
}

void bulk_news::flush_to(rank_id target, std::uint64_t now, const sender& send) {
  if (empty()) return;
  for (const auto& each : contexts_) {
    batch leaving;
    {
      const std::scoped_lock lock(each->guard);
      const auto match = each->of_rank.find(target);
      if (match == each->of_rank.end() || match->second.news.empty()) continue;
      leaving = std::exchange(match->second.news, {});  // the rank stays listed until the poll loop comes
      match->second.sent_at = now;
    }
    send(target, std::move(leaving));
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
      for (const rank_id target : std::exchange(each->open, {})) {
        collection& collection = each->of_rank[target];
        collection.listed = false;
        if (collection.news.empty()) continue;
        leaving.emplace_back(target, std::exchange(collection.news, {}));
        collection.sent_at = now;
      }
      waiting_.fetch_sub(1, std::memory_order_release);  // as in tell
    }
    for (auto& [target, news] : leaving) send(target, std::move(news));
  }
  return soonest;
}

}  // namespace nacre
