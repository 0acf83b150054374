// SPDX-License-Identifier: Apache-2.0
// Writes the figures of benchmarks, as JSON or text, to files and between ranks.
#include "figures_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bench {

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  errno = 0;
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) {
    throw std::runtime_error(
        fmt::format("cannot write {}: {}", path, errno != 0 ? std::strerror(errno) : "unknown error"));
  }
}

void write_json(const std::string& path, const nlohmann::json& figures) {
  if (!path.empty()) write_file(path, figures.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void write_json(const std::string& path, const nlohmann::ordered_json& figures) {
  if (!path.empty()) write_file(path, figures.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_json(const nlohmann::json& figures) {
  fmt::print("{}\n", figures.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::json read_json(const std::string& line) { return nlohmann::json::parse(line, nullptr, false); }

}  // namespace bench
