// SPDX-License-Identifier: Apache-2.0
// Looking and dealing.
#include "balance/balancer/surplus.hpp"

namespace nacre::balance {

void surplus::look(balancer_host& host) {
  waiting_.clear();
  staying_ = 0;
  total_ = 0;
  for (const object_load& each : host.local_loads()) {
    total_ += sane(each.load);
    if (each.running || each.messages == 0) continue;
    if (!worth_moving(each)) {
      ++staying_;
      continue;
    }
    waiting_.push_back(each);
    waiting_.back().load = sane(each.load);
  }
  idle_ = host.idle_workers();
}

std::span<const object_load> surplus::heaviest(std::size_t count) {
  const std::size_t sorted = std::min(count, waiting_.size());
  std::partial_sort(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(sorted), waiting_.end(),
                    [](const object_load& a, const object_load& b) {
                      return a.load > b.load || (a.load == b.load && a.object < b.object);
                    });
  return std::span(waiting_).first(sorted);
}

std::size_t surplus::deal(balancer_host& host, std::span<const rank_id> line, std::size_t objects_max) {
  if (line.empty()) return 0;
  look(host);
  const std::size_t parties = line.size() + 1;
  const std::span<const object_load> cards = heaviest(std::min(spare(), parties * objects_max));
  for (std::size_t card = 0; card < cards.size(); ++card) {
    const std::size_t party = card % parties;
    if (party < line.size()) host.migrate(cards[card].object, line[party]);
  }
  return std::min(cards.size(), line.size());
}

}  // namespace nacre::balance
