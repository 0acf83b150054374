// SPDX-License-Identifier: Apache-2.0
// The containers of an image: made when the job begins, and taken over by the program.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nacre/image_rows.hpp>
#include <nacre/nacre.hpp>

#include "runtime/checkpoints.hpp"
#include "runtime/engine.hpp"

namespace nacre {
namespace {

/// A handler.
void elements_of_container(context& ctx, std::uint32_t number, std::vector<std::byte> elements) {
  ctx.core().images().take_elements(number, std::move(elements));
}

}  // namespace

void checkpoints::take_elements(std::uint32_t number, std::vector<std::byte> elements) {
  const std::scoped_lock lock(dealt_mutex_);
  dealt_[number].push_back(std::move(elements));
}

/// Sends the elements that this rank has read to the ranks that they belong to now, in messages of bounded length.
void checkpoints::deal(thread_context& thread, std::uint32_t number, detail::container_part& part) {
  constexpr std::size_t message_bytes = 16 << 20;  // about: an element may be longer
  runtime rt(core_, thread);
  std::vector<writer> by_rank(core_.size());
  std::vector<future<void>> sent;
  const auto send = [&](std::uint32_t rank) {
    const std::span<const std::byte> bytes = by_rank[rank].bytes();
    sent.push_back(
        rt.call<&elements_of_container>(rank_id(rank), number, std::vector<std::byte>(bytes.begin(), bytes.end())));
    std::destroy_at(&by_rank[rank]);  // a writer cannot be assigned
    std::construct_at(&by_rank[rank]);
  };
  for (std::vector<std::byte>& each : earlier_.containers[number].elements) {
    reader in(each);
    const bool is_read = part.deal(in, by_rank, [&](std::uint32_t rank) {
      if (by_rank[rank].bytes().size() >= message_bytes) send(rank);
    });
    if (!is_read) throw setup_error(fmt::format("elements of {} do not unpack", part.name()));
    each = {};
  }
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    if (!by_rank[rank].bytes().empty()) send(rank);
  }
  for (future<void>& each : sent) each.get();
  rt.barrier();
  const std::scoped_lock lock(dealt_mutex_);
  earlier_.containers[number].elements = std::move(dealt_[number]);
}

/// The parts of this rank are there before a handler that lay in the image uses them; the program takes them over.
void checkpoints::make_containers(thread_context& thread) {
  if (earlier_.containers.empty()) return;
  runtime rt(core_, thread);
  const std::uint32_t stripes =
      rt.all_reduce(core_.pool().workers(), [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
  core_.containers().set_stripes(stripes);
  for (auto& [number, each] : earlier_.containers) {
    const detail::container_row* const row = detail::find_container_row(each.name);
    if (row == nullptr) continue;
    each.part = row->make(stripes);
    if (resized_) deal(thread, number, *each.part);
    for (std::vector<std::byte>& elements : each.elements) {
      reader in(elements);
      if (!each.part->load(in, core_.size()) || !in.finish())
        throw setup_error(fmt::format("the elements of a container of the class {} do not unpack", each.name));
      elements = {};
    }
    each.elements.clear();
    core_.containers().open(number, *each.part);
  }
  rt.barrier();
}

std::unique_ptr<detail::container_part> checkpoints::give_container(std::uint32_t number, std::string_view name) {
  const auto waiting = earlier_.containers.find(number);
  if (waiting->second.name != name || waiting->second.part == nullptr) {
    throw setup_error(fmt::format("the image has a container of the class {} where the program takes over one of {}",
                                  waiting->second.name, name));
  }
  std::unique_ptr<detail::container_part> part = std::move(waiting->second.part);
  earlier_.containers.erase(waiting);
  return part;
}

}  // namespace nacre
