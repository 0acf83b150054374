// SPDX-License-Identifier: Apache-2.0
// Random actions of a main or a handler, each told to the oracle.
#pragma once

#include <cstdint>

#include <nacre/nacre.hpp>

#include "campaign/program.hpp"

namespace campaign {

/// A call on an object, or a colocation, that the oracle expects to come back.
struct pending_call {
  std::uint64_t id;
  nacre::future<std::uint64_t> value;
  bool of_colocation = false;  ///< of a colocation
};

/// Takes one message from what the phase may still send; false when there is none left.
[[nodiscard]] bool spend(world& in);

[[nodiscard]] nacre::rank_id any_rank(world& in);
[[nodiscard]] bool chance(world& in, std::uint32_t percent);
nacre::future<void> migrate(world& in, nacre::operations& op, std::uint32_t object, nacre::rank_id target);

/// A few random actions.
void act(world& in, nacre::operations& op, stream_id stream);

/// A call of a random member of an object.
[[nodiscard]] pending_call ask(world& in, nacre::operations& op, stream_id stream, std::uint32_t object);
/// Awaits it and tells the oracle how it ended.
nacre::task<void> finish(world& in, pending_call asked);
/// The same in a main.
void finish_in_main(world& in, pending_call asked);

/// Creates an object on a random rank, moves one, and waits for that, in a main.
void create_in_main(world& in, nacre::runtime& rt);
/// Main itself is at an object, and sends from there.
void lock_in_main(world& in, nacre::runtime& rt, stream_id stream, std::uint32_t object);
void migrate_in_main(world& in, nacre::runtime& rt);
/// Many messages to one object.
void crowd_in_main(world& in, nacre::runtime& rt, stream_id stream);

/// Any object that has been created, or place of an array; or a number that none has.
[[nodiscard]] std::uint32_t any_object(world& in);

}  // namespace campaign
