// SPDX-License-Identifier: Apache-2.0
// Reads the files of control groups. Their format: cgroups(7), and cgroup-v2.rst in the documents of Linux.
#include "base/cgroup_limits.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace nacre {
namespace {

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

/// Whether a list such as "cpu,cpuacct" has the word.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// A non-negative number of at most `bound`; nothing for other text, such as "max" and "-1".
std::optional<std::uint64_t> number_of(std::string_view text, std::uint64_t bound = ~std::uint64_t{0}) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > bound) return std::nullopt;
  return value;
}

template <class Number>
void lower(std::optional<Number>& bound, std::optional<Number> other) {
  if (other && (!bound || *other < *bound)) bound = other;
}

std::optional<double> processors_of(std::string_view quota, std::string_view period) {
  const auto used = number_of(quota), whole = number_of(period);
  if (!used || !whole || *used == 0 || *whole == 0) return std::nullopt;
  return static_cast<double>(*used) / static_cast<double>(*whole);
}

/// The folder of this process in a hierarchy, and the folder that the hierarchy is mounted at. They are equal where the
/// own folder of the process cannot be told, as from the inside of some containers.
struct group_folder {
  std::string group_path;
  std::string mounted;
};

/// Decodes the spaces of a folder's name, which mountinfo writes as \040, and likewise others.
std::string decoded(std::string_view name) {
  std::string result;
  for (std::size_t place = 0; place < name.size(); ++place) {
    unsigned code = 0;
    const char* const digits = name.data() + place + 1;
    if (name[place] == '\\' && name.size() - place > 3 &&
        std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      result += static_cast<char>(code);
      place += 3;
    } else {
      result += name[place];
    }
  }
  return result;
}

/// `path` is that of the group in its hierarchy, and `controller` one of v1, or empty for v2.
std::optional<group_folder> find_folder(const std::string& root, std::string path, std::string_view controller) {
  for (const std::string& line : lines_of(root + "/proc/self/mountinfo")) {
    const std::vector<std::string> words = words_of(line);
    const auto separator = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - separator < 4) continue;
    const bool is_wanted =
        controller.empty() ? separator[1] == "cgroup2" : separator[1] == "cgroup" && has_word(separator[3], controller);
    if (!is_wanted) continue;
    const std::string mounted_group = decoded(words[3]);  // the group that is mounted: a container may see no other
    group_folder folder{.group_path = {}, .mounted = root + decoded(words[4])};
    if (mounted_group != "/") path = path.starts_with(mounted_group) ? path.substr(mounted_group.size()) : "";
    folder.group_path = path == "/" || path.find("/..") != std::string::npos ? folder.mounted : folder.mounted + path;
    return folder;
  }
  return std::nullopt;
}

/// Calls look(folder) for the group and all groups around it.
template <class Look>
void look_upward(const group_folder& group, Look&& look) {
  std::string folder = group.group_path;
  look(folder);
  while (folder.size() > group.mounted.size()) {
    folder.resize(std::max(folder.rfind('/'), group.mounted.size()));
    look(folder);
  }
}

std::string first_line(const std::string& file) {
  const std::vector<std::string> lines = lines_of(file);
  return lines.empty() ? std::string() : lines.front();
}

void read_v2(const std::string& folder, cgroup_limits& limits) {
  const std::vector<std::string> time = words_of(first_line(folder + "/cpu.max"));
  if (time.size() == 2) lower(limits.processors, processors_of(time[0], time[1]));
  lower(limits.memory_bytes, number_of(first_line(folder + "/memory.max")));
}

void read_processors_v1(const std::string& folder, cgroup_limits& limits) {
  lower(limits.processors,
        processors_of(first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us")));
}

void read_memory_v1(const std::string& folder, cgroup_limits& limits) {
  constexpr std::uint64_t bound = std::uint64_t{1} << 60;  // without a limit the file holds almost 2^63
  lower(limits.memory_bytes, number_of(first_line(folder + "/memory.limit_in_bytes"), bound));
}

}  // namespace

cgroup_limits limits_of_this_process(const std::string& root) {
  cgroup_limits limits;
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {  // number:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    const auto read = [&](std::string_view controller, void (*look)(const std::string&, cgroup_limits&)) {
      if (const auto folder = find_folder(root, path, controller))
        look_upward(*folder, [&](const std::string& each) { look(each, limits); });
    };
    if (controllers.empty()) read("", read_v2);
    if (has_word(controllers, "cpu")) read("cpu", read_processors_v1);
    if (has_word(controllers, "memory")) read("memory", read_memory_v1);
  }
  return limits;
}

}  // namespace nacre
