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
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "images/image_error.hpp"

namespace nacre::images {
namespace {

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

constexpr const char* manifest_file = "/manifest.json";
constexpr const char* life_file = "/life.json";
constexpr std::uint64_t last_number = std::numeric_limits<std::uint64_t>::max();

/// Writes a file that is there whole or not at all, in a folder whose other names reach the disk with it.
void write_whole(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string named = folder + name, unnamed = named + ".new";
  owned_file file = owned_file::make(unnamed);
  file.write(std::as_bytes(std::span(text)));
  file.sync();
  file.close();
  sync_folder(folder);
  if (std::rename(unnamed.c_str(), named.c_str()) != 0)
    throw write_error(fmt::format("{} cannot be renamed: {}", unnamed, std::strerror(errno)));
  sync_folder(folder);
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

std::string image_folder::path_of_life(std::uint64_t life) const { return fmt::format("{}/life-{:06}", path_, life); }

std::vector<found_image> image_folder::images(std::vector<std::string>& problems) const {
  std::vector<found_image> found_images;
  std::vector<std::uint64_t> lives = numbers_in(path_, "life-");
  for (auto life = lives.rbegin(); life != lives.rend(); ++life) {
    std::vector<std::uint64_t> images = numbers_in(path_of_life(*life), "image-");
    for (auto image = images.rbegin(); image != images.rend(); ++image) {
      const image_number number{*life, *image};
      const std::string path = path_of(*life, *image);
      if ((newest_ && number > *newest_) || is_unfinished(number)) continue;
      try {
        found_images.push_back({path, read_manifest(path + manifest_file, number)});
      } catch (const damaged_error& damaged) {
        problems.emplace_back(damaged.what());
      }
    }
  }
  return found_images;
}

/// It was never whole. Where nobody knows, it may have been.
bool image_folder::is_unfinished(const image_number& number) const {
  std::error_code fault;
  return !std::filesystem::exists(path_of(number.life, number.image) + manifest_file, fault) && !fault;
}

namespace {

/// The number of a life that a path names, and not a folder of images of such a name.
std::optional<std::uint64_t> life_named_by(const std::filesystem::path& path) {
  constexpr std::size_t digits = 6;  // or more, in all names of lives
  constexpr std::string_view prefix = "life-";
  const std::string name = path.filename().string();
  if (name.size() < prefix.size() + digits) return std::nullopt;
  const auto life = number_in(name, prefix);
  return life && numbers_in(path.string(), prefix).empty() ? life : std::nullopt;
}

}  // namespace

image_folder image_folder::up_to(const std::string& path) {
  std::filesystem::path named(path);
  if (!named.has_filename()) named = named.parent_path();  // a slash at the end
  std::optional<image_number> newest;
  std::filesystem::path folder = named.parent_path();
  if (const auto image = number_in(named.filename().string(), "image-")) {
    if (const auto life = number_in(folder.filename().string(), "life-")) newest = {*life, *image};
    folder = folder.parent_path();
  } else if (const auto life = life_named_by(named)) {
    newest = {*life, last_number};
  }
  if (!newest) return image_folder(path);
  image_folder earlier(folder.empty() ? "." : folder.string());
  earlier.newest_ = newest;
  return earlier;
}

bool image_folder::has_named() const {
  if (!newest_) return true;
  if (newest_->image != last_number) {
    std::error_code fault;
    return std::filesystem::exists(path_of(newest_->life, newest_->image), fault) && !is_unfinished(*newest_);
  }
  return !std::ranges::all_of(numbers_in(path_of_life(newest_->life), "image-"), [&](std::uint64_t image) {
    return is_unfinished({newest_->life, image});
  });
}

/// The image from which a life goes on; zeros: none, or nobody knows.
image_number image_folder::begin_of(std::uint64_t life) const {
  const std::string folder = path_of_life(life);
  std::error_code fault;
  if (!std::filesystem::exists(folder, fault)) return {};
  if (std::filesystem::exists(folder + life_file, fault)) {
    try {
      return read_life_record(folder + life_file).from;
    } catch (const damaged_error&) {
      return {};
    }
  }
  if (fault) return {};
  const std::vector<std::uint64_t> lives = numbers_in(path_, "life-");
  const auto next = std::lower_bound(lives.begin(), lives.end(), life);
  return next == lives.begin() ? image_number{} : image_number{*std::prev(next), last_number};
}

std::vector<image_number> image_folder::lineage(const image_number& last) const {
  std::vector<image_number> all{last};
  for (;;) {
    const image_number begin = begin_of(all.back().life);
    if (begin.life == 0 || begin.life >= all.back().life) return all;
    all.push_back(begin);
  }
}

bool has(const std::vector<image_number>& lineage, const image_number& number) noexcept {
  const auto life = std::ranges::find(lineage, number.life, &image_number::life);
  return life != lineage.end() && number.image <= life->image;
}

std::vector<std::uint64_t> image_folder::lives_to_follow() const {
  try {
    return numbers_in(path_, "life-");
  } catch (const damaged_error& error) {
    throw write_error(error.what());
  }
}

namespace {

/// In the folder of a life that is new, and which goes again when the disk refuses.
void tell_begin(const std::string& folder, const life_record& record) {
  try {
    write_whole(folder, life_file, text_of(record));
  } catch (const write_error&) {
    std::error_code fault;
    std::filesystem::remove_all(folder, fault);
    throw;
  }
}

}  // namespace

std::uint64_t image_folder::begin_life(const life_record& record) const {
  std::error_code fault;
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, fault);
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw write_error(fmt::format("the folder {} cannot be made: {}", path_, std::strerror(errno)));
  }
  for (;;) {
    const std::vector<std::uint64_t> lives = lives_to_follow();
    if (!lives.empty() && lives.back() == last_number)
      throw write_error(fmt::format("the folder {} has a life of the last number: remove it", path_));
    const std::uint64_t next = lives.empty() ? 1 : lives.back() + 1;
    const std::string path = path_of_life(next);
    if (::mkdir(path.c_str(), 0700) == 0) {
      tell_begin(path, record);
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
  write_whole(path_of(manifest.life, manifest.image), manifest_file, text_of(manifest));
  sync_folder(path_of_life(manifest.life));
}

void image_folder::remove_empty_life(std::uint64_t life) const {
  const std::string folder = path_of_life(life);
  if (!numbers_in(folder, "image-").empty()) return;
  std::error_code fault;
  std::filesystem::remove(folder + life_file, fault);
  std::filesystem::remove(folder, fault);
}

void image_folder::remove_older(std::uint64_t life, std::size_t kept,
                                const removal_exceptions& exceptions) const noexcept {
  try {
    std::error_code fault;
    for (const image_number& each : exceptions.damaged)
      std::filesystem::remove_all(path_of(each.life, each.image), fault);
    const std::vector<image_number> line = lineage({life, last_number});
    std::vector<std::string> problems;
    std::vector<found_image> whole = images(problems);
    std::erase_if(whole, [&](const found_image& each) {
      return !has(line, each.number()) ||
             std::ranges::find(exceptions.damaged, each.number()) != exceptions.damaged.end();
    });
    const image_number oldest = whole.size() < kept ? image_number{} : whole[kept - 1].number();
    // The oldest go first, so that no life is removed before those that only it leads to.
    for (auto last = line.rbegin(); last != line.rend(); ++last) {
      for (const std::uint64_t image : numbers_in(path_of_life(last->life), "image-")) {
        const image_number number{last->life, image};
        const bool is_old = number < oldest && image <= last->image;
        const bool is_left = is_unfinished(number) && (last->life != life || number < oldest);
        if ((is_old || is_left) && number != exceptions.spared)
          std::filesystem::remove_all(path_of(number.life, image), fault);
      }
      // An empty life stays if it is the newest: its number is what keeps older jobs out.
      if (last->life != life) remove_empty_life(last->life);
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

/// Removes a life's unfinished images. Returns whether there was one.
bool image_folder::remove_all_unfinished(std::uint64_t life) const {
  bool is_any = false;
  for (const std::uint64_t image : numbers_in(path_of_life(life), "image-")) {
    if (!is_unfinished({life, image})) continue;
    std::error_code fault;
    std::filesystem::remove_all(path_of(life, image), fault);
    is_any = is_any || !fault;
  }
  return is_any;
}

/// Whether a life that is none of its own is one of the job whose present life has this record. `lineage`: of that.
bool image_folder::is_earlier_life(std::uint64_t life, const life_record& record,
                                   const std::vector<image_number>& lineage) const {
  if (std::ranges::find(lineage, life, &image_number::life) != lineage.end()) return true;
  const std::string path = path_of_life(life) + life_file;
  std::error_code fault;
  if (!std::filesystem::exists(path, fault)) return false;
  try {
    const life_record other = read_life_record(path);
    return (!record.job.empty() && other.job == record.job) ||
           (other.command == record.command && other.from == record.from);
  } catch (const damaged_error&) {
    return false;
  }
}

bool image_folder::remove_remains(std::uint64_t life, const life_record& record) const noexcept {
  bool is_any = false;
  try {
    const std::vector<image_number> line = record.from.life == 0 ? std::vector<image_number>() : lineage(record.from);
    for (const std::uint64_t each : numbers_in(path_, "life-")) {
      if ((life != 0 && each >= life) || !is_earlier_life(each, record, line)) continue;
      is_any = remove_all_unfinished(each) || is_any;
    }
  } catch (...) {  // as above
  }
  return is_any;
}

}  // namespace nacre::images
