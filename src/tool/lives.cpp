// SPDX-License-Identifier: Apache-2.0
// Lives of a job, and what its folder of images holds.
#include "tool/lives.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

/// The newest image of a job; of any job if that has none and `else_any`.
std::optional<images::found_image> newest_in(const images::image_folder& folder, const std::string& job,
                                             bool else_any) {
  std::vector<std::string> problems;
  std::vector<images::found_image> all = folder.images(problems);
  const auto own_position =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.description.job == job; });
  if (own_position != all.end()) return std::move(*own_position);
  if (all.empty() || !else_any) return std::nullopt;
  return std::move(all.front());
}

}  // namespace

lives::lives(std::string folder, std::string job, bool restored, std::uint32_t restarts_max)
    : folder_(std::move(folder)), job_(std::move(job)), restored_(restored), restarts_max_(restarts_max) {}

std::optional<images::found_image> lives::after_death() {
  std::optional<images::found_image> image = newest_in(folder_, job_, restored_);
  if (!image) return std::nullopt;
  const number number{image->description.life, image->description.image};
  if (newest_ != number) restarts_ = 0;
  if (restarts_ >= restarts_max_) return std::nullopt;
  newest_ = number;
  ++restarts_;
  ++started_;
  return image;
}

bool lives::has_image() const { return newest_in(folder_, job_, restored_).has_value(); }

std::string images_text(const std::string& folder) {
  std::vector<std::string> problems;
  const std::vector<images::found_image> all = images::image_folder(folder).images(problems);
  if (all.empty() && problems.empty()) {
    throw setup_error({.problem = fmt::format("{} holds no images", folder),
                       .why = "nacre info FOLDER shows those of a job",
                       .remedy = "name the folder of --nacre.checkpoint.folder"});
  }
  std::string text;
  for (const images::found_image& each : all) {
    std::uint64_t bytes = 0;
    for (const images::file_mark& file : each.description.files) bytes += file.bytes;
    text += fmt::format("{}{}\n", each.path, &each == &all.front() ? "   a restored job goes on from here" : "");
    text +=
        fmt::format("  taken      {}, after {:.3f} s of the job\n", each.description.taken, each.description.seconds);
    text += fmt::format("  ranks      {}\n", each.description.ranks());
    text += fmt::format("  objects    {}\n", each.description.objects);
    text += fmt::format("  bytes      {}, packed from {}\n", bytes, each.description.raw_bytes);
    text += fmt::format("  kept value {}\n", each.description.kept);
    text += fmt::format("  command    {}\n", each.description.command);
  }
  for (const std::string& each : problems) text += each + "\n";
  return text;
}

}  // namespace nacre::tool
