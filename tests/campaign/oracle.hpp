// SPDX-License-Identifier: Apache-2.0
// What one simulated run must look like, known by somebody who sees all ranks at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "mobile/directory/homes.hpp"

namespace campaign {

/// How a message to an object was sent, hence how its fate becomes known.
enum class posted : std::uint8_t {
  one_way,    ///< it runs, or the sender's rank is told that it cannot
  awaited,    ///< a call: it runs and the value comes, or the call fails
  abandoned,  ///< a call whose future was dropped: it runs, or its object is gone
  joined      ///< the place of a colocation at one of its objects: all of them run, or none
};

/// A source of ordered messages: one run of a handler, or the main of a rank.
using stream_id = std::uint64_t;

/// The record of one simulated job. All ranks of a simulation live in one thread, so it needs no lock, and its
/// knowledge is exact: it sees a message from the moment in which it is sent.
class oracle {
 public:
  explicit oracle(std::uint64_t seed) : random(seed) {}

  nacre::rng random;  ///< for the decisions of the program; their order is the simulation's, so the seed decides them
  std::shared_ptr<const nacre::home_table> homes{};  ///< of the job; null: homes are births

  /// What went wrong, in words; the first few.
  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }
  void violate(std::string name);

  // Objects, named by the order in which they became known.
  std::uint32_t new_object();  ///< a name for an object that is about to be created
  void created(std::uint32_t object, nacre::object_id id);
  [[nodiscard]] std::uint32_t objects() const noexcept { return static_cast<std::uint32_t>(objects_.size()); }
  [[nodiscard]] nacre::object_id id_of(std::uint32_t object) const { return objects_[object].id; }
  [[nodiscard]] nacre::rank_id home_of(std::uint32_t object) const {
    return homes != nullptr ? homes->home_of(id_of(object)) : id_of(object).birth();
  }
  [[nodiscard]] bool destroy_posted(std::uint32_t object) const { return objects_[object].destroys != 0; }
  /// Objects that refuse to move, by name, as the program draws them.
  [[nodiscard]] static bool refuses(std::uint32_t object) noexcept { return object % 8 == 3; }
  /// Whether what is asked of it may fail: it has been destroyed, or may be, or may refuse to move.
  [[nodiscard]] bool may_be_gone(std::uint32_t object) const { return destroy_posted(object) || was_empty(object); }
  [[nodiscard]] bool may_stay(std::uint32_t object) const;

  // Places of arrays: what is sent to one goes to the element that is there, a *life*, which has a name of its own.
  std::uint32_t new_place(bool empty);
  std::uint32_t new_life(std::uint32_t place);
  [[nodiscard]] bool is_place(std::uint32_t object) const { return objects_[object].is_place; }
  /// What is addressed: the place of a life, or the object itself.
  [[nodiscard]] std::uint32_t target_of(std::uint32_t object) const { return objects_[object].target; }
  /// It may be empty from now on; it has an element for certain, until that is said again.
  void may_empty(std::uint32_t place);
  void filled(std::uint32_t place);

  // Messages to objects. `handler` is the name by which a delivery error would report it.
  [[nodiscard]] std::uint64_t sent(posted posted, stream_id stream, nacre::rank_id source, std::uint32_t object,
                                   std::string_view handler);
  /// The same of a main that wants access to it: fails where the object refuses to come.
  [[nodiscard]] std::uint64_t lock_sent(stream_id stream, nacre::rank_id source, std::uint32_t object);
  void destroy_sent(stream_id stream, nacre::rank_id source, std::uint32_t object);
  void reported(nacre::rank_id rank, const nacre::delivery_error& error);
  /// An awaited call has come back; `value` is null when it failed.
  void returned(std::uint64_t id, const std::uint64_t* value);
  [[nodiscard]] static std::uint64_t expected_value(std::uint64_t id) noexcept { return id * 0x9e3779b97f4a7c15U + 1; }

  /// A handler begins on an object; `hash` is what the object holds. Returns the stream of this run.
  stream_id began(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now);
  /// The object's new hash after an exclusive handler; the oracle expects it from now on.
  [[nodiscard]] std::uint64_t next_hash(std::uint64_t hash, std::uint64_t id) const noexcept;
  void ended(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now);

  /// The same for a message to all elements of an array, whose order others know.
  stream_id began_for_all(std::uint32_t object, bool shared, std::uint64_t hash, double now);

  // Colocations. Each has its place in the stream of each of its objects, which are all different.
  [[nodiscard]] std::uint64_t colocation_sent(posted posted, stream_id stream, nacre::rank_id source,
                                              std::span<const std::uint32_t> objects, std::string_view function);
  stream_id began_colocation(std::uint64_t id, nacre::rank_id rank, std::span<const std::uint32_t> bodies,
                             std::span<const std::uint64_t> hashes, double now);
  void ended_colocation(std::uint64_t id, std::span<const std::uint32_t> bodies, std::span<const std::uint64_t> hashes,
                        double now);
  void colocation_returned(std::uint64_t id, const std::uint64_t* value);

