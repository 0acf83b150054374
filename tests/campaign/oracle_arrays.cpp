// SPDX-License-Identifier: Apache-2.0
// Places and their lives, and colocations, checked against the record.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "campaign/oracle.hpp"
#include "campaign/text.hpp"

namespace campaign {
bool oracle::may_stay(std::uint32_t object) const { return objects_[object].refuses; }

std::uint32_t oracle::new_place(bool empty) {
  const std::uint32_t place = new_object();
  object_record& record = objects_[place];
  record.is_place = true;
  record.was_empty = record.may_be_empty = empty;
  record.refuses = false;  // its lives do
  return place;
}

std::uint32_t oracle::new_life(std::uint32_t place) {
  const std::uint32_t life = new_object();
  objects_[life].target = place;
  objects_[place].refuses = objects_[place].refuses || objects_[life].refuses;
  return life;
}

void oracle::may_empty(std::uint32_t place) {
  objects_[place].was_empty = true;
  objects_[place].may_be_empty = true;
}

void oracle::filled(std::uint32_t place) {
  objects_[place].may_be_empty = false;
  objects_[place].filled_at = sends_.size();
}

stream_id oracle::began_for_all(std::uint32_t object, bool shared, std::uint64_t hash, double now) {
  begin_on(0, object, shared, hash, now);
  return next_stream_++;
}

std::uint64_t oracle::colocation_sent(posted posted, stream_id stream, nacre::rank_id source,
                                      std::span<const std::uint32_t> objects, std::string_view function) {
  colocation_functions_.emplace(function);
  colocations_.push_back({posted, source, sends_.size() + 1, {objects.begin(), objects.end()}});
  for (const std::uint32_t each : objects) sends_.push_back(new_send(posted::joined, stream, each, true));
  ++colocation_open_;
  return colocations_.size();
}

stream_id oracle::began_colocation(std::uint64_t id, nacre::rank_id rank, std::span<const std::uint32_t> bodies,
                                   std::span<const std::uint64_t> hashes, double now) {
  colocation_record& record = colocations_[id - 1];
  if (record.ran) violate("colocation " + text(id) + " has run twice");
  if (record.is_over) violate("colocation " + text(id) + " runs, and it has failed");
  record.ran = true;
  --colocation_open_;
  if (bodies.size() != record.objects.size()) violate("colocation " + text(id) + " has another number of objects");
  for (std::size_t index = 0; index < bodies.size(); ++index) {
    send_record& sent_join = sends_[record.first - 1 + index];
    if (sent_join.object != target_of(bodies[index])) violate("colocation " + text(id) + " has got another object");
    if (refuses(bodies[index]) && home_of(sent_join.object) != rank) {
      violate("colocation " + text(id) + " runs on rank " + text(rank.value()) + ", where an object would not go");
    }
    sent_join.ran = true;
    check_order(sent_join, record.first + index);
    begin_on(record.first + index, bodies[index], false, hashes[index], now);
  }
  return next_stream_++;
}

void oracle::ended_colocation(std::uint64_t id, std::span<const std::uint32_t> bodies,
                              std::span<const std::uint64_t> hashes, double now) {
  for (std::size_t index = 0; index < bodies.size(); ++index) {
    ended(colocations_[id - 1].first + index, bodies[index], false, hashes[index], now);
  }
}

void oracle::colocation_returned(std::uint64_t id, const std::uint64_t* value) {
  colocation_record& record = colocations_[id - 1];
  if (record.is_over) violate("colocation " + text(id) + " was answered twice");
  record.is_over = true;
  if (value == nullptr && record.ran) violate("colocation " + text(id) + " has failed, and it has run");
  if (value != nullptr && !record.ran) violate("colocation " + text(id) + " has a value, and it has not run");
  if (value != nullptr && *value != expected_value(id)) violate("colocation " + text(id) + " has a wrong value");
  if (!record.ran) --colocation_open_;
}

void oracle::colocation_reported(nacre::rank_id rank, const nacre::delivery_error& error) {
  const std::uint32_t object = by_id_.at(error.object);
  const bool refused = error.why.find("refuse") != std::string_view::npos;
  if (!refused && !may_be_gone(object)) violate("a colocation failed for object " + text(object) + ", which lives");
  if (!refused && !is_place(object)) objects_[object].gone = true;
  ++colocation_reported_[rank.value()];
  --colocation_open_;
}

/// Each has run, or its rank has been told, for a reason.
void oracle::check_colocation_is_over() {
  std::map<std::uint32_t, std::int64_t> reported = colocation_reported_;
  for (std::size_t index = 0; index < colocations_.size(); ++index) {
    const colocation_record& record = colocations_[index];
    if (record.method == posted::awaited && !record.is_over)
      violate("colocation " + text(index + 1) + " was not answered");
    if (record.ran) continue;
    if (record.method == posted::one_way) --reported[record.initiator.value()];
    std::set<nacre::rank_id> refuse_on;
    bool reason = false;
    for (const std::uint32_t each : record.objects) {
      if (may_stay(each)) refuse_on.insert(home_of(each));
      reason = reason || may_be_gone(each);
    }
    if (!reason && refuse_on.size() < 2) violate("colocation " + text(index + 1) + " has not run, for no reason");
  }
  for (const auto& [rank, left] : reported) {
    if (left != 0) violate("rank " + text(rank) + " was told of another number of failed colocations than there are");
  }
}

}  // namespace campaign
