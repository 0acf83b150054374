// SPDX-License-Identifier: Apache-2.0
// A small job whose every step is somebody else's choice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "exec/own_thread.hpp"
#include "machine/simulation.hpp"
#include "model/wires.hpp"
#include "runtime/engine.hpp"

namespace model {

inline constexpr std::uint32_t ranks = 3;

/// What the main of a rank does, in the order of the program.
struct action {
  enum class kind : std::uint8_t {
    send,      ///< a message to the object
    relay,     ///< a message whose handler sends one to the other object
    migrate,   ///< asks the object to move to `target`, after what this rank has sent it before
    move_out,  ///< what a balancer does: moves it at once if it is here, before the messages that wait
    destroy
  };
  std::uint32_t rank;
  kind operation;
  std::uint32_t object;
  std::uint32_t target = 0;
};

struct program {
  std::string title;
  std::array<std::uint32_t, 2> homes;  ///< of the two objects
  std::vector<action> actions;

  [[nodiscard]] bool destroys(std::uint32_t object) const;
  [[nodiscard]] bool destroys() const { return destroys(0) || destroys(1); }
};

struct circumstances {
  std::string location;
  std::uint32_t hops_max = 8;
};

/// The next thing to happen.
struct choice {
  enum class kind : std::uint8_t { act, deliver } event;
  std::uint32_t rank;  ///< where it happens
  wire_end wire{};     ///< deliver: which message
};

/// The ranks of the program, put together as any job's but for the transport, and their record. A rank's state is a
/// function of what has happened to it, in that order: nothing here takes anything from a clock or from another rank
/// but by messages.
class job {
 public:
  job(const program& program, const circumstances& circumstances, const nacre::config& configuration);
  ~job();

  [[nodiscard]] std::vector<choice> choices() const;
  void take(const choice& next);

  /// What has happened to each rank: equal in two jobs of one program only if these are in the same state.
  using identity = std::array<std::uint64_t, ranks>;
  [[nodiscard]] const identity& state() const noexcept { return history_; }

  /// How often a message has been sent on from a rank that did not have its object.
  [[nodiscard]] std::uint64_t forwards() const;
  /// Once there is no choice left: what is wrong, in words; empty if every promise has been kept. Sends more messages,
  /// to see what ranks know.
  [[nodiscard]] std::string judge();
  /// What the runtime has reported while it ran; it should not have.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

  // Called by what the objects run.
  void ran(nacre::context& ctx, std::uint64_t number, std::uint32_t object, std::uint32_t runs_before);
  void send(nacre::operations& operations, std::uint32_t object, bool relayed);

 private:
  struct sent_message {
    std::uint32_t rank;  // that its stream comes from
    std::uint32_t object;
    bool relayed;  // its handler sends one to the other object
    std::uint32_t stream_position;
    std::uint32_t ran = 0;
    std::uint32_t reported = 0;
  };

  /// Makes this thread one of the rank's, until the value goes: what has been called for a rank is called in its name.
  [[nodiscard]] nacre::own_thread thread_of(std::uint32_t rank) const;
  void deliver_replies();
  void act(std::uint32_t rank);
  void note(std::uint32_t rank, std::uint64_t number);
  void run(std::uint32_t rank);
  void finish();
  [[nodiscard]] std::string judge_messages() const;
  [[nodiscard]] std::string judge_places();
  [[nodiscard]] std::string probe(std::uint32_t rank, std::uint32_t object);

  const program& program_;
  const circumstances& conditions_;
  nacre::manual_clock time_;
  wires network_;
  std::vector<std::unique_ptr<nacre::machine::simulation>> machines_;  // one a rank: each has its own time
  std::vector<std::unique_ptr<nacre::engine>> engines_;
  std::array<nacre::object_id, 2> objects_;
  std::array<std::vector<action>, ranks> scripts_;
  std::array<std::size_t, ranks> acted_{};
  std::array<std::uint32_t, 2> runs_{};  // of handlers, by object
  std::vector<sent_message> sent_;
  std::vector<std::uint64_t> order_;  // of runs, as indices of sent_
  identity history_{};
  std::string failure_;
};

}  // namespace model
