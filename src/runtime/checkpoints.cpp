// SPDX-License-Identifier: Apache-2.0
// Taking images: the agreement, the cut, and the files.
#include "runtime/checkpoints.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "base/print_error.hpp"
#include "images/image_error.hpp"
#include "join/launch/image_wish.hpp"
#include "mobile/image/image_names.hpp"
#include "runtime/command_text.hpp"
#include "runtime/engine.hpp"
#include "runtime/image_sections.hpp"
#include "runtime/last_image.hpp"

namespace nacre {
namespace {

constexpr int tries = 3;  // of a cut, when something runs meanwhile
constexpr std::size_t kept_images = 2;
constexpr double seconds_between_tries = 1;  // of a last image that fails

/// UTC.
std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::string text(sizeof "2026-11-29T10:00:00Z", '\0');
  if (::gmtime_r(&now, &parts) == nullptr) return "unknown";
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

/// The least failure by rank, for all_reduce.
std::string first_of(const std::string& a, const std::string& b) { return !a.empty() ? a : b; }

}  // namespace

/// The facts that ranks compare in a kept wait.
struct checkpoints::agreement {
  std::uint32_t mark_first = 0, mark_last = 0;
  std::uint64_t value_first = 0, value_last = 0;
  std::uint8_t wish_first = 0, wish_last = 0;
  std::uint8_t due = 0;    ///< by rank 0's clock
  std::uint8_t last = 0;   ///< a signal asks for an image behind which the job ends
  std::uint8_t later = 0;  ///< that image has just failed, by rank 0's clock
  [[nodiscard]] static agreement combine(const agreement& a, const agreement& b) {
    return {std::min(a.mark_first, b.mark_first),
            std::max(a.mark_last, b.mark_last),
            std::min(a.value_first, b.value_first),
            std::max(a.value_last, b.value_last),
            std::min(a.wish_first, b.wish_first),
            std::max(a.wish_last, b.wish_last),
            std::max(a.due, b.due),
            std::max(a.last, b.last),
            std::max(a.later, b.later)};
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(mark_first, mark_last, value_first, value_last, wish_first, wish_last, due, last, later);
  }
};

checkpoints::checkpoints(engine& core, const config& configuration)
    : core_(core),
      folder_(configuration.get_string("checkpoint.folder")),
      restore_(configuration.get_string("restore")),
      every_(configuration.get_duration("checkpoint.every")),
      packing_(configuration.get_string("checkpoint.compression") == "zstd" ? images::image_writer::compression::zstd
                                                                            : images::image_writer::compression::none),
      has_signal_(last_image_signal_of(configuration) != 0),
      delayed_(core) {
  core_.messages().attach_module(*this);
}

void checkpoints::tell(const std::string& line) const {
  if (core_.rank().value() == 0) print_error("nacre: {}\n", line);
}

void checkpoints::tell_once(const std::string& line) {
  std::string kind;  // the line without its numbers, but with those of names, as in tile<2>
  for (const char c : line) {
    const bool counts = c >= '0' && c <= '9' && !kind.empty() && (kind.back() == ' ' || kind.back() == ':');
    if (!counts) kind += c;
  }
  if (told_.insert(std::move(kind)).second) tell(line);
}

std::string checkpoints::all_or_first(thread_context& thread, const std::string& failure) {
  return runtime(core_, thread).all_reduce(failure, &first_of);
}

/// All mains are in the same wait before objects are held, so the ranks compare what they keep at its beginning, too.
bool checkpoints::wait(thread_context& thread, const detail::kept_value& kept, detail::image_wish wish) {
  if (exit_code_ == exit_behind_image) throw end_behind_image();  // main has caught it once
  expect_asked();
  waited_ = true;
  if (interrupts_waits()) {
    static_cast<void>(agree(thread, kept, wish));
    wait_with_images(thread, kept);
  } else {
    core_.wait_quiescence(thread);
  }
  if (folder_.empty()) {
    if (wish == detail::image_wish::now)
      tell("rt.checkpoint takes no image, as no folder is named for it: --nacre.checkpoint.folder=DIR");
    return false;
  }
  const agreed now = agree(thread, kept, wish);
  if (!now.due) return false;
  const bool durable = take(thread, kept);
  if (!now.last) return durable;
  if (!durable) {
    next_last_ = core_.job_time().seconds() + seconds_between_tries;
    return false;
  }
  end_behind_last();
}

/// On all ranks: the last image is durable.
void checkpoints::end_behind_last() {
  exit_code_ = exit_behind_image;
  tell(fmt::format("the job ends behind its last image, with code {}; --nacre.restore={} goes on from it", exit_code_,
                   folder_));
  throw end_behind_image();
}

bool checkpoints::take(thread_context& thread, const detail::kept_value& kept) {
  runtime rt(core_, thread);
  const phase phase(rt, "image");
  const double begin = core_.job_time().seconds();
  return keep(thread, cut(thread, kept), kept.class_name, begin);
}

/// Writes an image, if there is one, and keeps the account.
bool checkpoints::keep(thread_context& thread, const std::optional<rank_image>& image, std::string_view class_name,
                       double begin) {
  const bool durable = image && write(thread, *image, class_name);
  last_seconds_ = core_.job_time().seconds();
  taken_.seconds += last_seconds_ - begin;
  if (durable) {
    ++taken_.images;
    taken_.bytes += image->bytes();
    last_image_signals::note_image();
  }
  return durable;
}

void checkpoints::refuse(const std::string& reason) {
  exit_code_ = exit_refused;
  tell(reason + "; the job ends");
}

/// Whether an image is to be taken now. Throws on every rank when the ranks call different things.
checkpoints::agreed checkpoints::agree(thread_context& thread, const detail::kept_value& kept,
                                       detail::image_wish wish) {
  const std::uint64_t value = kept.compared ? images::checksum(kept.bytes) : 0;
  const bool first = core_.rank().value() == 0;
  const double seconds = core_.job_time().seconds();
  const bool due =
      wish == detail::image_wish::now ||
      (first && every_.count() > 0 && seconds - last_seconds_ >= std::chrono::duration<double>(every_).count());
  // A program that handles signals ends in its own way.
  const bool last = launch::last_image_signal() != 0 && !core_.outside().stops.handled();
  const auto number = static_cast<std::uint8_t>(wish);
  const agreement own_wish{kept.mark,
                           kept.mark,
                           value,
                           value,
                           number,
                           number,
                           static_cast<std::uint8_t>(due ? 1 : 0),
                           static_cast<std::uint8_t>(last ? 1 : 0),
                           static_cast<std::uint8_t>(first && seconds < next_last_ ? 1 : 0)};
  const auto all = detail::unpack_own<agreement>(
      detail::combine_values(core_, thread, collective_kind::kept_wait, {}, own_wish, &agreement::combine));
  if (all.mark_first != all.mark_last)
    throw usage_error("the ranks wait with kept values of different classes: all keep the same one");
  if (all.wish_first != all.wish_last)
    throw usage_error("some ranks call rt.checkpoint and others rt.wait_quiescence: all call the same");
  if (all.value_first != all.value_last)
    throw usage_error("the ranks keep different values: what differs between ranks belongs in a group");
  return {.due = all.due != 0 || (all.last != 0 && all.later == 0), .last = all.last != 0};
}

/// Everything that ends or changes an object, a container or a group counts here.
std::uint64_t checkpoints::handled() const {
  std::uint64_t sum = 0;
  for (const auto& each : core_.pool().thread_contexts()) sum += each->counters().done.read();
  return sum;
}

/// Packs this rank; nothing when something is in the way on any rank.
std::optional<rank_image> checkpoints::cut(thread_context& thread, const detail::kept_value& kept) {
  for (int number = 0; number < tries; ++number) {
    core_.wait_quiescence(thread);
    const std::uint64_t previous = handled();
    rank_image image;
    std::string failure;
    try {
      image = pack_rank(core_, thread, kept, earlier_);
    } catch (const fiber::unwind&) {
      throw;
    } catch (...) {
      failure = fmt::format("no image is taken: rank {}: {}", core_.rank().value(), text_of_thrown());
    }
    core_.wait_quiescence(thread);                 // on no rank before all have packed
    const bool alone = handled() == previous + 1;  // this wait
    core_.wait_quiescence(thread);                 // no rank sends before all have looked
    failure = all_or_first(thread, failure);
    if (!failure.empty()) {
      core_.messages().held.on() ? tell_once(failure) : tell(failure);
      return std::nullopt;
    }
    if (runtime(core_, thread).all_reduce(alone ? 1 : 0, [](int a, int b) { return std::min(a, b); }) == 1)
      return image;
  }
  tell(fmt::format("no image is taken: {} times something ran while the ranks were packed", tries));
  return std::nullopt;
}

namespace {

/// The record of a life that goes on from an image of its folder.
images::life_record record_of(const images::image_number& from) { return {mark_of_job(), text_of_command(), from}; }

/// Images of other starts stay, which a person may not know of. Empty if there are none. `damaged` count as none.
std::string line_of_other_starts(const images::image_folder& folder, const images::image_number& from,
                                 const std::vector<images::image_number>& damaged) {
  std::vector<std::string> problems;
  std::vector<images::found_image> all = folder.images(problems);
  std::erase_if(
      all, [&](const images::found_image& each) { return std::ranges::find(damaged, each.number()) != damaged.end(); });
  if (all.empty() || (from.life != 0 && images::has(folder.lineage(from), all.front().number()))) return {};
  const images::manifest& newest = all.front().description;
  return fmt::format(
      "the folder {} has images of another start, which stay, and from which this job does not go on; the newest, "
      "taken "
      "{} by `{}`, is {}",
      folder.path(), images::shown(newest.taken), images::shown(newest.command), all.front().path);
}

checkpoints::written_file write_rank(const std::string& path, const images::file_name& name, const rank_image& image,
                                     images::image_writer::compression packing) {
  images::image_writer file(path, name, packing);
  for (const auto& [section, pieces] : image.parts) {
    for (const writer& each : pieces) file.add(section, each.bytes());
  }
  return {file.finish(), image.objects, image.bytes()};
}

}  // namespace

/// On rank 0: makes the folder of the next image.
checkpoints::image_place checkpoints::next_place() {
  image_place place;
  try {
    const images::image_folder folder(folder_);
    if (life_ == 0) {
      folder.remove_remains(0, record_of(from_));
      if (const std::string line = line_of_other_starts(folder, from_, damaged_); !line.empty()) tell(line);
      life_ = folder.begin_life(record_of(from_));
    }
    place.life = life_;
    place.image = ++last_image_;
    place.folder = folder.begin_image(place.life, place.image);
  } catch (const std::exception& refused) {
    place.failure = refused.what();
  }
  return place;
}

/// On rank 0, when all files are on the disk. Returns what is wrong, empty if nothing is.
std::string checkpoints::commit(const image_place& place, const std::vector<written_file>& files,
                                std::string_view class_name) const {
  images::manifest manifest{.life = place.life,
                            .image = place.image,
                            .seconds = core_.job_time().seconds(),
                            .taken = date_and_time(),
                            .job = mark_of_job(),
                            .command = text_of_command(),
                            .kept = std::string(class_name),
                            .objects = 0,
                            .raw_bytes = 0,
                            .files = {}};
  for (const written_file& each : files) {
    manifest.files.push_back(each.mark);
    manifest.objects += each.objects;
    manifest.raw_bytes += each.raw_bytes;
  }
  try {
    images::image_folder(folder_).commit(manifest);
    return {};
  } catch (const images::write_error& refused) {
    return refused.what();
  }
}

/// Returns what is wrong, empty if nothing is.
std::string checkpoints::try_to_write(thread_context& thread, const rank_image& image, std::string_view class_name) {
  runtime rt(core_, thread);
  const rank_id rank = core_.rank();
  const bool first = rank.value() == 0;
  const image_place place = rt.broadcast(first ? next_place() : image_place{}, rank_id(0));
  written_file own_file;
  std::string failure = place.failure;
  if (failure.empty()) {
    try {
      own_file = write_rank(place.folder + "/" + images::name_of_rank_file(rank.value()),
                            {place.life, place.image, rank.value(), core_.size()}, image, packing_);
    } catch (const std::exception& refused) {
      failure = refused.what();
    }
  }
  failure = all_or_first(thread, failure);
  const std::vector<written_file> files = rt.gather(own_file, rank_id(0));
  if (first && failure.empty()) failure = commit(place, files, class_name);
  failure = rt.broadcast(failure, rank_id(0));
  if (first && failure.empty()) {
    images::image_folder(folder_).remove_older(life_, kept_images,
                                               {.damaged = std::exchange(damaged_, {}), .spared = spared_});
  }
  if (first && !failure.empty() && place.failure.empty())
    images::image_folder(folder_).remove_unfinished(place.life, place.image);
  return failure;
}

/// A second try follows a failure where lives that have been killed had left something, which took room.
bool checkpoints::write(thread_context& thread, const rank_image& image, std::string_view class_name) {
  std::string failure = try_to_write(thread, image, class_name);
  if (!failure.empty()) {
    const bool has_room =
        core_.rank().value() == 0 && images::image_folder(folder_).remove_remains(life_, record_of(from_));
    if (runtime(core_, thread).broadcast(has_room, rank_id(0))) failure = try_to_write(thread, image, class_name);
  }
  if (!failure.empty()) tell("no image is taken, and the job goes on: " + failure);
  return failure.empty();
}

}  // namespace nacre
