// SPDX-License-Identifier: Apache-2.0
// Messages that a rank sends later (rt.after), also over holds and images.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <nacre/core.hpp>

#include "am/held_units.hpp"
#include "base/linked_list.hpp"
#include "mobile/image/image_names.hpp"

namespace nacre {

class engine;

/// A message to be sent later, as an image has it.
struct delayed_image {
  double seconds = 0;         ///< until it is sent
  std::uint64_t object = 0;   ///< 0: it runs on the rank that sends it
  std::uint32_t handler = 0;  ///< by image_names
  message_kind kind{};
  std::uint8_t flags = 0;
  channel way{};
  std::vector<std::byte> arguments;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, object, handler, kind, flags, way, arguments);
  }
};

/// The messages of one rank that are sent later.
///
/// | event | waits | waits, and objects are held |
/// |---|---|---|
/// | its time comes | it is sent | its timer is set again, without a time |
/// | it is taken back | it ends | it ends |
/// | the hold ends | - | its timer is set to its time, which may be over |
///
/// A message that waits is one unit, that of its timer. While objects are held it lies.
class delayed_messages final : public held_part {
 public:
  using instant = std::chrono::nanoseconds;

  explicit delayed_messages(engine& core);
  /// Drops those that wait: the job goes on elsewhere, from its last image.
  ~delayed_messages();
  delayed_messages(const delayed_messages&) = delete;
  delayed_messages& operator=(const delayed_messages&) = delete;

  /// The caller gets a reference. Any thread of the rank, as take_back.
  [[nodiscard]] detail::delayed_state* add(const detail::object_pair& ends, message_ptr m, instant due);
  /// False: it has been sent.
  [[nodiscard]] bool take_back(detail::delayed_state& state);

  [[nodiscard]] std::uint64_t lying() override;
  void go_on(thread_context& thread) override;

  /// While objects are held and nothing runs. Throws image_obstacle.
  [[nodiscard]] std::vector<delayed_image> pack(image_names& names);
  /// Throws image_misfit.
  void install(const std::vector<delayed_image>& messages, const image_names& names);

 private:
  friend class detail::delayed_state;
  /// Inside the poll loop: its time has come. False: it is to be sent.
  [[nodiscard]] bool keeps(detail::delayed_state& state);

  engine& core_;
  std::mutex mutex_;
  linked_list<detail::delayed_state> all_;  // under mutex_, as the next; the newest first
  std::uint64_t count_ = 0;
};

}  // namespace nacre
