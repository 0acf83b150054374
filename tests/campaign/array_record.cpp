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

bool contains(const std::vector<array_record::message>& in, array_record::message note) {
  return std::find(in.begin(), in.end(), note) != in.end();
}

}  // namespace

void array_record::heard(life lifetime, message note) {
  const std::scoped_lock lock(mutex_);
  lives_[lifetime].push_back(note);
}

void array_record::told(std::uint64_t step, message note) {
  const std::scoped_lock lock(mutex_);
  told_[step].push_back(note);
  ++told_count_;
}

void array_record::counted(message note, std::uint64_t how_many) {
  const std::scoped_lock lock(mutex_);
  sums_.emplace_back(note, how_many);
}

void array_record::must_hear(life lifetime, message note) {
  const std::scoped_lock lock(mutex_);
  must_.emplace_back(lifetime, note);
}

void array_record::must_not_hear(life lifetime, message note) {
  const std::scoped_lock lock(mutex_);
  must_not_.emplace_back(lifetime, note);
}

bool array_record::has(life lifetime, message note) const {
  const auto match = lives_.find(lifetime);
  return match != lives_.end() && contains(match->second, note);
}

bool array_record::complete(life lasting) const {
  const auto match = lives_.find(lasting);
  return (match == lives_.end() ? 0 : match->second.size()) == told_count_;
}

/// One order for all lives: no gaps, nothing twice.
void array_record::check_lives(const std::vector<message>& order, faulty& suspects) const {
  std::map<message, std::size_t> place;
  for (std::size_t index = 0; index < order.size(); ++index) {
    if (!place.emplace(order[index], index).second)
      suspects.push_back("the life that lasts has run " + text(order[index]) + " twice");
  }
  for (const auto& [lifetime, all] : lives_) {
    for (std::size_t index = 0; index < all.size(); ++index) {
      const auto position = place.find(all[index]);
      if (position == place.end()) {
        suspects.push_back("life " + text(lifetime) + " has run " + text(all[index]) +
                           ", which the life that lasts has not");
      } else if (index != 0 && position->second != place[all[index - 1]] + 1) {
        suspects.push_back("life " + text(lifetime) + " missed something before " + text(all[index]) +
                           ", or ran it twice");
      }
    }
  }
}

/// What one sends to all is run in its order, and all of it; or, where the array has ended meanwhile, its beginning.
void array_record::check_senders(const std::vector<message>& order, bool all, faulty& suspects) const {
  std::map<message, std::uint64_t> sender;
  for (const auto& [position, sent] : told_) {
    for (const message note : sent) sender[note] = position;
  }
  std::map<std::uint64_t, std::size_t> next;
  for (const message note : order) {
    const auto position = sender.find(note);
    if (position == sender.end()) {
      suspects.push_back("nobody has sent " + text(note) + " to all");
    } else if (const auto& sent = told_.at(position->second);
               sent[std::min(next[position->second]++, sent.size() - 1)] != note) {
      suspects.push_back("what " + text(position->second) + " has sent to all was run in another order, at " +
                         text(note));
    }
  }
  for (const auto& [position, sent] : told_) {
    if (all && next[position] != sent.size())
      suspects.push_back("something that " + text(position) + " sent to all was not run");
  }
}

std::vector<std::string> array_record::faults(life lasting, bool all) const {
  faulty suspects;
  const auto whole = lives_.find(lasting);
  const std::vector<message> order = whole == lives_.end() ? std::vector<message>() : whole->second;
  check_lives(order, suspects);
  check_senders(order, all, suspects);
  for (const auto& [value, how_many] : sums_) {
    std::uint64_t ran = 0;
    for (const auto& [lifetime, heard] : lives_) ran += contains(heard, value) ? 1 : 0;
    if (ran != how_many) {
      suspects.push_back(text(ran) + " lives have run " + text(value) + ", whose results were " + text(how_many));
    }
  }
  for (const auto& [lifetime, value] : must_) {
    if (!has(lifetime, value)) suspects.push_back("life " + text(lifetime) + " has missed " + text(value));
  }
  for (const auto& [lifetime, value] : must_not_) {
    if (has(lifetime, value))
      suspects.push_back("life " + text(lifetime) + " had ended before " + text(value) + " was sent");
  }
  return suspects;
}

}  // namespace campaign