  // Messages to ranks. What one stream sends to the poll loop, or to the only worker, of a rank runs in the order sent.
  enum class runner : std::uint8_t { several, poll_loop, only_worker };
  [[nodiscard]] std::uint64_t sent_to_rank(stream_id stream, nacre::rank_id target, runner function);
  stream_id began_on_rank(std::uint64_t id, nacre::rank_id rank);
  void ended_on_rank(std::uint64_t id);

  // Anything else that must be over when the system is quiet: migrations and creations that somebody awaits.
  void opened() { ++others_open_; }
  void closed() { --others_open_; }

  [[nodiscard]] stream_id main_of(nacre::rank_id rank) const noexcept { return rank.value(); }
  /// Nothing may be pending now.
  void must_be_quiet(std::string_view moment);
  [[nodiscard]] std::uint64_t messages() const noexcept { return sends_.size(); }

 private:
  static constexpr stream_id first_run_stream = 1u << 20;
  struct object_record {
    nacre::object_id id;
    std::uint64_t hash = 0;
    std::uint32_t exclusive_open = 0, shared_open = 0;
    double exclusive_until = 0, shared_until = 0;  // virtual seconds
    std::uint32_t destroys = 0;
    stream_id destroyer = 0;
    bool gone = false;  // somebody has been told that it is
    std::uint32_t target = 0;
    bool is_place = false;
    bool was_empty = false;       // a place: it may have been
    bool may_be_empty = false;    // now
    std::uint64_t filled_at = 0;  // sends before it had an element for certain
    bool refuses = false;         // itself, or a life that it has had
  };
  struct send_record {
    posted method;
    bool to_rank;
    bool in_order;
    runner executor = runner::several;  // of a message to a rank
    bool ran = false;
    bool is_over = false;   // awaited: the result has been seen
    bool may_fail = false;  // it can be passed over although its object lives: a lock, a colocation's place
    std::uint32_t object;   // or the rank
    std::uint32_t position;
    stream_id stream;
    std::uint64_t tally;  // one-way: index of the count that a report would diminish
  };
  struct order_record {
    std::uint32_t sent = 0;
    std::uint32_t ran = 0;
    std::uint32_t before_destroy = ~0u;  // positions from here on follow the stream's own destroy
    std::set<std::uint32_t> may_fail;    // positions that may be passed over
  };
  struct colocation_record {
    posted method;
    nacre::rank_id initiator;
    std::uint64_t first;  // of its turns, one for each object
    std::vector<std::uint32_t> objects;
    bool ran = false;
    bool is_over = false;
  };
  using tally_key = std::tuple<std::uint32_t, std::uint64_t, std::string>;

  [[nodiscard]] bool was_empty(std::uint32_t object) const { return objects_[object].was_empty; }
  void begin_on(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now);
  void colocation_reported(nacre::rank_id rank, const nacre::delivery_error& error);
  void check_colocation_is_over();
  void check_has_run(std::uint64_t id, const send_record& m);
  void check_access(std::uint64_t id, std::uint32_t object, bool shared, double now);
  void check_order(const send_record& m, std::uint64_t id);
  [[nodiscard]] order_record& order_of(const send_record& m);
  [[nodiscard]] std::uint64_t tally_of(nacre::rank_id source, nacre::object_id object, std::string_view handler);
  [[nodiscard]] send_record* find(std::uint64_t id);
  [[nodiscard]] send_record new_send(posted posted, stream_id stream, std::uint32_t object, bool may_fail);

  std::vector<std::string> violations_;
  std::uint64_t violation_count_ = 0;
  std::vector<object_record> objects_;
  std::map<nacre::object_id, std::uint32_t> by_id_;
  std::vector<send_record> sends_;
  std::map<std::pair<stream_id, std::uint64_t>, order_record> orders_;
  std::vector<colocation_record> colocations_;
  std::set<std::string, std::less<>> colocation_functions_;
  std::map<std::uint32_t, std::int64_t> colocation_reported_;  // by rank
  std::map<tally_key, std::uint64_t> tally_index_;
  std::vector<std::int64_t> one_way_open_;  // by counter: sent, neither run nor reported
  std::int64_t one_way_total_ = 0;
  std::int64_t awaited_open_ = 0;
  std::int64_t rank_messages_open_ = 0;
  std::int64_t running_ = 0;
  std::int64_t others_open_ = 0;
  std::int64_t colocation_open_ = 0;  // neither run nor known to have failed
  stream_id next_stream_ = first_run_stream;
};

}  // namespace campaign
