// SPDX-License-Identifier: Apache-2.0
// The transitions of a colocation; the states stand in the header.
#include "mobile/colocate/coordinator.hpp"

#include <algorithm>

#include <nacre/assert.hpp>

#include "base/marks.hpp"

namespace nacre {

using kind = colocate_action::kind;

namespace {

/// Whether the news comes late, from a destroyed object that is no longer a participant. Two cases: `gone`, when the
/// object ended before it heard that it may go on; `ready`, when it had moved before it ended, so that its `ready`
/// comes from another rank, after its `gone`.
bool is_late(const colocate_news& news) {
  if (news.step == colocate_step::gone) {
    NACRE_MARK("an object is destroyed before it hears that its colocation has failed");
    return true;
  }
  return news.step == colocate_step::ready;  // too rare for a mark: a few in 10,000 random simulated runs
}

}  // namespace

std::uint64_t coordinator::begin(std::span<const object_id> objects) {
  NACRE_EXPECT(!objects.empty() && objects.size() <= participants_max, "a colocation has 1 to 1,024 objects");
  colocation colocation;
  colocation.number = ++last_;
  for (const object_id each : objects) colocation.all.push_back({.object = each});
  // All colocations of all ranks acquire objects in one order, so they cannot wait for each other in a circle.
  std::sort(colocation.all.begin(), colocation.all.end(),
            [](const participant& a, const participant& b) { return a.object.value() < b.object.value(); });
  open_.emplace(colocation.number, std::move(colocation));
  return last_;
}

bool coordinator::on(rank_id source, const colocate_news& news, actions& next) {
  const auto match = open_.find(news.number);
  if (match == open_.end()) return news.number <= last_ && is_late(news);
  colocation& colocation = match->second;
  const auto member = std::find_if(colocation.all.begin(), colocation.all.end(),
                                   [&](const participant& p) { return p.object == news.object; });
  if (member == colocation.all.end()) return false;
  switch (news.step) {
    case colocate_step::ready:
      return on_ready(colocation, *member, news, next);
    case colocate_step::acquired:
      if (member->now != standing::asked) return false;
      member->rank = source;
      member->bytes = news.bytes;
      member->stays = news.stays;
      return on_acquired(colocation, *member, next);
    case colocate_step::arrived:
      if (colocation.now != phase::moving || source != colocation.target || member->rank == colocation.target)
        return false;
      member->rank = source;
      run_if_all_are_there(colocation, next);
      return true;
    case colocate_step::gone:
      return on_gone(colocation, *member, news, next);
  }
  return false;
}

bool coordinator::on_ready(colocation& colocation, participant& member, const colocate_news& news, actions& next) {
  if (member.now == standing::over && member.destroyed) return is_late(news);
  if (member.now != standing::awaited) return false;
  member.now = standing::ready;
  if (colocation.now == phase::ending) {
    end(colocation, member, next);
    forget_if_over(colocation, next);
    return true;
  }
  const bool all = std::all_of(colocation.all.begin(), colocation.all.end(),
                               [](const participant& p) { return p.now == standing::ready; });
  if (all) {
    colocation.now = phase::acquiring;
    static_cast<void>(acquire_next(colocation, next));
  }
  return true;
}

bool coordinator::acquire_next(colocation& colocation, actions& next) {
  for (participant& each : colocation.all) {
    if (each.now != standing::ready) continue;
    each.now = standing::asked;
    next.push_back({.operation = kind::acquire, .number = colocation.number, .object = each.object});
    return true;
  }
  return false;
}

bool coordinator::on_acquired(colocation& colocation, participant& member, actions& next) {
  member.now = standing::acquired;
  if (colocation.now == phase::ending) {
    end(colocation, member, next);
    forget_if_over(colocation, next);
  } else if (!acquire_next(colocation, next)) {
    move_objects(colocation, next);
  }
  return true;
}

/// Chooses the rank of the function: the rank of the objects that refuse to move; else the rank with most objects, and
/// of several such ranks the one with most bytes. False when objects on different ranks refuse to move.
bool coordinator::choose_place(colocation& colocation) {
  const participant* fixed = nullptr;
  for (const participant& each : colocation.all) {
    if (!each.stays) continue;
    if (fixed != nullptr && fixed->rank != each.rank) return false;
    fixed = &each;
  }
  if (fixed != nullptr) {
    NACRE_MARK("a colocation runs where an object refuses to move");
    colocation.target = fixed->rank;
    return true;
  }
  std::size_t most = 0;
  std::uint64_t most_bytes = 0;
  for (const participant& place : colocation.all) {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    for (const participant& each : colocation.all) {
      if (each.rank != place.rank) continue;
      ++count;
      bytes += each.bytes;
    }
    if (count < most || (count == most && bytes <= most_bytes)) continue;
    most = count;
    most_bytes = bytes;
    colocation.target = place.rank;
  }
  return true;
}

void coordinator::move_objects(colocation& colocation, actions& next) {
  colocation.target = colocation.all.front().rank;
  if (!choose_place(colocation)) {
    NACRE_MARK("a colocation wants objects that refuse to move on different ranks");
    return fail(colocation, colocation.all.front().object, "objects on different ranks refuse to move", next);
  }
  colocation.now = phase::moving;
  for (const participant& each : colocation.all) {
    if (each.rank == colocation.target) continue;
    next.push_back({.operation = kind::go,
                    .number = colocation.number,
                    .object = each.object,
                    .rank = each.rank,
                    .target = colocation.target});
  }
  run_if_all_are_there(colocation, next);
}

void coordinator::run_if_all_are_there(colocation& colocation, actions& next) {
  if (std::any_of(colocation.all.begin(), colocation.all.end(),
                  [&](const participant& p) { return p.rank != colocation.target; }))
    return;
  next.push_back({.operation = kind::run, .number = colocation.number, .target = colocation.target});
  open_.erase(colocation.number);
}

bool coordinator::on_gone(colocation& colocation, participant& member, const colocate_news& news, actions& next) {
  if (member.now == standing::over) {
    member.destroyed = true;
    return is_late(news);
  }
  if (colocation.now == phase::moving || member.now == standing::acquired) return false;
  member.now = standing::over;
  member.destroyed = true;
  if (colocation.now == phase::ending) {
    NACRE_MARK("a colocation that has failed loses another of its objects");
    forget_if_over(colocation, next);
  } else {
    fail(colocation, member.object, "the object has been destroyed", next);
  }
  return true;
}

void coordinator::fail(colocation& colocation, object_id object, const char* reason, actions& next) {
  colocation.now = phase::ending;
  next.push_back({.operation = kind::fail, .number = colocation.number, .object = object, .reason = reason});
  for (participant& each : colocation.all) end(colocation, each, next);
  forget_if_over(colocation, next);
}

/// Lets a participant of a failed colocation go, if it is ready or acquired; else that happens once it is.
void coordinator::end(colocation& colocation, participant& each, actions& next) {
  if (each.now == standing::ready) {
    next.push_back({.operation = kind::let_go, .number = colocation.number, .object = each.object});
  } else if (each.now == standing::acquired) {
    next.push_back({.operation = kind::release, .number = colocation.number, .object = each.object, .rank = each.rank});
  } else {
    return;
  }
  each.now = standing::over;
}

void coordinator::forget_if_over(const colocation& colocation, actions& next) {
  if (std::any_of(colocation.all.begin(), colocation.all.end(),
                  [](const participant& p) { return p.now != standing::over; }))
    return;
  next.push_back({.operation = kind::over, .number = colocation.number});
  open_.erase(colocation.number);
}

}  // namespace nacre
