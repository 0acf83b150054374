// SPDX-License-Identifier: Apache-2.0
// The assignment of a job's ranks to hosts, by slots, as mpirun does it.
#include "tool/hosts/host_plan.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "tool/run_job.hpp"

namespace nacre::tool {
namespace {

constexpr const char* why_hosts = "nacre run starts ranks on the hosts that it is given";
constexpr std::string_view blanks = " \t\r";

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw setup_error({.problem = problem, .why = why_hosts, .remedy = remedy});
}

std::uint32_t parse_slots(std::string_view digits, std::string_view whole) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 1 || value > ranks_max) {
    refuse(fmt::format("'{}' names no number of slots", whole),
           fmt::format("write HOST:N with N from 1 to {}", ranks_max));
  }
  return value;
}

/// "a", "a:4", "[::1]", "[::1]:4", "::1": a colon begins the number when it is the only one or follows a bracket.
host_slots parse_host(std::string_view text) {
  const std::string_view whole = text;
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  const bool six = bracket == std::string_view::npos && colon != text.find(':');
  std::optional<std::uint32_t> slots;
  if (colon != std::string_view::npos && !six && (bracket == std::string_view::npos || bracket < colon)) {
    slots = parse_slots(text.substr(colon + 1), whole);
    text = text.substr(0, colon);
  }
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  // A name that begins with a dash would be an option of the remote shell.
  if (text.empty() || text.front() == '-' || text.find_first_of(" \t'\"\\") != std::string_view::npos) {
    refuse(fmt::format("'{}' is no name of a host", whole), "write hosts as a,b:4,user@c");
  }
  return {.name = std::string(text), .slots = slots};
}

void add(std::vector<host_slots>& hosts, host_slots one) {
  const auto known = std::find_if(hosts.begin(), hosts.end(), [&](const auto& each) { return each.name == one.name; });
  if (known == hosts.end()) return hosts.push_back(std::move(one));
  known->slots = known->slots.value_or(1) + one.slots.value_or(1);
}

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
  const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

host_slots parse_line(std::string_view line, const std::string& file, std::size_t number) {
  constexpr std::string_view key = "slots=";
  host_slots host = parse_host(next_word(line));
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (!word.starts_with(key)) {
      refuse(fmt::format("line {} of {} has '{}' behind the host", number, file, word),
             "write HOST, HOST:N or HOST slots=N");
    }
    host.slots = parse_slots(word.substr(key.size()), word);
  }
  return host;
}

std::vector<std::uint32_t> places_of(const std::vector<host_slots>& hosts, std::optional<std::uint32_t> ranks) {
  const bool numbered =
      std::any_of(hosts.begin(), hosts.end(), [](const auto& each) { return each.slots.has_value(); });
  const auto count = static_cast<std::uint32_t>(hosts.size());
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t even = ranks ? *ranks / count + (i < *ranks % count ? 1 : 0) : 1;
    places.push_back(numbered ? hosts[i].slots.value_or(1) : even);
  }
  return places;
}

}  // namespace

std::vector<host_slots> parse_hosts(std::string_view list) {
  std::vector<host_slots> hosts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    add(hosts, parse_host(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  if (hosts.empty()) refuse("--hosts names no host", "write hosts as a,b:4,user@c");
  return hosts;
}

std::vector<host_slots> parse_host_file(std::string_view text, const std::string& name) {
  std::vector<host_slots> hosts;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(blanks) != std::string_view::npos) add(hosts, parse_line(line, name, number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (hosts.empty()) refuse(fmt::format("{} names no host", name), "write one host in a line: HOST or HOST slots=N");
  return hosts;
}

std::vector<host_share> spread_ranks(const std::vector<host_slots>& hosts, std::optional<std::uint32_t> ranks,
                                     distribution distribution) {
  const std::vector<std::uint32_t> places = places_of(hosts, ranks);
  std::uint64_t all = 0;
  for (const std::uint32_t each : places) all += each;
  const std::uint64_t wanted = ranks.value_or(static_cast<std::uint32_t>(std::min<std::uint64_t>(all, ranks_max + 1)));
  if (wanted > ranks_max) {
    refuse(fmt::format("the hosts have {} slots", all), fmt::format("choose -n 1 to {}", ranks_max));
  }
  if (wanted > all) {
    refuse(fmt::format("-n {} is more than the {} slots of the hosts", wanted, all),
           "give a host more slots (HOST:N), or none of them a number");
  }
  std::vector<host_share> shares;
  for (const host_slots& each : hosts) shares.push_back({.name = each.name, .ranks = {}});
  std::size_t index = 0;
  for (std::uint32_t rank = 0; rank < wanted; ++rank) {
    while (shares[index].ranks.size() == places[index]) index = (index + 1) % shares.size();
    shares[index].ranks.push_back(rank);
    if (distribution == distribution::cyclic) index = (index + 1) % shares.size();
  }
  std::erase_if(shares, [](const host_share& each) { return each.ranks.empty(); });
  return shares;
}

}  // namespace nacre::tool
