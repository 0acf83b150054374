// SPDX-License-Identifier: Apache-2.0
// Colocations requested by this rank: their participants, the participants' ranks, and the next actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <nacre/ids.hpp>

namespace nacre {

/// The progress of a participant of a colocation.
enum class colocate_step : std::uint8_t {
  ready,     ///< its join is the next message of its stream
  acquired,  ///< it is held for the colocation, and stays where it is
  arrived,   ///< it has come to the rank of the function, still held
  gone       ///< it has been destroyed
};
[[nodiscard]] constexpr bool wire_valid(colocate_step step) noexcept { return step <= colocate_step::gone; }

struct colocate_news {
  std::uint64_t number = 0;  ///< of the colocation, at its initiator
  object_id object;
  colocate_step step = colocate_step::ready;
  bool stays = false;       ///< acquired: it refuses to move
  std::uint64_t bytes = 0;  ///< acquired: about how many bytes it would carry

  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, object, step, stays, bytes);
  }
};

/// The next action of the initiator.
struct colocate_action {
  enum class kind : std::uint8_t {
    acquire,  ///< ask the object, on any rank, to hold itself when this request is its first message
    let_go,   ///< tell the object, on any rank, that its stream goes on without the function
    release,  ///< tell the object, held on `rank`, that its stream goes on without the function
    go,       ///< send the object, held on `rank`, to rank `target`
    run,      ///< run the function on rank `target`, where all objects are held, and release them; the number is over
    fail,     ///< report that the function will not run, and why; `object` is the reason
    over      ///< forget the number, after a failure
  };
  kind operation;
  std::uint64_t number;
  object_id object{};
  rank_id rank{};
  rank_id target{};
  const char* reason = nullptr;
};

/// The state machine of docs/protocols/colocate.md, without I/O. One thread at a time.
///
/// | state | ready | acquired | arrived | gone |
/// |---|---|---|---|---|
/// | joining | the last one: acquire the least object; acquiring | - | - | fail; ending |
/// | acquiring | - | acquire the next; the last: go or run; moving or over | - | fail; ending |
/// | moving | - | - | the last one: run; over | - |
/// | ending | let go | release | - | the last one to end: over |
///
/// An object that is let go may be destroyed before it hears of that, and the news that an object is gone may overtake
/// the news that it was ready: the later one is ignored. Any other news that does not fit a state is the lie of a peer:
/// then `on` returns false, and nothing has changed.
class coordinator {
 public:
  static constexpr std::size_t participants_max = 1024;

  /// Begins a colocation of objects that are all different; returns its number, which is never 0.
  [[nodiscard]] std::uint64_t begin(std::span<const object_id> objects);
  /// Appends the actions that follow from the news from rank `source`.
  [[nodiscard]] bool on(rank_id source, const colocate_news& news, std::vector<colocate_action>& next);
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

 private:
  enum class phase : std::uint8_t { joining, acquiring, moving, ending };
  enum class standing : std::uint8_t { awaited, ready, asked, acquired, over };
  struct participant {
    object_id object;
    standing now = standing::awaited;
    bool stays = false;
    bool destroyed = false;
    rank_id rank{};
    std::uint64_t bytes = 0;
  };
  struct colocation {
    std::uint64_t number = 0;
    phase now = phase::joining;
    rank_id target{};
    std::vector<participant> all;  // by object
  };
  using actions = std::vector<colocate_action>;

  [[nodiscard]] static bool acquire_next(colocation& colocation, actions& next);
  void move_objects(colocation& colocation, actions& next);
  [[nodiscard]] static bool choose_place(colocation& colocation);
  void run_if_all_are_there(colocation& colocation, actions& next);
  void fail(colocation& colocation, object_id object, const char* reason, actions& next);
  void end(colocation& colocation, participant& each, actions& next);
  void forget_if_over(const colocation& colocation, actions& next);
  [[nodiscard]] bool on_ready(colocation& colocation, participant& member, const colocate_news& news, actions& next);
  [[nodiscard]] bool on_acquired(colocation& colocation, participant& member, actions& next);
  [[nodiscard]] bool on_gone(colocation& colocation, participant& member, const colocate_news& news, actions& next);

  std::unordered_map<std::uint64_t, colocation> open_;
  std::uint64_t last_ = 0;
};

}  // namespace nacre
