// SPDX-License-Identifier: Apache-2.0
// Starts mesh2d and reads what it and its summary tell.
#include "clam_mesh/parts/breakdown.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "jobs.hpp"

namespace clam_mesh {
namespace {

/// The summary's share of each rank. Looks and moves are parts of other times in it; here each second counts once.
std::vector<rank_time> times_of(const nlohmann::json& summary) {
  std::vector<rank_time> all(summary.at("ranks").size());
  std::vector<double> workers(all.size());
  for (const auto& each : summary.at("workers")) {
    const std::size_t rank = each.at("rank");
    all.at(rank).computing += each.at("handler_seconds").get<double>();
    all[rank].messages += each.at("runtime_seconds").get<double>();
    all[rank].idle += each.at("idle_seconds").get<double>();
    ++workers[rank];
  }
  for (const auto& each : summary.at("ranks")) {
    const std::size_t rank = each.at("rank");
    rank_time& time = all.at(rank);
    time.balancing = each.at("look_seconds").get<double>() - each.at("resting_look_seconds").get<double>() +
                     each.at("migration_seconds").get<double>();
    const double gap = std::min(time.balancing, time.messages);  // the rest was in the step of a handler
    time.messages -= gap;
    time.computing = std::max(0.0, time.computing - (time.balancing - gap));
    for (double* each_time : {&time.computing, &time.messages, &time.balancing, &time.idle}) {
      *each_time /= std::max(workers[rank], 1.0);
    }
  }
  return all;
}

}  // namespace

double breakdown::overhead() const {
  double spent = 0, all = 0;
  for (const rank_time& each : ranks) {
    spent += each.messages + each.balancing;
    all += each.computing + each.messages + each.balancing + each.idle;
  }
  return all > 0 ? spent / all : 0;
}

double breakdown::busiest() const {
  double most = 0;
  for (const rank_time& each : ranks) most = std::max(most, each.computing);
  return most;
}

double breakdown::ideal() const {
  double sum = 0;
  for (const rank_time& each : ranks) sum += each.computing;
  return ranks.empty() ? 0 : sum / static_cast<double>(ranks.size());
}

breakdown run_mesh2d(const std::vector<std::string>& launcher, const std::vector<std::string>& words) {
  const std::string summary =
      (std::filesystem::temp_directory_path() / fmt::format("clam_mesh.{}.json", getpid())).string();
  std::vector<std::string> command = launcher;
  command.push_back((bench::own_folder() / "mesh2d").string());
  command.insert(command.end(), {"pipe", "--json", "--nacre.summary_json=" + summary});
  command.insert(command.end(), words.begin(), words.end());
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0 || got.lines.empty()) {
    std::string line;
    for (const std::string& word : command) line += " " + word;
    throw std::runtime_error(fmt::format("this ended with {}:{}", got.exit_code, line));
  }
  const auto mesh = nlohmann::json::parse(got.lines.front());
  breakdown result;
  result.seconds = mesh.at("mesh_seconds");
  result.triangles = mesh.at("triangles");
  result.moves = mesh.at("moves");
  result.split_messages = mesh.at("split_messages");
  const auto check = mesh.find("check");
  result.checked = check != mesh.end() && check->is_object() && check->at("passed").get<bool>();
  std::ifstream file(summary);
  result.ranks = times_of(nlohmann::json::parse(file));
  std::filesystem::remove(summary);
  return result;
}

nlohmann::ordered_json json_of(const breakdown& breakdown) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const rank_time& each : breakdown.ranks) {
    ranks.push_back({{"computing", each.computing},
                     {"messages", each.messages},
                     {"balancing", each.balancing},
                     {"idle", each.idle}});
  }
  return {{"seconds", breakdown.seconds},       {"triangles", breakdown.triangles},
          {"moves", breakdown.moves},           {"split_messages", breakdown.split_messages},
          {"overhead", breakdown.overhead()},   {"busiest_rank_seconds", breakdown.busiest()},
          {"ideal_seconds", breakdown.ideal()}, {"checked", breakdown.checked},
          {"ranks", std::move(ranks)}};
}

}  // namespace clam_mesh
