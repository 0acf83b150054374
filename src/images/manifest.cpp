// SPDX-License-Identifier: Apache-2.0
// JSON with a checksum over itself, which may have been written by anybody.
#include "images/manifest.hpp"

#include <charconv>
#include <cstddef>
#include <exception>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <xxhash.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nesting_scan.hpp"
#include "images/image_error.hpp"

namespace nacre::images {
namespace {

using nlohmann::json;

constexpr int format_version = 1;
constexpr std::uint64_t file_bytes_max = 128 << 20;  // a million ranks
constexpr std::size_t nesting_max = 8;               // functions of the JSON library call themselves for each level
constexpr const char* manifest_name = "nacre image";
constexpr const char* life_name = "nacre life";

std::string text_of_checksum(std::uint64_t checksum) { return fmt::format("{:016x}", checksum); }

std::uint64_t checksum_in(const json& text) {
  const auto& digits = text.get_ref<const std::string&>();
  std::uint64_t checksum = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), checksum, 16);
  if (fault != std::errc() || end != digits.data() + digits.size()) throw std::invalid_argument("a checksum is none");
  return checksum;
}

/// Without bytes that are no UTF-8, which may be in a command line.
std::string text_of(const json& body, int indent) {
  return body.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::uint64_t checksum_of_body(const json& body) {
  const std::string text = text_of(body, -1);
  return XXH3_64bits(text.data(), text.size());
}

std::string with_checksum(const char* name, const json& body) {
  return text_of(json{{name, body}, {"checksum", text_of_checksum(checksum_of_body(body))}}, 1) + "\n";
}

/// The scan is of TOML, and never too small for a text that is JSON: what it takes for a comment, or for a string
/// otherwise, the parser of JSON refuses.
void refuse_deep_nesting(std::string_view text) {
  nesting_scan scan(text);
  while (scan.next()) {
    if (scan.depth() > nesting_max) throw std::invalid_argument("it is nested too deeply");
  }
}

/// Reads a file and passes its body to `take`. Throws damaged_error, also for what `take` throws.
template <class Take>
auto read_body(const std::string& path, const char* name, const Take& take) {
  owned_file file = owned_file::open(path);
  const std::uint64_t bytes = file.size();
  if (bytes > file_bytes_max) throw damaged_error(path + " is too long for a manifest");
  std::string text(bytes, '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  try {
    refuse_deep_nesting(text);
    const json whole = json::parse(text, nullptr, false);
    if (whole.is_discarded()) throw std::invalid_argument("it is cut off, or no manifest");
    const json& body = whole.at(name);
    if (checksum_in(whole.at("checksum")) != checksum_of_body(body))
      throw std::invalid_argument("its checksum differs");
    if (const int version = body.at("version").get<int>(); version != format_version) {
      throw std::invalid_argument(
          fmt::format("it has version {} of the format, and this Nacre reads {}", version, format_version));
    }
    return take(body);
  } catch (const std::exception& error) {
    throw damaged_error(shown(fmt::format("{} cannot be used: {}", path, error.what())));
  }
}

}  // namespace

std::string text_of(const manifest& manifest) {
  json files = json::array();
  for (const file_mark& each : manifest.files) {
    files.push_back({{"bytes", each.bytes}, {"checksum", text_of_checksum(each.checksum)}});
  }
  return with_checksum(manifest_name, {{"version", format_version},
                                       {"life", manifest.life},
                                       {"image", manifest.image},
                                       {"seconds", manifest.seconds},
                                       {"taken", manifest.taken},
                                       {"command", manifest.command},
                                       {"job", manifest.job},
                                       {"kept", manifest.kept},
                                       {"objects", manifest.objects},
                                       {"raw_bytes", manifest.raw_bytes},
                                       {"files", std::move(files)}});
}

std::string text_of(const life_record& record) {
  return with_checksum(life_name, {{"version", format_version},
                                   {"job", record.job},
                                   {"command", record.command},
                                   {"from life", record.from.life},
                                   {"from image", record.from.image}});
}

manifest read_manifest(const std::string& path, const image_number& number) {
  return read_body(path, manifest_name, [&](const json& body) {
    manifest topic{.life = body.at("life").get<std::uint64_t>(),
                   .image = body.at("image").get<std::uint64_t>(),
                   .seconds = body.at("seconds").get<double>(),
                   .taken = body.at("taken").get<std::string>(),
                   .job = body.at("job").get<std::string>(),
                   .command = body.at("command").get<std::string>(),
                   .kept = body.at("kept").get<std::string>(),
                   .objects = body.at("objects").get<std::uint64_t>(),
                   .raw_bytes = body.at("raw_bytes").get<std::uint64_t>(),
                   .files = {}};
    if (image_number{topic.life, topic.image} != number) throw std::invalid_argument("it is of another image");
    for (const json& each : body.at("files")) {
      topic.files.push_back({each.at("bytes").get<std::uint64_t>(), checksum_in(each.at("checksum"))});
    }
    if (topic.files.empty()) throw std::invalid_argument("it names no files");
    return topic;
  });
}

life_record read_life_record(const std::string& path) {
  return read_body(path, life_name, [](const json& body) {
    return life_record{.job = body.at("job").get<std::string>(),
                       .command = body.at("command").get<std::string>(),
                       .from = {body.at("from life").get<std::uint64_t>(), body.at("from image").get<std::uint64_t>()}};
  });
}

std::string shown(std::string text) {
  for (char& each : text) {
    if (static_cast<unsigned char>(each) < ' ' || each == '\x7f') each = '?';
  }
  return text;
}

}  // namespace nacre::images
