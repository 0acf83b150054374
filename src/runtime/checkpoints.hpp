// SPDX-License-Identifier: Apache-2.0
// Images of the job: when one is taken, where it goes, and how a job begins from one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/config.hpp>
#include <nacre/images.hpp>
#include <nacre/operation_buffers.hpp>

#include "images/image_folder.hpp"
#include "runtime/delayed_messages.hpp"
#include "runtime/long_wait.hpp"
#include "runtime/main_alarm.hpp"
#include "runtime/rank_image.hpp"

namespace nacre {

class engine;

/// Collective with the same object of all other ranks; main's thread only. The cut of docs/protocols/images.md: all
/// mains wait for quiescence, each packs its rank, and all wait for quiescence again. If no rank has run anything in
/// between, what they have packed belongs together. In a wait that lasts, objects are held for such a cut; see
/// long_wait.
class checkpoints {
 public:
  checkpoints(engine& core, const config& configuration);

  /// wait_quiescence(kept) and checkpoint(kept). Returns whether an image has been taken and is durable. Throws
  /// end_behind_image on all ranks when a signal has asked for the last one, and it is durable.
  bool wait(thread_context& thread, const detail::kept_value& kept, detail::image_wish wish);
  /// restored<T>(): the kept value of the image from which the job goes on.
  [[nodiscard]] std::optional<std::vector<std::byte>> restore(thread_context& thread, std::string_view class_name,
                                                              std::uint32_t mark);
  /// Main has returned. Throws usage_error when it should have asked for what is restored, and has not; says so when
  /// images were wanted, and main has never let one be taken.
  void main_returned() const;

  /// The exit code of a job that ends before its work is done: 0, exit_behind_image or exit_refused.
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }
  /// The image does not go on on this number of ranks: the job ends, in order.
  void refuse(const std::string& reason);

  /// Whether the image has a container of this number that the program has not taken over yet; give_container returns
  /// its part on this rank, once.
  [[nodiscard]] bool has_container(std::uint32_t number) const { return earlier_.containers.contains(number); }
  [[nodiscard]] std::unique_ptr<detail::container_part> give_container(std::uint32_t number, std::string_view name);
  /// Elements of a container that another rank had, and that belong to this one. Any thread.
  void take_elements(std::uint32_t number, std::vector<std::byte> elements);

  /// Whether main is in a wait that images may interrupt. A hint.
  [[nodiscard]] bool waits_long() const noexcept { return waits_long_.load(std::memory_order_relaxed); }
  /// Inside the poll loop of a rank that waits long: tells rank 0 of a signal that asks for a last image. Returns when
  /// it must be called again.
  [[nodiscard]] std::chrono::nanoseconds poll(thread_context& thread, std::chrono::nanoseconds now);
  void on_wish(context& ctx, int signal);
  /// Ends the wait of rank 0's main when an image is due.
  [[nodiscard]] main_alarm& alarm() noexcept { return alarm_; }
  [[nodiscard]] delayed_messages& delayed() noexcept { return delayed_; }

  struct totals {
    std::uint64_t images = 0, bytes = 0;
    double seconds = 0;
    std::string restored;         ///< the path of the image that the job began from
    double restored_seconds = 0;  ///< that it had run by then
  };
  [[nodiscard]] const totals& taken() const noexcept { return taken_; }

  /// Where rank 0 has the next image written.
  struct image_place {
    std::uint64_t life = 0, image = 0;
    std::string folder, failure;
    template <class Archive>
    void serialize(Archive& ar) {
      ar(life, image, folder, failure);
    }
  };
  /// The file that a rank has written.
  struct written_file {
    images::file_mark mark;
    std::uint64_t objects = 0, raw_bytes = 0;
    template <class Archive>
    void serialize(Archive& ar) {
      ar(mark.bytes, mark.checksum, objects, raw_bytes);
    }
  };

 private:
  struct agreement;
  struct agreed {
    bool due = false, last = false;
  };
  [[nodiscard]] agreed agree(thread_context& thread, const detail::kept_value& kept, detail::image_wish wish);
  [[nodiscard]] bool take(thread_context& thread, const detail::kept_value& kept);
  [[nodiscard]] bool takes_in_waits() const noexcept;
  void wait_with_images(thread_context& thread, const detail::kept_value& kept);
  void take_in_wait(thread_context& thread, long_wait& wait, const detail::kept_value& kept, bool last);
  [[nodiscard]] bool interrupts_waits() const noexcept;
  [[noreturn]] void end_behind_last();
  void expect_asked() const;
  bool keep(thread_context& thread, const std::optional<rank_image>& image, std::string_view class_name, double begin);
  void tell_once(const std::string& line);
  [[nodiscard]] std::optional<rank_image> cut(thread_context& thread, const detail::kept_value& kept);
  [[nodiscard]] bool write(thread_context& thread, const rank_image& image, std::string_view class_name);
  [[nodiscard]] std::string try_to_write(thread_context& thread, const rank_image& image, std::string_view class_name);
  [[nodiscard]] image_place next_place();
  [[nodiscard]] std::string commit(const image_place& place, const std::vector<written_file>& files,
                                   std::string_view class_name) const;
  [[nodiscard]] std::string all_or_first(thread_context& thread, const std::string& failure);
  void tell(const std::string& line) const;
  [[nodiscard]] std::uint64_t handled() const;
  [[nodiscard]] std::vector<images::found_image> look_for_images() const;
  [[nodiscard]] std::vector<images::sections> read(const images::found_image& image) const;
  void make_containers(thread_context& thread);
  void go_on_from(const images::found_image& image);
  void deal(thread_context& thread, std::uint32_t number, detail::container_part& part);
  [[nodiscard]] std::vector<std::byte> install(thread_context& thread, rank_restorer& restorer,
                                               const images::found_image& image, std::string_view class_name,
                                               std::uint32_t mark);

  engine& core_;
  const std::string folder_, restore_;
  const std::chrono::nanoseconds every_;
  const images::image_writer::compression packing_;
  const bool has_signal_;  // one can ask for a last image
  main_alarm alarm_;
  std::atomic<bool> waits_long_{false};
  bool told_wish_ = false;        // the poll loop: rank 0 knows of the signal
  bool asked_ = false;            // main has called rt.restored
  bool waited_ = false;           // main has waited with a kept value
  bool resized_ = false;          // the image had another number of ranks
  std::uint64_t life_ = 0;        // 0: this job has written nothing; rank 0
  std::uint64_t last_image_ = 0;  // number; rank 0
  double last_seconds_ = 0;       // of the job's time, when the last image was taken; rank 0
  double not_before_ = 0;         // of the job's time: no image in the middle of a wait; rank 0, as the next
  double retry_ = 0;              // seconds from a try in vain to the next one
  std::set<std::string> told_;    // lines of tell_once, without their numbers
  std::vector<images::image_number> damaged_;   // images of folder_ from which the job could not go on; rank 0
  images::image_number from_;                   // in folder_, that the job goes on from; zeros: none; rank 0
  std::optional<images::image_number> spared_;  // in folder_: the user has named it, and may do so again; rank 0
  carried_over earlier_;
  std::mutex dealt_mutex_;
  std::map<std::uint32_t, std::vector<std::vector<std::byte>>> dealt_;  // under dealt_mutex_
  totals taken_;
  delayed_messages delayed_;
  double next_last_ = 0;  // when the last image may be tried again; rank 0
  int exit_code_ = 0;
};

}  // namespace nacre
