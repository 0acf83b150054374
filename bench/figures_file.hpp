// SPDX-License-Identifier: Apache-2.0
// Writes the figures of benchmarks, as JSON or text, to files and between ranks.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace bench {

/// Writes a file anew. Throws std::runtime_error, with the reason, when it cannot be written whole. An empty path is no
/// file: nothing is written.
void write_file(const std::string& path, const std::string& text);
void write_json(const std::string& path, const nlohmann::json& figures);
void write_json(const std::string& path, const nlohmann::ordered_json& figures);

/// Prints the figures of a rank as one line, for the benchmark that started the job.
void print_json(const nlohmann::json& figures);
/// The figures of such a line; discarded if it is something else.
[[nodiscard]] nlohmann::json read_json(const std::string& line);

}  // namespace bench
