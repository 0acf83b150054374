// SPDX-License-Identifier: Apache-2.0
// The table of a keyed array in an image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/keyed_table.hpp>
#include <nacre/runtime.hpp>

namespace nacre::detail {

template <class T, class K>
template <class Archive>
void key_table<T, K>::serialize(Archive& ar) {
  std::uint64_t keys = 0;  // no other thread uses the table
  for (const stripe& in : stripes_) {
    for (const auto& [kept, key_entry] : in.keys) keys += key_entry.element != 0 ? 1U : 0U;
  }
  ar(layout_, rank_, ranks_, runs_, asking_ranks_, keys);
  if constexpr (Archive::is_loading::value) {
    for (; keys > 0 && ar.ok(); --keys) {
      saved_key one;
      ar(one);
      add(std::move(one));
    }
  } else {
    for (const stripe& in : stripes_) {
      for (const auto& [kept, key_entry] : in.keys) {
        if (key_entry.element != 0)
          ar(saved_key{kept.key, key_entry.element, key_entry.knowers != nullptr ? *key_entry.knowers : no_ranks{}});
      }
    }
  }
}

template <class T, class K>
void key_table<T, K>::add(saved_key&& one) {
  const seen_key<K> seen{hash_of(one.key), one.key};
  entry& key_entry = stripe_of(seen.hash).entry_of(seen);
  key_entry.element = one.element;
  for (const std::uint32_t rank : one.knowers) key_entry.note_knower(rank);
}

/// Whether this rank gives the places of a birth.
template <class T, class K>
bool key_table<T, K>::gives(std::uint32_t birth) const noexcept {
  return std::ranges::any_of(runs_, [birth](const run_of_places& each) { return each.birth == birth; });
}

template <class T, class K>
void key_table<T, K>::merge(key_table&& gone) {
  for (stripe& in : gone.stripes_) {
    for (const auto& [kept, key_entry] : in.keys) {
      if (gone.gives(object_id::from_value(key_entry.element).birth().value())) add({kept.key, key_entry.element});
    }
  }
  runs_.insert(runs_.end(), gone.runs_.begin(), gone.runs_.end());
}

template <class T, class K>
void key_table<T, K>::begin_names(engine& core) {
  name_keys(core, array(), [this](object_id element) { return text_of(element); });
}

/// On another number of ranks the keys go to the ranks that are their homes now, and each rank forgets what it knew of
/// others.
template <class T, class K>
void key_table<T, K>::begin_again(engine& core, thread_context& thread) {
  runtime rt(core, thread);
  const std::uint32_t ranks_before = std::exchange(ranks_, rt.size());
  rank_ = rt.rank();
  {
    const std::scoped_lock lock(runs_mutex_);
    if (!layout_.table || is_taken_) return;  // `take` brings all
  }
  begin_names(core);
  if (ranks_before == ranks_) return;
  std::map<std::uint32_t, std::pair<std::vector<run_of_places>, std::vector<saved_key>>> going;
  if (rank_.value() == 0) {
    for (std::uint32_t rank = ranks_before; rank < ranks_; ++rank) going[rank];  // they know nothing of the array
  }
  for (stripe& in : stripes_) {  // other ranks begin again, too, and `take` comes from them meanwhile
    const std::scoped_lock lock(in.mutex);
    const std::scoped_lock runs_lock(runs_mutex_);
    for (auto subject = in.keys.begin(); subject != in.keys.end();) {
      const std::uint32_t birth = object_id::from_value(subject->second.element).birth().value();
      const bool is_own = gives(birth);
      subject->second.knowers.reset();
      if (is_own && birth % ranks_ == rank_.value()) {
        ++subject;
        continue;
      }
      if (is_own) going[birth % ranks_].second.push_back({subject->first.key, subject->second.element});
      subject = in.keys.erase(subject);
    }
  }
  asking_ranks_.clear();
  {
    const std::scoped_lock lock(runs_mutex_);
    for (const run_of_places& each : runs_) {
      if (each.birth % ranks_ != rank_.value()) going[each.birth % ranks_].first.push_back(each);
    }
    std::erase_if(runs_, [&](const run_of_places& each) { return each.birth % ranks_ != rank_.value(); });
  }
  constexpr std::ptrdiff_t keys_of_message = 1 << 16;  // the runs, which are few, are in the first
  for (auto& [rank, share] : going) {
    auto first = share.second.begin();
    do {
      const auto end = first + std::min(keys_of_message, share.second.end() - first);
      rt.send<&key_table::take>(layout_.table[rank_id(rank)], layout_, std::exchange(share.first, {}),
                                std::vector<saved_key>(first, end));
      first = end;
    } while (first != share.second.end());
  }
}

template <class T, class K>
void key_table<T, K>::take(context& ctx, const description& details, const std::vector<run_of_places>& runs,
                           const std::vector<saved_key>& keys) {
  bool is_new = false;
  {
    const std::scoped_lock lock(runs_mutex_);
    is_new = !layout_.table;
    if (is_new) layout_ = details, is_taken_ = true;
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }
  if (is_new) begin_names(ctx.core());
  for (const saved_key& each : keys) {
    const seen_key<K> seen{hash_of(each.key), each.key};
    stripe& in = stripe_of(seen.hash);
    const std::scoped_lock lock(in.mutex);
    in.entry_of(seen).element = each.element;
  }
}

template <class T, class K>
void after_restore(engine& core, thread_context& thread, key_table<T, K>& table) {
  table.begin_again(core, thread);
}

}  // namespace nacre::detail
