// SPDX-License-Identifier: Apache-2.0
// Every way in which a small job can go.
#pragma once

#include <cstdint>
#include <string>

#include "model/job.hpp"

namespace model {

struct exploration {
  std::uint64_t states = 0;  ///< that differ in what some rank has seen
  std::uint64_t ends = 0;    ///< of them, those in which nothing is left to happen; each has been judged
  std::uint64_t left = 0;    ///< of them, those beyond which nothing was explored
  double interleavings = 0;  ///< orders of all choices, which these states stand for
  std::uint64_t jobs = 0;    ///< that were begun to reach them
  std::string wrong{};       ///< the first breach of a promise and the choices that led to it; empty: none
};

/// Goes through all interleavings of a program, depth first. A job cannot be copied, so each branch begins another job
/// and repeats the choices that lead to it.
///
/// Two orders of choices at different ranks lead to one state unless a message passes between: a rank's state is a
/// function of what has happened to it. So a state is known by these histories, and one that has been seen already is
/// left there, which loses nothing: all that can follow has been explored.
///
/// Where news of an object's end are under way, a message may go to and fro between the home, which has not heard of
/// it, and the rank where it was, for as long as the news are not delivered. After `forwards_max` of these ways in one
/// job what follows is left out. A job that is not left out and does not end in a hundred choices is a breach.
[[nodiscard]] exploration explore(const program& program, const circumstances& circumstances,
                                  std::uint64_t forwards_max);

}  // namespace model
