// SPDX-License-Identifier: Apache-2.0
// Messages to all elements of an array, and to those of a section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "mobile/array/array_home.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/elements/broadcast_receipts.hpp"
#include "mobile/elements/place_messages.hpp"
#include "mobile/elements/reduction.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/step_clock.hpp"

namespace nacre {

/// A message to all elements goes to rank 0, the root, which numbers those of each array, and from the root down a tree
/// of ranks. Each rank passes it on to the places that have their home there; see array_part and
/// docs/protocols/array.md.
class broadcasts {
 public:
  broadcasts(am_engine& messages, const nacre::homes& homes, directory& entries, array_table& arrays,
             const step_clock& clock, place_messages& places, delivery_errors& errors);

  /// Sends to all elements; see detail::post_to_array.
  void send(thread_context& thread, const detail::array_request& request, message_ptr m);

  /// Sends to the elements of some places; see detail::post_to_section.
  void send_to_section(thread_context& thread, const detail::array_request& request,
                       std::span<const detail::section_part> parts, message_ptr m);

  [[nodiscard]] broadcast_receipts& receipts() noexcept { return receipts_; }

  // Handlers that other ranks call.
  void on_section(context& ctx, broadcast_header head, std::vector<std::uint64_t> numbers,
                  std::span<const std::byte> arguments);
  void on_call(context& ctx, broadcast_header head, std::span<const std::byte> arguments);
  void on_broadcast(context& ctx, broadcast_header head, std::span<const std::byte> arguments);

  /// Keeps a part until no balancer can look at it as an item any more.
  static void retire(thread_context& thread, std::shared_ptr<array_part> part);

 private:
  struct broadcast;
  struct section_request;
  static void run_part_work(work& item, thread_context& thread);
  static void run_section_work(work& item, thread_context& thread);
  /// Places of a section, by their positions in the request.
  struct some_places {
    std::size_t begin, end;
  };
  struct section_share;
  void leave_to_worker(thread_context& thread, const std::shared_ptr<section_request>& request, some_places places);
  enum class run_by : std::uint8_t { poll_loop, worker };
  void run_section(thread_context& thread, const section_request& request, some_places places, run_by caller);
  void refuse_unknown(thread_context& thread, const detail::array_request& request, std::uint32_t handler);
  [[nodiscard]] static message_ptr model_of(const broadcast_header& head, std::span<const std::byte> arguments);
  [[nodiscard]] static message_ptr copy_of(const message& model);
  void begin(thread_context& thread, const std::shared_ptr<array_home>& array, const early_broadcast& order);
  void pass_down(thread_context& thread, const early_broadcast& order, const std::shared_ptr<reduction>& results,
                 std::size_t slot);
  void answer(thread_context& thread, const broadcast_header& head, message_ptr result);
  [[nodiscard]] std::uint64_t take_for_section(const thread_context& thread, const detail::section_part& part,
                                               const message& m);
  void refuse_lost(thread_context& thread, rank_id source, const broadcast_header& head);
  [[nodiscard]] bool is_sound(const array_home& array, const broadcast_header& head) const;
  [[nodiscard]] reduction::combine combine_by(std::uint32_t fold);
  [[nodiscard]] const detail::handler_info* plain_handler(const array_home& array, const message& model) const;
  void run_broadcast(array_part& part, const broadcast& broadcast, std::size_t slot, thread_context& thread);

  am_engine& messages_;
  const nacre::homes& homes_;
  directory& entries_;
  array_table& arrays_;
  const step_clock& clock_;
  place_messages& places_;
  delivery_errors& errors_;
  broadcast_receipts receipts_;
};

}  // namespace nacre
