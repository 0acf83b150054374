// SPDX-License-Identifier: Apache-2.0
// Steps between images, and files behind the last step.
#include "output/job.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <program_options.hpp>

#include "output/pictures.hpp"
#include "output/snapshot.hpp"
#include "parallel/evolution.hpp"

namespace nbody {
namespace {

void demand_outputs(const options& asked) {
  nacre::demand_writable(asked.json, "--json");
  nacre::demand_writable(asked.out, "--out");
  nacre::demand_other_file(asked.out, asked.model_name);
  nacre::demand_other_file(asked.json, asked.model_name);
  nacre::demand_other_file(asked.json, asked.out);
  if (!asked.pictures.empty()) nacre::demand_writable(asked.pictures + ".png", "--pictures");
}

void write_json(const std::string& name, const result& result) {
  if (name.empty()) return;
  std::ofstream file(name);
  file << result_json(result);
  file.close();
  if (!file) throw nacre::setup_error({"cannot write " + name, "the disk may be full", "try another folder"});
}

/// Calls `body` on rank 0. Returns the text of its setup_error on every rank; empty if it has thrown none. Collective.
template <class Body>
std::string problem_on_rank_0(nacre::runtime& rt, Body&& body) {
  std::string problem;
  if (rt.rank().value() == 0) {
    try {
      body();
    } catch (const nacre::setup_error& error) {
      problem = error.what();
    }
  }
  return rt.broadcast(problem, nacre::rank_id{0});
}

class job {
 public:
  job(nacre::runtime& rt, const options& asked, store::group stores, bool simulated, evolution_state& state)
      : rt_(rt), asked_(asked), state_(state), bodies_(rt, asked_, stores, simulated, state) {}

  /// The first forces. Each function returns a problem, on every rank, or an empty text.
  std::string begin() {
    snapshot read;
    const std::string problem = problem_on_rank_0(rt_, [&] {
      demand_outputs(asked_);
      if (asked_.model.kind == model_kind::file) read = read_snapshot(asked_.model_name);
      take_units(read.units);
    });
    if (!problem.empty()) return problem;
    bodies_.make_pieces(rt_.broadcast(std::uint64_t{read.bodies.size()}, nacre::rank_id{0}));
    return problem_on_rank_0(rt_, [&] {
      bodies_.begin(std::move(read));
      if (!asked_.quiet) fmt::print("{}{}", progress_title(), progress_line(state_));
      warn();
      warn_of_gravity();
      draw();
    });
  }
  std::string go_on() {
    if (rt_.rank().value() != 0) state_.ids = {};  // rank 0 writes them
    return problem_on_rank_0(rt_, [&] {
      demand_outputs(asked_);
      take_gravity_of_image();
      bodies_.go_on();
    });
  }
  std::string steps() {
    std::string problem;
    rt_.steps(state_, asked_.steps, [&](evolution_state& now) {
      problem = problem_on_rank_0(rt_, [&] {
        bodies_.step();
        warn();
        ++now.step;
        const bool reports = now.step % asked_.report_steps == 0 || now.step == asked_.steps;
        if (reports && !asked_.quiet) fmt::print("{}", progress_line(now));
        draw();
        --now.step;  // rt.steps counts
      });
      if (!problem.empty()) now.step = asked_.steps;  // ends the loop
    });
    return problem;
  }
  std::string end(result& result) {
    return problem_on_rank_0(rt_, [&] {
      const auto error = asked_.check ? std::optional(bodies_.check()) : std::nullopt;
      result = result_of(state_, error, bodies_.digest());
      if (!asked_.quiet) fmt::print("{}", result_text(state_, result));
      attempt([&] {
        if (!asked_.out.empty()) write_snapshot(asked_.out, {state_.time, bodies_.bodies(), state_.ids, state_.units});
      });
      attempt([&] { write_json(asked_.json, result); });
      attempt([&] { write_animation(asked_, state_); });
    });
  }
  [[nodiscard]] const std::vector<std::string>& unwritten() const noexcept { return unwritten_; }

 private:
  /// Without --gravity the units of a file decide.
  void take_units(const file_units& units) {
    if (asked_.has_gravity || gravity_of(units) == 0) return;
    asked_.gravity = gravity_of(units);
    state_.units = units;
    if (!asked_.quiet)
      fmt::print("the constant of gravity is {:.6g}, by the units of {}\n", asked_.gravity, asked_.model_name);
  }
  /// Likewise in a run that goes on, which does not read the file.
  void take_gravity_of_image() {
    if (asked_.has_gravity || asked_.model.kind != model_kind::file) return;
    for (const kept_option& each : state_.options) {
      if (each.name == "--gravity") asked_.gravity = std::strtod(each.value.c_str(), nullptr);
    }
  }
  /// For bodies that fly apart, though nobody has said that gravity is that weak.
  void warn_of_gravity() const {
    const measurement& now = state_.last;
    if (asked_.quiet || asked_.has_gravity || asked_.model.kind != model_kind::file) return;
    if (gravity_of(state_.units) > 0 || !(now.kinetic > std::abs(now.potential))) return;
    std::fputs(
        fmt::format("nbody: twice the kinetic energy is {:.3g} times the potential energy, so the bodies fly apart. "
                    "The constant of gravity is 1, for {} does not tell its units: give --gravity, 43007.1 for "
                    "kpc, 1e10 solar masses and km/s\n",
                    2 * now.kinetic / std::abs(now.potential), asked_.model_name)
            .c_str(),
        stderr);
  }
  /// Writes an output. The run goes on without it, so that no other output is lost with it.
  template <class Write>
  void attempt(Write&& write) {
    try {
      write();
    } catch (const nacre::setup_error& error) {
      unwritten_.emplace_back(error.what());
    }
  }
  /// Each line once: a run that gets slow, or inexact, says why.
  void warn() {
    if (asked_.quiet) return;
    warn_once(bodies_.warning(), has_warned_of_crowd_);
    warn_once(bodies_.rung_warning(), has_warned_of_rungs_);
  }
  static void warn_once(const std::string& line, bool& has_warned) {
    if (has_warned || line.empty()) return;
    has_warned = true;
    std::fputs(fmt::format("nbody: {}\n", line).c_str(), stderr);
  }
  void draw() {
    const std::size_t before = unwritten_.size();
    attempt([&] { write_picture(asked_, bodies_, state_); });
    if (before > 0) unwritten_.resize(before);  // one line tells of all pictures
  }

  nacre::runtime& rt_;
  options asked_;  // with the constant of gravity, on rank 0
  evolution_state& state_;
  evolution bodies_;
  std::vector<std::string> unwritten_{};
  bool has_warned_of_crowd_ = false, has_warned_of_rungs_ = false;
};

}  // namespace

job_result run_job(nacre::runtime& rt, const options& asked, bool simulated) {
  const auto stores = rt.create_group<store>();  // before `restored`: no image has a part of it
  auto restored = rt.restored<evolution_state>();
  const bool begins = !restored;
  evolution_state state = std::move(restored).value_or(evolution_state{});
  job whole(rt, asked, stores, simulated, state);
  job_result done;
  done.problem = begins ? whole.begin() : whole.go_on();
  if (done.problem.empty()) done.problem = whole.steps();
  if (done.problem.empty()) done.problem = whole.end(done.outcome);
  done.unwritten = whole.unwritten();
  return done;
}

}  // namespace nbody
