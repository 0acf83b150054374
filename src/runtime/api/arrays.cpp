// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind the public templates of arrays.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "runtime/array_agreement.hpp"

namespace nacre::detail {
array_step agree_on_array(engine& core, thread_context& thread, const array_step& step) {
  const auto combine = [](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    auto one = unpack_own<array_step>(accumulated);
    auto other = unpack_own<array_step>(contribution);
    if (one.call != other.call) {
      throw usage_error("the ranks do not make and destroy the same arrays in the same order: " + one.call + "; " +
                        other.call);
    }
    if (one.failure.empty()) one.failure = std::move(other.failure);
    one.elements += other.elements;
    accumulated = pack(one);
  };
  const collective_call call{collective_kind::array, {}, pack(step), combine, type_mark<array_step>()};
  return unpack_own<array_step>(run_collective(core, thread, call));
}

void end_array(engine& core, thread_context& thread, std::uint64_t first) {
  if (core.rank().value() == 0) {
    auto* state = new future_value<void>;
    future<void> ended(core, thread, state);
    post_to_array(core, thread, {.first = first, .done = state}, nullptr);
    ended.get();
  }
  static_cast<void>(run_collective(core, thread, {}));
  core.objects().lifetime().forget_array(thread, first);
  core.objects().all_elements().receipts().forget_array(first);
}

std::uint32_t births_of(engine& core) noexcept { return core.objects().homes().births(); }

std::uint64_t open_array(engine& core, const array_layout& layout) {
  core.expect_own_thread();
  must_be_numbered(core.messages().handlers(), *layout.type);
  return core.objects().arrays().open(layout);
}

void destroy_array(engine& core, thread_context& thread, std::uint64_t first) {
  static_cast<void>(agree_on_array(core, thread, {"destroys " + core.objects().arrays().describe(first)}));
  end_array(core, thread, first);
}

void post_to_array(engine& core, thread_context& thread, const array_request& request, message_ptr m) {
  core.throttle(thread);
  must_be_numbered(request.fold);
  if (m != nullptr) must_be_numbered(m->header.handler);
  core.objects().all_elements().send(thread, request, std::move(m));
}

void post_to_section(engine& core, thread_context& thread, const array_request& request,
                     std::span<const section_part> parts, message_ptr m) {
  core.expect_own_thread();
  core.throttle(thread);
  core.objects().all_elements().send_to_section(thread, request, parts, std::move(m));
}

void visit_range(const extents& shape, const index_range& range, const std::function<void(const index&)>& visit) {
  const std::size_t dimensions = shape.dimensions();
  bool fits = range.first.dimensions() == dimensions && range.last.dimensions() == dimensions &&
              range.stride.dimensions() == dimensions;
  std::uint64_t count = fits ? 1 : 0;
  std::array<std::uint64_t, 3> counts{1, 1, 1};
  for (std::size_t each = 0; fits && each < dimensions; ++each) {
    const std::int64_t first = range.first[each], last = range.last[each], stride = range.stride[each];
    fits = first >= 0 && first <= last && last <= shape[each] && stride >= 1;
    if (fits) counts[each] = static_cast<std::uint64_t>((last - first + stride - 1) / stride);
    count *= counts[each];
  }
  if (!fits) {
    throw usage_error("the range from " + to_string(range.first) + " to " + to_string(range.last) + ", stride " +
                      to_string(range.stride) +
                      ", does not fit the array: in each of its dimensions 0 <= first <= last <= extent, stride >= 1");
  }
  for (std::uint64_t number = 0; number < count; ++number) {
    std::array<std::int64_t, 3> values{};
    std::uint64_t left = number;
    for (std::size_t each = dimensions; each-- != 0; left /= counts[each])
      values[each] = range.first[each] + static_cast<std::int64_t>(left % counts[each]) * range.stride[each];
    visit(dimensions == 1   ? index(values[0])
          : dimensions == 2 ? index(values[0], values[1])
                            : index(values[0], values[1], values[2]));
  }
}

void post_insert(engine& core, thread_context& thread, object_id element, const object_type& type, void* object,
                 future_state& done) {
  core.expect_own_thread();
  core.throttle(thread);
  core.objects().sender().post(thread, element, place_rows::insertion(type, object), &done);
}

void post_erase(engine& core, thread_context& thread, object_id element, future_state& done) {
  core.expect_own_thread();
  core.throttle(thread);
  core.objects().sender().post(thread, element, place_rows::erasure(), &done);
}

index index_of_element(engine& core, thread_context& thread, object_id element) {
  const std::optional<index> place = core.objects().arrays().place_of(thread, element);
  if (!place) throw usage_error("index() in a handler that runs on no element of an array");
  return *place;
}

}  // namespace nacre::detail
