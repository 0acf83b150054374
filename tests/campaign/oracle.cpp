// SPDX-License-Identifier: Apache-2.0
// The promises, checked against the record.
#include "campaign/oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "campaign/text.hpp"

namespace campaign {
namespace {

constexpr std::size_t violations_kept = 8;
constexpr std::uint64_t rank_key = std::uint64_t{1} << 40;  // orders_ holds ranks beside objects

}  // namespace

void oracle::violate(std::string name) {
  ++violation_count_;
  if (violations_.size() < violations_kept) violations_.push_back(std::move(name));
}

std::uint32_t oracle::new_object() {
  const auto name = static_cast<std::uint32_t>(objects_.size());
  objects_.emplace_back().target = name;
  objects_.back().refuses = refuses(name);
  return name;
}

void oracle::created(std::uint32_t object, nacre::object_id id) {
  if (!by_id_.emplace(id, object).second) violate("two objects have one name");
  objects_[object].id = id;
}

std::uint64_t oracle::tally_of(nacre::rank_id source, nacre::object_id object, std::string_view handler) {
  const auto [entry, fresh] =
      tally_index_.try_emplace({source.value(), object.value(), std::string(handler)}, one_way_open_.size());
  if (fresh) one_way_open_.push_back(0);
  return entry->second;
}

oracle::send_record oracle::new_send(posted posted, stream_id stream, std::uint32_t object, bool may_fail) {
  send_record m{.method = posted,
                .to_rank = false,
                .in_order = true,
                .object = object,
                .position = 0,
                .stream = stream,
                .tally = 0};
  order_record& order = order_of(m);
  m.position = order.sent++;
  m.may_fail = may_fail;
  if (may_fail) order.may_fail.insert(m.position);
  return m;
}

std::uint64_t oracle::sent(posted posted, stream_id stream, nacre::rank_id source, std::uint32_t object,
                           std::string_view handler) {
  send_record m = new_send(posted, stream, object, false);
  if (posted == posted::one_way) {
    m.tally = tally_of(source, id_of(object), handler);
    ++one_way_open_[m.tally];
    ++one_way_total_;
  } else if (posted == posted::awaited) {
    ++awaited_open_;
  }
  sends_.push_back(m);
  return sends_.size();
}

std::uint64_t oracle::lock_sent(stream_id stream, nacre::rank_id, std::uint32_t object) {
  sends_.push_back(new_send(posted::awaited, stream, object, is_place(object) || may_stay(object)));
  ++awaited_open_;
  return sends_.size();
}

/// A destroy runs no handler of the program; it is settled as a one-way message that may be reported, by must_be_quiet.
void oracle::destroy_sent(stream_id stream, nacre::rank_id source, std::uint32_t object) {
  object_record& record = objects_[object];
  if (record.is_place) may_empty(object);
  const send_record m{.method = posted::one_way,
                      .to_rank = false,
                      .in_order = true,
                      .object = object,
                      .position = 0,
                      .stream = stream,
                      .tally = 0};
  order_record& order = order_of(m);
  order.before_destroy = std::min(order.before_destroy, order.sent);
  if (record.destroys++ == 0) {
    record.destroyer = stream;
  } else {
    // One of the two ends the object, the other is reported; nobody can say which, so any rank may report it.
    record.destroyer = ~stream_id{0};
  }
  static_cast<void>(source);
}

void oracle::reported(nacre::rank_id rank, const nacre::delivery_error& error) {
  const auto object = by_id_.find(error.object);
  if (object == by_id_.end()) return violate("a delivery error names an object that nobody has created");
  object_record& target = objects_[object->second];
  if (colocation_functions_.contains(error.handler)) return colocation_reported(rank, error);
  target.gone = !target.is_place;
  if (error.handler == "destroy") {
    if (target.destroys < 2 && !target.was_empty)
      violate("the only destroy of object " + text(object->second) + " was not delivered");
    return;
  }
  if (!may_be_gone(object->second))
    violate("a message to object " + text(object->second) + ", which lives, was reported");
  const std::uint64_t tally = tally_of(rank, error.object, error.handler);
  --one_way_total_;
  if (--one_way_open_[tally] < 0) {
    violate("a message to object " + text(object->second) +
            " was reported, and it has run: " + std::string(error.handler));
  }
}

oracle::send_record* oracle::find(std::uint64_t id) {
  if (id == 0 || id > sends_.size()) {
    violate("message " + text(id) + " runs, which nobody has sent");
    return nullptr;
  }
  return &sends_[id - 1];
}

oracle::order_record& oracle::order_of(const send_record& m) {
  const std::uint64_t kind = m.to_rank ? rank_key << static_cast<unsigned>(m.executor == runner::only_worker) : 0;
  return orders_[{m.stream, m.object + kind}];
}

void oracle::returned(std::uint64_t id, const std::uint64_t* value) {
  send_record* const m = find(id);
  if (m == nullptr) return;
  if (m->is_over) violate("call " + text(id) + " was answered twice");
  m->is_over = true;
  --awaited_open_;
  if (value == nullptr) {
    if (m->ran) violate("call " + text(id) + " has failed, and it has run");
    if (!m->may_fail && !may_be_gone(m->object)) violate("call " + text(id) + " has failed for no reason");
    if (!m->may_fail && !is_place(m->object)) objects_[m->object].gone = true;
  } else {
    if (!m->ran) violate("call " + text(id) + " has a value, and it has not run");
    if (*value != expected_value(id)) violate("call " + text(id) + " has a wrong value");
  }
}

void oracle::check_order(const send_record& m, std::uint64_t id) {
  order_record& order = order_of(m);
  if (!m.to_rank && was_empty(m.object)) order.ran = std::max(order.ran, m.position);  // others were reported
  while (order.ran < m.position && order.may_fail.contains(order.ran)) ++order.ran;
  if (m.position >= order.before_destroy && (m.to_rank || !is_place(m.object)))
    violate("message " + text(id) + " has run after the destroy before it");
  if (m.in_order && m.position != order.ran) {
    violate("order: message " + text(id) + " of stream " + text(m.stream) + " to " + (m.to_rank ? "rank " : "object ") +
            text(m.object) + " is number " + text(m.position) + " and runs where " + text(order.ran) + " should");
  }
  order.ran = std::max(order.ran, m.position) + 1;
}

void oracle::check_access(std::uint64_t id, std::uint32_t object, bool shared, double now) {
  const object_record& record = objects_[object];
  const bool is_beside = record.exclusive_open != 0 || (!shared && record.shared_open != 0);
  const bool overlaps = now < record.exclusive_until || (!shared && now < record.shared_until);
  if (is_beside || overlaps) {
    violate("access: " + std::string(shared ? "shared" : "exclusive") + " message " + text(id) + " on object " +
            text(object) + " begins at " + std::to_string(now * 1e6) + " us while another handler " +
            (is_beside ? "is suspended there"
                       : "runs until " + std::to_string(std::max(record.exclusive_until, record.shared_until) * 1e6) +
                             " us"));
  }
}

stream_id oracle::began(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now) {
  send_record* const m = find(id);
  if (m == nullptr) return next_stream_++;
  if (m->ran) violate("message " + text(id) + " has run twice");
  if (m->to_rank || m->object != target_of(object)) violate("message " + text(id) + " runs on another target");
  m->ran = true;
  if (m->method == posted::one_way) {
    --one_way_total_;
    if (--one_way_open_[m->tally] < 0) violate("message " + text(id) + " has run, and it was reported");
  }
  check_order(*m, id);
  begin_on(id, object, shared, hash, now);
  return next_stream_++;
}

void oracle::begin_on(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now) {
  object_record& record = objects_[object];
  if (record.gone) violate("message " + text(id) + " runs on object " + text(object) + ", which is gone");
  if (hash != record.hash) violate("state: object " + text(object) + " is not what it was, at message " + text(id));
  check_access(id, object, shared, now);
  ++(shared ? record.shared_open : record.exclusive_open);
  ++running_;
}

std::uint64_t oracle::next_hash(std::uint64_t hash, std::uint64_t id) const noexcept {
  hash = (hash ^ id) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

void oracle::ended(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now) {
  object_record& record = objects_[object];
  --running_;
  --(shared ? record.shared_open : record.exclusive_open);
  double& until = shared ? record.shared_until : record.exclusive_until;
  until = std::max(until, now);
  if (shared) {
    if (hash != record.hash) violate("state: object " + text(object) + " changed under shared message " + text(id));
  } else {
    record.hash = hash;
  }
}

std::uint64_t oracle::sent_to_rank(stream_id stream, nacre::rank_id target, runner function) {
  send_record m{.method = posted::one_way,
                .to_rank = true,
                .in_order = function != runner::several,
                .executor = function,
                .object = target.value(),
                .position = 0,
                .stream = stream,
                .tally = 0};
  if (m.in_order) m.position = order_of(m).sent++;
  ++rank_messages_open_;
  sends_.push_back(m);
  return sends_.size();
}

stream_id oracle::began_on_rank(std::uint64_t id, nacre::rank_id rank) {
  send_record* const m = find(id);
  if (m == nullptr) return next_stream_++;
  if (m->ran) violate("message " + text(id) + " has run twice");
  if (!m->to_rank || m->object != rank.value()) violate("message " + text(id) + " runs on another rank");
  m->ran = true;
  if (m->in_order) check_order(*m, id);
  --rank_messages_open_;
  ++running_;
  return next_stream_++;
}

void oracle::ended_on_rank(std::uint64_t) { --running_; }

void oracle::must_be_quiet(std::string_view moment) {
  if (one_way_total_ != 0 || awaited_open_ != 0 || rank_messages_open_ != 0 || running_ != 0 || others_open_ != 0 ||
      colocation_open_ != 0) {
    violate("quiescence: " + std::string(moment) + ", " + std::to_string(one_way_total_) + " messages to objects, " +
            std::to_string(awaited_open_) + " calls, " + std::to_string(rank_messages_open_) + " messages to ranks, " +
            std::to_string(colocation_open_) + " colocations, " + std::to_string(running_) + " handlers and " +
            std::to_string(others_open_) + " other things were pending");
    return;
  }
  for (std::size_t index = 0; index < sends_.size(); ++index) {
    if (!sends_[index].ran && !sends_[index].to_rank) check_has_run(index + 1, sends_[index]);
  }
  check_colocation_is_over();
}

void oracle::check_has_run(std::uint64_t id, const send_record& m) {
  if (m.may_fail) return;
  const object_record& record = objects_[m.object];
  if (record.is_place) {
    if (!record.may_be_empty && id > record.filled_at) violate("message " + text(id) + " to an element has never run");
    return;
  }
  if (record.destroys == 0) violate("message " + text(id) + " to a living object has never run");
  const order_record& order = orders_.at({m.stream, m.object});
  if (record.destroys == 1 && record.destroyer == m.stream && m.position < order.before_destroy) {
    violate("message " + text(id) + " was sent before the destroy, by the same sender, and has not run");
  }
}

}  // namespace campaign
