// SPDX-License-Identifier: Apache-2.0
// Lives, images and manifests on the disk.
#include "images/image_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <xxhash.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "images/image_error.hpp"

namespace nacre::images {
namespace {

using nlohmann::json;

constexpr int format_version = 1;
constexpr std::uint64_t manifest_bytes_max = 256 << 20;

/// The number behind `prefix` in a file name; nothing for other names.
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (fault != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

bool is_missing(const std::error_code& fault) {
  return fault == std::errc::no_such_file_or_directory || fault == std::errc::not_a_directory;
}

/// The numbered entries of a folder, ascending; none where there is no such folder. Throws damaged_error.
std::vector<std::uint64_t> numbers_in(const std::string& folder, std::string_view prefix) {
  std::vector<std::uint64_t> numbers;
  std::error_code fault;
  for (std::filesystem::directory_iterator each(folder, fault), end; !fault && each != end; each.increment(fault)) {
    if (const auto number = number_in(each->path().filename().string(), prefix)) numbers.push_back(*number);
  }
  if (fault && !is_missing(fault))
    throw damaged_error(fmt::format("the folder {} cannot be listed: {}", folder, fault.message()));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string text_of_checksum(std::uint64_t checksum) { return fmt::format("{:016x}", checksum); }

std::uint64_t checksum_in(const json& text) {
  const auto& digits = text.get_ref<const std::string&>();
  std::uint64_t checksum = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), checksum, 16);
  if (fault != std::errc() || end != digits.data() + digits.size()) throw std::invalid_argument("a checksum is none");
  return checksum;
}

/// Without what is no UTF-8, which may be in a command line.
std::string text_of(const json& body, int indent) {
  return body.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::uint64_t checksum_of_manifest(const json& body) {
  const std::string text = text_of(body, -1);
  return XXH3_64bits(text.data(), text.size());
}

std::string text_of(const manifest& manifest) {
  json files = json::array();
  for (const file_mark& each : manifest.files) {
    files.push_back({{"bytes", each.bytes}, {"checksum", text_of_checksum(each.checksum)}});
  }
  const json body = {{"version", format_version},   {"life", manifest.life},
                     {"image", manifest.image},     {"seconds", manifest.seconds},
                     {"taken", manifest.taken},     {"command", manifest.command},
                     {"job", manifest.job},         {"kept", manifest.kept},
                     {"objects", manifest.objects}, {"raw_bytes", manifest.raw_bytes},
                     {"files", std::move(files)}};
  return text_of(json{{"nacre image", body}, {"checksum", text_of_checksum(checksum_of_manifest(body))}}, 1) + "\n";
}

/// Throws damaged_error.
manifest read_manifest(const std::string& path, std::uint64_t life, std::uint64_t image) {
  owned_file file = owned_file::open(path);
  const std::uint64_t bytes = file.size();
  if (bytes > manifest_bytes_max) throw damaged_error(path + " is too long for a manifest");
  std::string text(bytes, '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  try {
    const json whole = json::parse(text, nullptr, false);
    if (whole.is_discarded()) throw std::invalid_argument("it is cut off, or no manifest");
    const json& body = whole.at("nacre image");
    if (checksum_in(whole.at("checksum")) != checksum_of_manifest(body))
      throw std::invalid_argument("its checksum differs");
    if (const int version = body.at("version").get<int>(); version != format_version) {
      throw std::invalid_argument(
          fmt::format("it has version {} of the format, and this Nacre reads {}", version, format_version));
    }
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
    if (topic.life != life || topic.image != image) throw std::invalid_argument("it is of another image");
    for (const json& each : body.at("files")) {
      topic.files.push_back({each.at("bytes").get<std::uint64_t>(), checksum_in(each.at("checksum"))});
    }
    if (topic.files.empty()) throw std::invalid_argument("it names no files");
    return topic;
  } catch (const std::exception& error) {
    throw damaged_error(fmt::format("{} cannot be used: {}", path, error.what()));
  }
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    throw write_error(fmt::format("the folder {} cannot be made: {}", path, std::strerror(errno)));
  }
}

}  // namespace

std::string name_of_rank_file(std::uint32_t rank) { return fmt::format("rank-{:05}", rank); }

std::string found_image::file_of(std::uint32_t rank) const { return path + "/" + name_of_rank_file(rank); }

std::string image_folder::path_of(std::uint64_t life, std::uint64_t image) const {
  return fmt::format("{}/life-{:06}/image-{:06}", path_, life, image);
}

std::vector<found_image> image_folder::images(std::vector<std::string>& problems) const {
  std::vector<found_image> found_images;
  std::vector<std::uint64_t> lives = numbers_in(path_, "life-");
  for (auto life = lives.rbegin(); life != lives.rend(); ++life) {
    std::vector<std::uint64_t> images = numbers_in(fmt::format("{}/life-{:06}", path_, *life), "image-");
    for (auto image = images.rbegin(); image != images.rend(); ++image) {
      const std::string path = path_of(*life, *image);
      if (newest_ && image_number{*life, *image} > *newest_) continue;
      std::error_code fault;
      if (!std::filesystem::exists(path + "/manifest.json", fault) && !fault) continue;  // it was never whole
      try {
        found_images.push_back({path, read_manifest(path + "/manifest.json", *life, *image)});
      } catch (const damaged_error& damaged) {
        problems.emplace_back(damaged.what());
      }
    }
  }
  return found_images;
}

image_folder image_folder::up_to(const std::string& path) {
  std::filesystem::path image(path);
  if (!image.has_filename()) image = image.parent_path();  // a slash at the end
  const auto number = number_in(image.filename().string(), "image-");
  const auto life = number_in(image.parent_path().filename().string(), "life-");
  if (!number || !life) return image_folder(path);
  const std::filesystem::path folder = image.parent_path().parent_path();
  image_folder earlier(folder.empty() ? "." : folder.string());
  earlier.newest_ = {*life, *number};
  return earlier;
}

std::vector<std::uint64_t> image_folder::lives_to_follow() const {
  try {
    return numbers_in(path_, "life-");
  } catch (const damaged_error& error) {
    throw write_error(error.what());
  }
}

std::uint64_t image_folder::begin_life() const {
  std::error_code fault;
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, fault);
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw write_error(fmt::format("the folder {} cannot be made: {}", path_, std::strerror(errno)));
  }
  for (;;) {
    const std::vector<std::uint64_t> lives = lives_to_follow();
    if (!lives.empty() && lives.back() == std::numeric_limits<std::uint64_t>::max())
      throw write_error(fmt::format("the folder {} has a life of the last number: remove it", path_));
    const std::uint64_t next = lives.empty() ? 1 : lives.back() + 1;
    const std::string path = fmt::format("{}/life-{:06}", path_, next);
    if (::mkdir(path.c_str(), 0700) == 0) {
      sync_folder(path_);
      return next;
    }
    if (errno != EEXIST) {
      throw write_error(fmt::format("the folder {} cannot be made: {}", path, std::strerror(errno)));
    }
  }
}

