// SPDX-License-Identifier: Apache-2.0
// Misfits and files.
#include "output/results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nacre/error.hpp>
#include <program_options.hpp>

#include "numerics/speed_bound.hpp"
#include "pictures/png_file.hpp"

namespace waves {
namespace {

const std::vector<std::string> axes{"x", "y", "z"}, directions_of_waves{"radial", "transverse", "vertical"};

std::string snapshot_name(const options& asked, int number) {
  const std::size_t stem = asked.snapshots.size() - 4;
  if (asked.every == 0) return asked.snapshots;
  return fmt::format("{}-{:04}{}", asked.snapshots.substr(0, stem), number, asked.snapshots.substr(stem));
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The horizontal components of the first receiver as seen from the first source.
seismogram as_seen_from_source(const problem& problem, const seismogram& motion) {
  const position &source = problem.sources.front().place, &target = problem.receivers.front().place;
  const double x = target[0] - source[0], y = target[1] - source[1], distance = std::hypot(x, y);
  return distance > 0 ? rotated(motion, x / distance, y / distance) : motion;
}

/// A source as a receiver sees it; x points to the north, and y to the east.
sac_event event_of(const placed_source& source, const position& receiver) {
  const double north = receiver[0] - source.place[0], east = receiver[1] - source.place[1];
  sac_event event{source.time.start, source.place[2] / 1000, std::hypot(north, east) / 1000, std::nullopt};
  if (event.distance > 0) event.azimuth = std::fmod(std::atan2(east, north) / std::numbers::pi * 180 + 360, 360);
  return event;
}

void add_wider(const seismogram& motion, const seismogram& known, double sigma, report& report) {
  for (const double wider : {0.12, 0.20}) {
    if (wider <= sigma) continue;
    const double more = std::sqrt(wider * wider - sigma * sigma);
    std::vector<std::optional<double>> misfits;
    for (std::size_t k = 0; k < 3; ++k) {
      misfits.push_back(relative_misfit(widened(motion.components[k], more), widened(known.components[k], more)));
    }
    report.wider.emplace_back(wider, misfits);
  }
}

}  // namespace

plane_choice plane_of(const options& asked) {
  const std::string& text = asked.plane;
  char* end = nullptr;
  const double metres = text.size() > 2 ? std::strtod(text.c_str() + 2, &end) : 0;
  if (text.size() < 3 || (text[0] != 'y' && text[0] != 'z') || text[1] != '=' || *end != '\0' ||
      !std::isfinite(metres)) {
    throw nacre::setup_error(
        {"--plane is " + text, "it names a plane of the grid", "write z=0 or y=5000, for example"});
  }
  return {text[0], metres};
}

void check_outputs(const options& asked) {
  static_cast<void>(plane_of(asked));
  if (asked.snapshots.empty() && (asked.every > 0 || asked.plane != options().plane)) {
    throw nacre::setup_error({"--every or --plane is given without --snapshots", "they say which snapshots are written",
                              "name a file by --snapshots, or leave them out"});
  }
  if (!asked.snapshots.empty() && !ends_with(asked.snapshots, ".png") && !ends_with(asked.snapshots, ".vti")) {
    throw nacre::setup_error(
        {"--snapshots is " + asked.snapshots, "the name's end says which format it is", "end it in .png or .vti"});
  }
  if (ends_with(asked.snapshots, ".png") && !pictures::has_png()) {
    throw nacre::setup_error({"--snapshots is " + asked.snapshots, "this waves was built without libpng",
                              "install libpng-dev and build again, or end the name in .vti"});
  }
  nacre::demand_writable(asked.json, "--json");
  nacre::demand_other_file(asked.json, asked.input);
  if (!asked.snapshots.empty()) nacre::demand_writable(snapshot_name(asked, 0), "--snapshots");
  if (!asked.seismograms.empty()) nacre::demand_writable(asked.seismograms + ".txt", "--seismograms");
}

void check_observations(const options& asked, const problem& problem) {
  const grid& grid = problem.grid;
  if (!asked.seismograms.empty() && problem.receivers.empty()) {
    throw nacre::setup_error({"--seismograms is " + asked.seismograms, "the problem has no receiver",
                              "name receivers in an input file, or leave it out"});
  }
  if (asked.snapshots.empty()) return;
  if (const double end = problem.steps * grid.dt; asked.every > end * (1 + 1e-9)) {
    throw nacre::setup_error({fmt::format("--every is {} s", asked.every),
                              fmt::format("the computation ends at {:.6g} s, before the first snapshot", end),
                              "choose a shorter time, or leave it out for one snapshot at the end"});
  }
  const plane_choice plane = plane_of(asked);
  const bool is_level = plane.axis == 'z';
  const double first = is_level ? grid.origin[2] : grid.origin[1];
  const double last = first + ((is_level ? grid.z.count() : grid.y.count()) - 1) * grid.h;
  if (plane.metres >= first - grid.h / 2 && plane.metres <= last + grid.h / 2) return;
  throw nacre::setup_error({"--plane is " + asked.plane,
                            fmt::format("the grid reaches from {:.6g} to {:.6g} m there", first, last),
                            "name a plane of the grid"});
}

std::optional<double> points_per_wave(const problem& problem) {
  double frequency = 0;
  for (const placed_source& each : problem.sources) frequency = std::max(frequency, each.time.highest_frequency());
  if (frequency == 0) return std::nullopt;
  return least_shear_speed(problem.material) / frequency / problem.grid.h;
}

std::vector<std::string> warnings_of(const problem& problem) {
  constexpr double enough = 6, part_max = 1e-3;  // of the peak, which no wave shows
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < problem.sources.size(); ++k) {
    const time_function& time = problem.sources[k].time;
    const double part = std::abs(time.value(0) / time.peak());
    if (part <= part_max) continue;
    lines.push_back(
        fmt::format("source {} has {:.2g} of its greatest value at the time 0 already: it begins with a jump, which "
                    "has waves of all "
                    "frequencies; a later start (gaussian, gaussian_integral, ricker: 4 widths) avoids that",
                    k + 1, part));
  }
  const std::optional<double> points = points_per_wave(problem);
  if (points && *points < enough) {
    lines.push_back(fmt::format(
        "the shortest wavelength, of shear at {:.4g} m/s, has {:.1f} points; with fewer than {} errors are several per "
        "cent in each wavelength of the way: take a smaller h, or a wider source",
        least_shear_speed(problem.material), *points, enough));
  }
  return lines;
}

std::optional<reference> reference_for(const options& asked, const problem& problem) {
  if (asked.reference.empty()) return std::nullopt;
  const auto refuse = [&](const char* reason, const char* remedy) {
    throw nacre::setup_error({"--reference is " + asked.reference, reason, remedy});
  };
  if (asked.base_case == known_case::lamb) refuse("lamb is compared with its exact solution", "leave it out");
  if (problem.receivers.empty() || problem.sources.empty()) {
    refuse("the first receiver is compared, as seen from the first source, and one of them is missing",
           "name them in an input file, or leave it out");
  }
  const reference result = read_reference(asked.reference);
  static_cast<void>(known_motion(asked, problem, result));  // refuses one for a wider source
  return result;
}

std::optional<seismogram> known_motion(const options& asked, const problem& problem,
                                       const std::optional<reference>& reference) {
  if (asked.base_case == known_case::lamb) {
    seismogram motion;
    motion.components[2] = lamb_motion(lamb_of(), problem.grid.dt, problem.steps + 1);
    return motion;
  }
  if (!reference) return std::nullopt;
  const time_function& time = problem.sources.front().time;
  return for_moment(*reference, time.width, time.start);
}

void compare(const options& asked, const problem& problem, const std::vector<seismogram>& motions,
             const seismogram& known, report& report) {
  if (motions.empty()) return;
  report.has_reference = true;
  const seismogram motion = as_seen_from_source(problem, motions.front());
  if (asked.base_case == known_case::lamb) {  // one component is known, and its greatest error has been published
    report.misfit_vertical = greatest_misfit(motion.components[2], known.components[2]);
    return;
  }
  report.misfit_radial = relative_misfit(motion.components[0], known.components[0]);
  report.misfit_transverse = relative_misfit(motion.components[1], known.components[1]);
  report.misfit_vertical = relative_misfit(motion.components[2], known.components[2]);
  if (problem.sources.front().time.kind == time_function::shape::gaussian) {
    add_wider(motion, known, problem.sources.front().time.width, report);
  }
}

void write_all(const std::vector<std::function<void()>>& outputs) {
  std::exception_ptr first;
  for (const auto& each : outputs) {
    try {
      each();
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

void write_seismograms(const options& asked, const problem& problem, const std::vector<seismogram>& motions,
                       const std::optional<seismogram>& known) {
  if (asked.seismograms.empty()) return;
  std::vector<std::string> names;
  for (const seismogram& each : motions) names.push_back(each.name);
  const std::vector<std::string> codes = station_codes(names);
  std::vector<std::function<void()>> files;
  for (std::size_t k = 0; k < motions.size(); ++k) {
    const std::string name = asked.seismograms + "." + motions[k].name;
    const bool compares = k == 0 && known.has_value();
    const seismogram& motion = motions[k];
    files.emplace_back([&motion, name] { write_file(name + ".txt", columns_text(motion, axes)); });
    files.emplace_back([&, compares, name] {
      const seismogram shown = compares ? as_seen_from_source(problem, motion) : motion;
      write_file(name + ".svg", svg_text(shown, compares ? &*known : nullptr, compares ? directions_of_waves : axes));
    });
    for (std::size_t axis = 0; axis < 3; ++axis) {
      files.emplace_back([&, name, axis, k] {
        sac_channel channel{codes[k], axes[axis], axis == 1 ? 90.0 : 0.0, axis == 2 ? 180.0 : 90.0};
        channel.depth = problem.receivers[k].place[2];
        if (!problem.sources.empty()) channel.event = event_of(problem.sources.front(), problem.receivers[k].place);
        write_file(name + "." + axes[axis] + ".sac", sac_bytes(motion.components[axis], channel));
      });
    }
  }
  write_all(files);
}

void write_snapshot(const options& asked, int number, const plane_points& plane) {
  write_file(snapshot_name(asked, number), ends_with(asked.snapshots, ".png") ? plane_png(plane) : vti_bytes(plane));
}

void write_animation(const options& asked, int count) {
  if (asked.every == 0 || count < 2 || !ends_with(asked.snapshots, ".png")) return;
  std::vector<std::string> shots;
  for (int number = 1; number <= count; ++number) {
    const std::string name = snapshot_name(asked, number);
    std::ifstream file(name, std::ios::binary);
    shots.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (!file || shots.back().empty()) shots.pop_back();
  }
  if (shots.size() < 2) return;
  write_file(asked.snapshots, pictures::animated_png(shots));
}

void write_file(const std::string& name, const std::string& bytes) {
  std::ofstream file(name, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error(name + " could not be written");
}

}  // namespace waves
