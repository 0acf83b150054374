// SPDX-License-Identifier: Apache-2.0
// Lives of a job, and what its folder of images holds.
#include "tool/lives.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "images/image_error.hpp"

namespace nacre::tool {
namespace {

/// The images, that first which counts. Throws damaged_error.
std::vector<images::found_image> images_in(const images::image_folder& folder) {
  std::vector<std::string> problems;
  return folder.images(problems);
}

}  // namespace

lives::lives(const std::string& folder, std::string job, const std::string& first_image, std::uint32_t restarts_max)
    : folder_(folder), job_(std::move(job)), restarts_max_(restarts_max) {
  if (first_image.empty()) return;
  try {
    std::vector<images::found_image> all = images_in(images::image_folder::up_to(first_image));
    if (!all.empty()) first_ = std::move(all.front());
  } catch (const images::damaged_error&) {  // the ranks will say so, too
  }
}

std::optional<images::found_image> lives::newest() const {
  const std::vector<images::found_image> all = images_in(folder_);
  const auto own = std::ranges::find(all, job_, [](const images::found_image& each) { return each.description.job; });
  if (own != all.end()) return *own;
  if (!first_ || images_in(images::image_folder::up_to(first_->path)).empty()) return std::nullopt;
  return first_;
}

std::string lives::path_for(const images::found_image& image) const {
  return image.description.job == job_ ? folder_.path() : image.path;
}

std::optional<images::found_image> lives::after_death() {
  std::optional<images::found_image> image = newest();
  if (!image) return std::nullopt;
  if (newest_ != image->number()) restarts_ = 0;
  if (restarts_ >= restarts_max_) return std::nullopt;
  newest_ = image->number();
  ++restarts_;
  ++started_;
  return image;
}

std::chrono::seconds lives::pause() const noexcept {
  constexpr std::chrono::seconds longest{60};
  std::chrono::seconds pause{restarts_ < 2 ? 0 : 1};
  for (std::uint32_t start = 2; start < restarts_ && pause < longest; ++start) pause *= 4;
  return std::min(pause, longest);
}

std::string images_text(const std::string& folder) {
  std::vector<std::string> problems;
  const std::vector<images::found_image> all = images::image_folder::up_to(folder).images(problems);
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
    text += fmt::format("  taken      {}, after {:.3f} s of the job\n", images::shown(each.description.taken),
                        each.description.seconds);
    text += fmt::format("  ranks      {}\n", each.description.ranks());
    text += fmt::format("  objects    {}\n", each.description.objects);
    text += fmt::format("  bytes      {}, packed from {}\n", bytes, each.description.raw_bytes);
    text += fmt::format("  kept value {}\n", images::shown(each.description.kept));
    text += fmt::format("  command    {}\n", images::shown(each.description.command));
  }
  for (const std::string& each : problems) text += each + "\n";
  return text;
}

}  // namespace nacre::tool