std::string image_folder::begin_image(std::uint64_t life, std::uint64_t image) const {
  const std::string path = path_of(life, image);
  make_folder(path);
  return path;
}

void image_folder::commit(const manifest& manifest) const {
  const std::string path = path_of(manifest.life, manifest.image);
  const std::string unnamed = path + "/manifest.new", named = path + "/manifest.json";
  owned_file file = owned_file::make(unnamed);
  const std::string text = text_of(manifest);
  file.write(std::as_bytes(std::span(text)));
  file.sync();
  file.close();
  sync_folder(path);  // the names of the ranks' files
  if (std::rename(unnamed.c_str(), named.c_str()) != 0) {
    throw write_error(fmt::format("{} cannot be renamed: {}", unnamed, std::strerror(errno)));
  }
  sync_folder(path);
  sync_folder(fmt::format("{}/life-{:06}", path_, manifest.life));
}

void image_folder::remove_older(std::size_t kept, const std::vector<image_number>& damaged) const noexcept {
  try {
    std::vector<std::string> problems;
    std::vector<found_image> whole = images(problems);
    std::error_code fault;
    for (const image_number& each : damaged) std::filesystem::remove_all(path_of(each.life, each.image), fault);
    const auto is_damaged = [&](const found_image& each) {
      return std::ranges::find(damaged, each.number()) != damaged.end();
    };
    std::erase_if(whole, is_damaged);
    if (whole.size() < kept) return;
    const image_number oldest = whole[kept - 1].number();
    for (const std::uint64_t life : numbers_in(path_, "life-")) {
      const std::string folder = fmt::format("{}/life-{:06}", path_, life);
      for (const std::uint64_t image : numbers_in(folder, "image-")) {
        if (image_number{life, image} < oldest) std::filesystem::remove_all(path_of(life, image), fault);
      }
      // An empty life stays if it is the newest: its number is what keeps older jobs out.
      if (life < oldest.life) std::filesystem::remove(folder, fault);
    }
  } catch (...) {  // what is left costs room, nothing else
  }
}

void image_folder::remove_unfinished(std::uint64_t life, std::uint64_t image) const noexcept {
  try {
    std::error_code fault;
    std::filesystem::remove_all(path_of(life, image), fault);
  } catch (...) {  // as above
  }
}

}  // namespace nacre::images
