// SPDX-License-Identifier: Apache-2.0
// The plan that shares out the cores of a host.
#include "exec/placement.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <nacre/error.hpp>

namespace nacre {
namespace {

struct share {
  std::size_t begin = 0, end = 0;
};

/// The part `index` of `parts` equal runs of `count` things. Each part has at least count / parts.
share share_of(std::size_t count, std::uint32_t parts, std::uint32_t index) {
  return {count * index / parts, count * (index + std::size_t{1}) / parts};
}

processor_list joined(const std::vector<processor_list>& units, share share) {
  processor_list all;
  for (std::size_t unit = share.begin; unit < share.end; ++unit) {
    all.insert(all.end(), units[unit].begin(), units[unit].end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<processor_list> whole_cores(const host_cores& cores) {
  std::vector<processor_list> units;
  for (const host_core& each : cores) units.push_back(each.processors);
  return units;
}

std::vector<processor_list> hardware_threads(const host_cores& cores) {
  std::vector<processor_list> units;
  for (const host_core& each : cores) {
    for (const std::uint32_t processor : each.processors) units.push_back({processor});
  }
  return units;
}

/// The processors of each NUMA domain.
std::vector<processor_list> domains(const host_cores& cores) {
  std::vector<processor_list> units;
  for (const host_core& each : cores) {
    if (each.domain >= units.size()) units.resize(each.domain + std::size_t{1});
    units[each.domain].insert(units[each.domain].end(), each.processors.begin(), each.processors.end());
  }
  for (processor_list& each : units) std::sort(each.begin(), each.end());
  return units;
}

/// By whole cores if these shares have a processor for each thread, else by hardware threads.
placement by_share(const host_cores& cores, const placement_request& asked, std::uint64_t threads) {
  const std::vector<processor_list> whole = whole_cores(cores), single = hardware_threads(cores);
  if (threads > single.size()) return {};
  bool fits = true;
  for (std::uint32_t rank = 0; rank < asked.ranks && fits; ++rank) {
    fits = joined(whole, share_of(whole.size(), asked.ranks, rank)).size() >= threads / asked.ranks;
  }
  const std::vector<processor_list>& units = fits ? whole : single;
  placement result;
  result.rank = joined(units, share_of(units.size(), asked.ranks, asked.rank));
  result.workers.assign(asked.workers, result.rank);
  if (asked.poll_thread) result.poll_thread = result.rank;
  return result;
}

placement by_core(const host_cores& cores, const placement_request& asked, std::uint64_t threads) {
  std::vector<processor_list> units = whole_cores(cores);
  if (threads > units.size()) units = hardware_threads(cores);
  if (threads > units.size()) {
    throw setup_error(
        {.problem = fmt::format("bind=core: {} threads of {} ranks on this host cannot have a core each", threads,
                                asked.ranks),
         .why = fmt::format("this process may use {} cores with {} hardware threads", cores.size(), units.size()),
         .remedy = "choose fewer ranks or --nacre.workers, or --nacre.bind=numa, or none"});
  }
  const share share = share_of(units.size(), asked.ranks, asked.rank);
  placement result;
  result.rank = joined(units, share);
  result.workers.push_back(result.rank);
  for (std::uint32_t worker = 1; worker < asked.workers; ++worker)
    result.workers.push_back(units[share.begin + worker]);
  if (asked.poll_thread) result.poll_thread = units[share.begin + asked.workers];
  return result;
}

placement by_domain(const host_cores& cores, const placement_request& asked) {
  const std::vector<processor_list> units = domains(cores);
  share share = share_of(units.size(), asked.ranks, asked.rank);
  if (share.begin == share.end) share.end = share.begin + 1;  // ranks share a domain
  placement result;
  result.rank = joined(units, share);
  result.workers.push_back(result.rank);
  for (std::uint32_t worker = 1; worker < asked.workers; ++worker) {
    result.workers.push_back(units[share.begin + (share.end - share.begin) * worker / asked.workers]);
  }
  if (asked.poll_thread) result.poll_thread = result.rank;
  return result;
}

}  // namespace

placement place_threads(const host_cores& cores, const placement_request& asked) {
  const std::uint64_t threads = std::uint64_t{asked.ranks} * (asked.workers + (asked.poll_thread ? 1U : 0U));
  if (cores.empty()) return {};
  switch (asked.mode) {
    case binding::by_need:
      return asked.several_processes && asked.ranks > 1 ? by_share(cores, asked, threads) : placement{};
    case binding::core:
      return by_core(cores, asked, threads);
    case binding::numa:
      return by_domain(cores, asked);
    case binding::none:
      break;
  }
  return {};
}

std::string text_of(const processor_list& list) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < list.size(); first = next) {
    for (next = first + 1; next < list.size() && list[next] == list[next - 1] + 1;) ++next;
    text += fmt::format("{}{}", text.empty() ? "" : ",", list[first]);
    if (next - first > 1) text += fmt::format("-{}", list[next - 1]);
  }
  return text;
}

std::string placement::text() const { return rank.empty() ? "any" : text_of(rank); }

}  // namespace nacre
