// SPDX-License-Identifier: Apache-2.0
// The mobile objects and arrays of a rank as bytes of an image, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nacre/extents.hpp>
#include <nacre/section.hpp>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/array/contribution_steps.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/elements/array_lifetime.hpp"
#include "mobile/elements/contributions.hpp"
#include "mobile/entry/object_entry.hpp"
#include "mobile/image/image_names.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/object_creation.hpp"
#include "mobile/object/send_entries.hpp"

namespace nacre {

/// An array as an image has it; equal on all ranks.
struct array_image {
  std::uint64_t first = 0, ordinal = 0;
  extents shape;
  std::uint32_t ranks = 0;  ///< that its placement is asked with
  std::string row, type;    ///< mangled name of array_row, and the readable one of the class
  bool dense = true, keyed = false;
  std::uint8_t location = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first, ordinal, shape, ranks, row, type, dense, keyed, location);
  }
};

/// The numbers from which a rank's objects, sections and arrays are counted on.
struct object_numbers {
  std::uint64_t last_object = 0, last_section = 0;
  std::uint64_t next_array_first = 0, last_array = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(last_object, last_section, next_array_first, last_array);
  }
};

/// An object that lies on a rank that is not its home.
struct object_elsewhere {
  std::uint64_t object = 0;
  std::uint8_t policy = 0;
};

/// Packs the arguments of a message. The message stays as it is, even if a function of the arguments throws.
[[nodiscard]] std::vector<std::byte> arguments_of(message& m);

/// Packs and installs. Called by main while the job is quiet, see runtime/checkpoints.hpp. Functions that pack throw
/// image_obstacle for what an image cannot hold; functions that read throw image_misfit.
class object_images {
 public:
  /// The parts that an image is made of, and made into.
  struct parts {
    am_engine& messages;
    nacre::homes& homes;
    directory& entries;
    array_table& arrays;
    send_entries& numbers;
    entry_access& access;
    balancer_view& view;
    object_activation& activation;
    object_creation& creation;
    contributions& contributed;
    array_lifetime& lifetime;
  };
  object_images(const parts& all, thread_context& thread) noexcept
      : parts_(all), messages_(all.messages), thread_(thread) {}

  // Taking an image.
  [[nodiscard]] object_numbers numbers() const;
  [[nodiscard]] std::vector<array_image> arrays() const;
  [[nodiscard]] std::vector<detail::section_on_rank> sections() const;
  /// Steps of contributions, while objects are held.
  [[nodiscard]] std::vector<steps_image> steps(image_names& names) const;
  /// Packs the objects that are here, one behind the other, with the messages that they keep, and, apart, the messages
  /// that lie at them. The activation of each is held meanwhile. Returns the number of objects.
  std::uint64_t pack(writer& out, writer& lying, image_names& names);

  // Making the objects of an image, in a job that has none.
  [[nodiscard]] bool nothing_made() const;
  void open(const std::vector<array_image>& arrays, const object_numbers& numbers);
  void add(const std::vector<detail::section_on_rank>& sections);
  /// Installs the objects of an image. Returns, by home, those that are not at their home: the caller must tell the
  /// homes by tell_home.
  [[nodiscard]] std::map<std::uint32_t, std::vector<object_elsewhere>> install(std::span<const std::byte> objects,
                                                                               const image_names& names);
  /// Puts the messages that lay at objects there again, while objects are held; see object_hold.
  void install_lying(std::span<const std::byte> messages, const image_names& names);
  /// At the home: these objects lie on the rank `holder`.
  void tell_home(rank_id holder, std::span<const object_elsewhere> objects);
  /// All objects of all ranks are installed.
  void begin_arrays();

 private:
  void pack_one(object_entry& entry, writer& out, image_names& names, std::uint64_t& count);
  void pack_kept(object_entry& entry, writer& out, image_names& names);
  void pack_lying(object_entry& entry, writer& out, image_names& names);
  [[nodiscard]] const char* obstacle_of(const object_entry& entry) const;
  void install_away(object_id id, object_state state);
  void install_one(reader& in, const image_names& names,
                   std::map<std::uint32_t, std::vector<object_elsewhere>>& elsewhere);

  parts parts_;
  am_engine& messages_;
  thread_context& thread_;
};

}  // namespace nacre
