// SPDX-License-Identifier: Apache-2.0
// What one simulated run must look like, known by somebody who sees all ranks at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace campaign {

/// How a message to an object was sent, hence how its fate becomes known.
enum class posted : std::uint8_t {
  one_way,    ///< it runs, or the sender's rank is told that it cannot
  awaited,    ///< a call: it runs and the value comes, or the call fails
  abandoned,  ///< a call whose future was dropped: it runs, or its object is gone
};

/// A source of ordered messages: one run of a handler, or the main of a rank.
using stream_id = std::uint64_t;

/// The record of one simulated job. All ranks of a simulation live in one thread, so it needs no lock, and its
/// knowledge is exact: it sees a message from the moment in which it is sent.
class oracle {
 public:
  explicit oracle(std::uint64_t seed) : random(seed) {}

  nacre::rng random;  ///< for the decisions of the program; their order is the simulation's, so the seed decides them

  /// What went wrong, in words; the first few.
  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }
  void violate(std::string what);

  // Objects, named by the order in which they became known.
  std::uint32_t new_object();  ///< a name for an object that is about to be created
  void created(std::uint32_t object, nacre::object_id id);
  [[nodiscard]] std::uint32_t objects() const noexcept { return static_cast<std::uint32_t>(objects_.size()); }
  [[nodiscard]] nacre::object_id id_of(std::uint32_t object) const { return objects_[object].id; }
  [[nodiscard]] bool destroy_posted(std::uint32_t object) const { return objects_[object].destroys != 0; }

  // Messages to objects. `handler` is the name by which a delivery error would report it.
  [[nodiscard]] std::uint64_t sent(posted how, stream_id by, nacre::rank_id from, std::uint32_t object,
                                   std::string_view handler);
  void destroy_sent(stream_id by, nacre::rank_id from, std::uint32_t object);
  void reported(nacre::rank_id at, const nacre::delivery_error& what);
  /// An awaited call has come back; `value` is null when it failed.
  void returned(std::uint64_t id, const std::uint64_t* value);
  [[nodiscard]] static std::uint64_t expected_value(std::uint64_t id) noexcept { return id * 0x9e3779b97f4a7c15U + 1; }

  /// A handler begins on an object; `hash` is what the object holds. Returns the stream of this run.
  stream_id began(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now);
  /// The object's new hash after an exclusive handler; the oracle expects it from now on.
  [[nodiscard]] std::uint64_t next_hash(std::uint64_t hash, std::uint64_t id) const noexcept;
  void ended(std::uint64_t id, std::uint32_t object, bool shared, std::uint64_t hash, double now);

  // Messages to ranks.
  [[nodiscard]] std::uint64_t sent_to_rank(stream_id by, nacre::rank_id to, bool in_order);
  stream_id began_on_rank(std::uint64_t id, nacre::rank_id at);
  void ended_on_rank(std::uint64_t id);

  // Anything else that must be over when the system is quiet: migrations and creations that somebody awaits.
  void opened() { ++others_open_; }
  void closed() { --others_open_; }

  [[nodiscard]] stream_id main_of(nacre::rank_id rank) const noexcept { return rank.value(); }
  /// Nothing may be pending now.
  void must_be_quiet(std::string_view when);
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
  };
  struct send_record {
    posted how;
    bool to_rank;
    bool in_order;
    bool ran = false;
    bool over = false;     // awaited: the result has been seen
    std::uint32_t object;  // or the rank
    std::uint32_t position;
    stream_id stream;
    std::uint64_t tally;  // one-way: index of the count that a report would diminish
  };
  struct order_record {
    std::uint32_t sent = 0;
    std::uint32_t ran = 0;
    std::uint32_t before_destroy = ~0u;  // positions from here on follow the stream's own destroy
  };
  using tally_key = std::tuple<std::uint32_t, std::uint64_t, std::string>;

  void check_access(std::uint64_t id, std::uint32_t object, bool shared, double now);
  void check_order(const send_record& m, std::uint64_t id);
  [[nodiscard]] order_record& order_of(const send_record& m);
  [[nodiscard]] std::uint64_t tally_of(nacre::rank_id from, nacre::object_id object, std::string_view handler);
  [[nodiscard]] send_record* find(std::uint64_t id);

  std::vector<std::string> violations_;
  std::uint64_t violation_count_ = 0;
  std::vector<object_record> objects_;
  std::map<nacre::object_id, std::uint32_t> by_id_;
  std::vector<send_record> sends_;
  std::map<std::pair<stream_id, std::uint64_t>, order_record> orders_;
  std::map<tally_key, std::uint64_t> tally_index_;
  std::vector<std::int64_t> one_way_open_;  // by tally: sent, neither run nor reported
  std::int64_t one_way_total_ = 0;
  std::int64_t awaited_open_ = 0;
  std::int64_t rank_messages_open_ = 0;
  std::int64_t running_ = 0;
  std::int64_t others_open_ = 0;
  stream_id next_stream_ = first_run_stream;
};

}  // namespace campaign
