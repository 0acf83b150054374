// SPDX-License-Identifier: Apache-2.0
// Beginning a job from an image.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "base/print_error.hpp"
#include "images/image_error.hpp"
#include "mobile/directory/epoch_guard.hpp"
#include "mobile/image/image_names.hpp"
#include "mobile/image/object_images.hpp"
#include "runtime/checkpoints.hpp"
#include "runtime/command_text.hpp"
#include "runtime/engine.hpp"
#include "runtime/last_image.hpp"

namespace nacre {
namespace {

/// An image as rank 0 tells of it, so that one rank lists the folder.
struct told_image {
  std::string path, job;
  std::uint64_t life = 0, image = 0;
  double seconds = 0;
  std::vector<std::uint64_t> bytes, checksums;  ///< of the files, by rank
  template <class Archive>
  void serialize(Archive& ar) {
    ar(path, job, life, image, seconds, bytes, checksums);
  }
};

told_image told(const images::found_image& image) {
  const images::manifest& description = image.description;
  told_image all{image.path, description.job, description.life, description.image, description.seconds, {}, {}};
  for (const images::file_mark& each : image.description.files) {
    all.bytes.push_back(each.bytes);
    all.checksums.push_back(each.checksum);
  }
  return all;
}

images::found_image heard(const told_image& image) {
  images::found_image found_image{image.path, {}};
  found_image.description.job = image.job;
  found_image.description.life = image.life;
  found_image.description.image = image.image;
  found_image.description.seconds = image.seconds;
  for (std::size_t rank = 0; rank < image.bytes.size(); ++rank)
    found_image.description.files.push_back({image.bytes[rank], image.checksums[rank]});
  return found_image;
}

/// Only images on the way to the first one count, which is the named one if there is such: others are of other starts.
/// In a later life of a job those of another one do not count either.
void keep_lineage(std::vector<images::found_image>& found_images, const images::image_folder& folder) {
  const std::string job = mark_of_job();
  const auto is_other = [&](const images::found_image& each) { return each.description.job != job; };
  if (!job.empty() && !std::ranges::all_of(found_images, is_other)) std::erase_if(found_images, is_other);
  if (found_images.empty()) return;
  const std::vector<images::image_number> line = folder.lineage(folder.named().value_or(found_images.front().number()));
  std::erase_if(found_images, [&](const images::found_image& each) { return !images::has(line, each.number()); });
}

/// Whether these images are in the folder that the job writes to.
bool is_own_folder(const std::string& restore, const std::string& folder) {
  std::error_code fault;
  return !folder.empty() && std::filesystem::equivalent(images::image_folder::up_to(restore).path(), folder, fault);
}

}  // namespace

void checkpoints::main_returned() const {
  expect_asked();
  if (folder_.empty() || waited_ || asked_) return;
  tell(
      "no image was taken, as main has never waited with a value that is kept: rt.wait_quiescence(kept), rt.steps or "
      "rt.checkpoint(kept)");
}

void checkpoints::expect_asked() const {
  if (restore_.empty() || asked_) return;
  throw usage_error(
      "the job is to go on from an image (restore), but main has never called rt.restored, and so has begun the work "
      "anew: call it before the first send");
}

/// The images of the folder, those first that count first. Rank 0; it tells what cannot be used, and a difference
/// between the commands.
std::vector<images::found_image> checkpoints::look_for_images() const {
  std::error_code fault;
  if (std::filesystem::exists(restore_, fault) && !std::filesystem::is_directory(restore_, fault))
    throw setup_error(
        {restore_ + " is a file", "a job goes on from a folder of images", "name that, or one of its images"});
  const images::image_folder folder = images::image_folder::up_to(restore_);
  std::vector<std::string> problems;
  std::vector<images::found_image> found_images = folder.images(problems);
  if (!folder.has_named()) {
    throw setup_error({.problem = fmt::format("there is no image {}", restore_),
                       .why = found_images.empty() ? "there is none before it either"
                                                   : "the newest before it is " + found_images.front().path,
                       .remedy = fmt::format("look with nacre info {}", folder.path())});
  }
  for (const std::string& each : problems) tell(each);
  keep_lineage(found_images, folder);
  constexpr std::size_t tried_max = 2;  // a second one that is damaged too is no accident
  if (found_images.size() > tried_max) found_images.resize(tried_max);
  const bool is_none = found_images.empty();
  if (is_none && (!problems.empty() || folder.named())) throw setup_error("no image in " + restore_ + " can be used");
  if (is_none) tell(fmt::format("the folder {} has no image: the job begins anew", restore_));
  if (!is_none && found_images.front().description.command != text_of_command()) {
    tell(fmt::format("the image was taken by `{}`, and this job is `{}`",
                     images::shown(found_images.front().description.command), text_of_command()));
  }
  return found_images;
}

/// This rank's files. Throws damaged_error.
std::vector<images::sections> checkpoints::read(const images::found_image& image) const {
  std::vector<images::sections> files;
  for (std::uint32_t rank = core_.rank().value(); rank < image.description.ranks(); rank += core_.size()) {
    const images::file_name name{image.description.life, image.description.image, rank, image.description.ranks()};
    files.push_back(images::read_image_file(image.file_of(rank), name, image.description.files[rank]));
  }
  return files;
}

std::optional<std::vector<std::byte>> checkpoints::restore(thread_context& thread, std::string_view class_name,
                                                           std::uint32_t mark) {
  if (asked_) throw usage_error("rt.restored is called twice: once, before the first send, is enough");
  core_.expect_own_thread();
  core_.access().must_not_hold();
  asked_ = true;
  earlier_.groups_before = core_.groups().made();
  if (!core_.objects().images(thread).nothing_made() || core_.containers().next_container() != 1)
    throw usage_error("rt.restored comes before everything but groups: objects, arrays or containers have been made");
  if (restore_.empty()) return std::nullopt;
  runtime rt(core_, thread);
  std::vector<told_image> candidates;
  std::string failure;
  if (core_.rank().value() == 0) {
    try {
      for (const images::found_image& each : look_for_images()) candidates.push_back(told(each));
    } catch (const std::exception& refused) {
      failure = refused.what();
    }
  }
  failure = rt.broadcast(failure, rank_id(0));
  if (!failure.empty()) throw setup_error(failure);
  candidates = rt.broadcast(candidates, rank_id(0));
  if (candidates.empty()) return std::nullopt;
  for (const told_image& each : candidates) {
    std::optional<rank_restorer> restorer;
    const images::found_image image = heard(each);
    std::string misfit;
    failure.clear();
    try {
      restorer.emplace(core_, thread, read(image), image.description.ranks());
      restorer->check(earlier_.groups_before);
    } catch (const images::damaged_error& damaged) {
      failure = damaged.what();
    } catch (const fiber::unwind&) {
      throw;
    } catch (...) {
      misfit = text_of_thrown();
    }
    misfit = all_or_first(thread, misfit);
    if (!misfit.empty() && image.description.ranks() != core_.size()) throw restore_refused(misfit);
    if (!misfit.empty()) throw setup_error(misfit);  // an older image would fit no better
    failure = all_or_first(thread, failure);
    if (failure.empty()) return install(thread, *restorer, image, class_name, mark);
    if (core_.rank().value() == 0 && is_own_folder(restore_, folder_)) damaged_.push_back(image.number());
    if (&each != &candidates.back()) tell(failure + "; the image before is tried");
  }
  throw setup_error(failure + "; no other image can be used");
}

namespace {

/// Objects that lie elsewhere go to their new homes, ahead of the messages that lie at them; those that may not move
/// stay.
/// Collective: each round ends with quiescence, so that all ranks take as many.
void go_home(engine& core, thread_context& thread, const std::vector<std::pair<std::uint64_t, std::uint32_t>>& going) {
  constexpr std::size_t at_once = 1 << 16;
  const std::size_t rounds =
      runtime(core, thread).all_reduce((going.size() + at_once - 1) / at_once, [](std::size_t a, std::size_t b) {
        return std::max(a, b);
      });
  for (std::size_t round = 0; round < rounds; ++round) {
    {
      const epoch_guard guard(thread);
      const std::size_t end = std::min(going.size(), (round + 1) * at_once);
      for (std::size_t index = round * at_once; index < end; ++index) {
        static_cast<void>(core.objects().requests().request(thread, object_id::from_value(going[index].first),
                                                            rank_id(going[index].second), wish_kind::always));
      }
    }
    core.wait_quiescence(thread);  // they have come
  }
}

}  // namespace

/// The account and the clock.
void checkpoints::go_on_from(const images::found_image& image) {
  // In a later life of a job the launcher has named one of its own images, and told of it.
  const bool is_asked_for = mark_of_job().empty() || image.description.job != mark_of_job();
  if (core_.rank().value() == 0 && is_own_folder(restore_, folder_)) {
    from_ = image.number();
    if (is_asked_for && images::image_folder::up_to(restore_).named()) spared_ = from_;
  }
  if (is_asked_for)
    tell(fmt::format("the job goes on from {}, {:.1f} s into it", image.path, image.description.seconds));
  core_.job_time().go_on_from(image.description.seconds);
  last_image_signals::note_image();
  last_image_ = image.description.image;
  taken_.restored = image.path;
  taken_.restored_seconds = image.description.seconds;
  last_seconds_ = image.description.seconds;
}

std::vector<std::byte> checkpoints::install(thread_context& thread, rank_restorer& restorer,
                                            const images::found_image& image, std::string_view class_name,
                                            std::uint32_t mark) {
  runtime rt(core_, thread);
  const bool first = core_.rank().value() == 0;
  resized_ = image.description.ranks() != core_.size();
  detail::kept_value kept;
  std::string failure;
  try {
    if (first) kept = restorer.kept();
    if (first && kept.mark != mark)
      failure = fmt::format("the image keeps a value of another class than {}", class_name);
  } catch (const std::exception& refused) {
    failure = refused.what();
  }
  failure = all_or_first(thread, failure);
  if (!failure.empty()) throw setup_error(failure);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> going;
  core_.objects().activation().begin_hold();  // no message that lay in the image runs before all is there
  restorer.open(earlier_);
  rt.barrier();  // all ranks know the arrays and the homes
  try {
    going = restorer.install();
  } catch (const fiber::unwind&) {
    throw;
  } catch (...) {
    failure = fmt::format("rank {} cannot be restored from {}: {}", core_.rank().value(), image.path, text_of_thrown());
  }
  failure = all_or_first(thread, failure);
  if (!failure.empty()) throw setup_error(failure);
  core_.objects().images(thread).begin_arrays();
  rt.barrier();
  restorer.install_sections();
  restorer.install_steps();
  make_containers(thread);
  restorer.tell_groups();
  go_home(core_, thread, going);
  go_on_from(image);
  core_.wait_quiescence(thread);
  std::vector<std::byte> bytes = rt.broadcast(kept.bytes, rank_id(0));
  restorer.install_delayed();
  restorer.release_files();
  core_.objects().activation().end_hold(thread);
  // The image may be of the middle of a wait, which ends now.
  if (interrupts_waits()) {
    wait_with_images(thread, {class_name, mark, bytes, false});
  } else {
    core_.wait_quiescence(thread);
  }
  return bytes;
}

}  // namespace nacre
