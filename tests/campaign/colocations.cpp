// SPDX-License-Identifier: Apache-2.0
// Functions on several objects, of which any may move, end, refuse to move, or be wanted by others as well.
#include "campaign/colocations.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "campaign/pointers.hpp"

namespace campaign {
namespace {

template <std::size_t>
using a_cell = cell;

/// The function on as many objects as there are indices.
template <class Indices>
struct meeting;
template <std::size_t... Index>
struct meeting<std::index_sequence<Index...>> {
  static constexpr std::size_t count = sizeof...(Index);

  static std::uint64_t hold(nacre::context& ctx, a_cell<Index>&... all, std::uint64_t key, std::uint64_t id) {
    world& in = world::of(key);
    const std::array<cell*, count> cells{&all...};
    const std::array<std::uint32_t, count> names{all.name...};
    const stream_id stream = in.truth.began_colocation(id, ctx.rank(), names, hashes(cells), ctx.now());
    if (in.truth.random.below(3) == 0) ctx.charge(in.truth.random.uniform() * in.charge_max);
    act(in, ctx, stream);
    for (cell* const each : cells) each->hash = in.truth.next_hash(each->hash, id);
    in.truth.ended_colocation(id, names, hashes(cells), ctx.now());
    return oracle::expected_value(id);
  }
  static std::array<std::uint64_t, count> hashes(const std::array<cell*, count>& cells) {
    return {cells[Index]->hash...};
  }
  static nacre::mobile_ptr<cell> pointer(const world& in, std::uint32_t object) {
    return nacre::mobile_ptr<cell>(in.truth.id_of(object));
  }
  static void post(world& in, nacre::operations& op, stream_id stream, const std::vector<std::uint32_t>& values) {
    const std::uint64_t id =
        in.truth.colocation_sent(posted::one_way, stream, op.rank(), values, nacre::detail::name_of<&meeting::hold>());
    op.colocate<&meeting::hold>(pointer(in, values[Index])..., in.key(), id);
  }
  static pending_call ask(world& in, nacre::operations& op, stream_id stream,
                          const std::vector<std::uint32_t>& values) {
    const std::uint64_t id =
        in.truth.colocation_sent(posted::awaited, stream, op.rank(), values, nacre::detail::name_of<&meeting::hold>());
    return {id, op.colocate_call<&meeting::hold>(pointer(in, values[Index])..., in.key(), id), true};
  }
};

/// Different ones, all of the type that takes part.
std::vector<std::uint32_t> some_objects(world& in) {
  constexpr std::size_t counts[] = {2, 2, 2, 3, 5, 16};
  const std::size_t count = counts[in.truth.random.below(std::size(counts))];
  std::vector<std::uint32_t> chosen;
  for (int tries = 0; tries < 60 && chosen.size() < count; ++tries) {
    const std::uint32_t object = any_object(in);
    if (object >= in.truth.objects() || !is_plain(in, object)) continue;
    if (std::find(chosen.begin(), chosen.end(), object) == chosen.end()) chosen.push_back(object);
  }
  return chosen;
}

template <std::size_t Count>
using meeting_of = meeting<std::make_index_sequence<Count>>;

}  // namespace

void colocate_some(world& in, nacre::operations& op, stream_id stream) {
  const std::vector<std::uint32_t> values = some_objects(in);
  if (values.size() >= 16) return meeting_of<16>::post(in, op, stream, values);
  if (values.size() >= 5) return meeting_of<5>::post(in, op, stream, {values.begin(), values.begin() + 5});
  if (values.size() >= 3) return meeting_of<3>::post(in, op, stream, {values.begin(), values.begin() + 3});
  if (values.size() >= 2) return meeting_of<2>::post(in, op, stream, values);
}

std::optional<pending_call> ask_colocation(world& in, nacre::operations& op, stream_id stream) {
  const std::vector<std::uint32_t> values = some_objects(in);
  if (values.size() < 2) return std::nullopt;
  if (values.size() >= 3) return meeting_of<3>::ask(in, op, stream, {values.begin(), values.begin() + 3});
  return meeting_of<2>::ask(in, op, stream, values);
}

}  // namespace campaign
