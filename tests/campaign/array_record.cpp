// SPDX-License-Identifier: Apache-2.0
// Conclusions from what the elements of an array have run.
#include "campaign/array_record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "campaign/text.hpp"

namespace campaign {
namespace {

bool contains(const std::vector<array_record::message>& in, array_record::message what) {
  return std::find(in.begin(), in.end(), what) != in.end();
}

}  // namespace

void array_record::heard(life who, message what) {
  const std::scoped_lock lock(mutex_);
  lives_[who].push_back(what);
}

void array_record::told(std::uint64_t by, message what) {
  const std::scoped_lock lock(mutex_);
  told_[by].push_back(what);
  ++told_count_;
}

void array_record::counted(message what, std::uint64_t how_many) {
  const std::scoped_lock lock(mutex_);
  sums_.emplace_back(what, how_many);
}

void array_record::must_hear(life who, message what) {
  const std::scoped_lock lock(mutex_);
  must_.emplace_back(who, what);
}

void array_record::must_not_hear(life who, message what) {
  const std::scoped_lock lock(mutex_);
  must_not_.emplace_back(who, what);
}

bool array_record::has(life who, message what) const {
  const auto found = lives_.find(who);
  return found != lives_.end() && contains(found->second, what);
}

bool array_record::complete(life lasting) const {
  const auto found = lives_.find(lasting);
  return (found == lives_.end() ? 0 : found->second.size()) == told_count_;
}

/// One order for all lives: no gaps, nothing twice.
void array_record::check_lives(const std::vector<message>& order, faulty& found) const {
  std::map<message, std::size_t> place;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!place.emplace(order[at], at).second)
      found.push_back("the life that lasts has run " + text(order[at]) + " twice");
  }
  for (const auto& [who, all] : lives_) {
    for (std::size_t at = 0; at < all.size(); ++at) {
      const auto here = place.find(all[at]);
      if (here == place.end()) {
        found.push_back("life " + text(who) + " has run " + text(all[at]) + ", which the life that lasts has not");
      } else if (at != 0 && here->second != place[all[at - 1]] + 1) {
        found.push_back("life " + text(who) + " missed something before " + text(all[at]) + ", or ran it twice");
      }
    }
  }
}

/// What one sends to all is run in its order, and all of it; or, where the array has ended meanwhile, its beginning.
void array_record::check_senders(const std::vector<message>& order, bool all, faulty& found) const {
  std::map<message, std::uint64_t> sender;
  for (const auto& [by, sent] : told_) {
    for (const message what : sent) sender[what] = by;
  }
  std::map<std::uint64_t, std::size_t> next;
  for (const message what : order) {
    const auto by = sender.find(what);
    if (by == sender.end()) {
      found.push_back("nobody has sent " + text(what) + " to all");
    } else if (const auto& sent = told_.at(by->second); sent[std::min(next[by->second]++, sent.size() - 1)] != what) {
      found.push_back("what " + text(by->second) + " has sent to all was run in another order, at " + text(what));
    }
  }
  for (const auto& [by, sent] : told_) {
    if (all && next[by] != sent.size()) found.push_back("something that " + text(by) + " sent to all was not run");
  }
}

std::vector<std::string> array_record::faults(life lasting, bool all) const {
  faulty found;
  const auto whole = lives_.find(lasting);
  const std::vector<message> order = whole == lives_.end() ? std::vector<message>() : whole->second;
  check_lives(order, found);
  check_senders(order, all, found);
  for (const auto& [what, how_many] : sums_) {
    std::uint64_t ran = 0;
    for (const auto& [who, heard] : lives_) ran += contains(heard, what) ? 1 : 0;
    if (ran != how_many) {
      found.push_back(text(ran) + " lives have run " + text(what) + ", whose results were " + text(how_many));
    }
  }
  for (const auto& [who, what] : must_) {
    if (!has(who, what)) found.push_back("life " + text(who) + " has missed " + text(what));
  }
  for (const auto& [who, what] : must_not_) {
    if (has(who, what)) found.push_back("life " + text(who) + " had ended before " + text(what) + " was sent");
  }
  return found;
}

}  // namespace campaign
