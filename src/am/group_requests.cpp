// SPDX-License-Identifier: Apache-2.0
// Keeping messages and requests, and matching them.
#include "am/group_requests.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "exec/worker_pool.hpp"

namespace nacre {
namespace {

/// A worker runs the handler of a message that had come before main asked for it.
void run_kept(work& item, thread_context& thread) {
  auto& request = static_cast<detail::group_request&>(item);
  message_ptr m = std::move(request.message);
  request.run_message(thread, std::move(m));  // which may end the request
  thread.counters().done.add(1);
}

}  // namespace

detail::group_request::group_request(engine& core, const group_key& key) noexcept
    : work(&run_kept), core_(core), key_(key) {}

group_requests::~group_requests() {
  for (auto& [key, each] : entries_) {
    while (detail::group_request* const request = each.requests.front()) {
      remove(each, *request);
      request->drop();
    }
  }
}

detail::group_request* group_requests::give(const detail::group_key& key, message_ptr& m) {
  const std::scoped_lock lock(mutex_);
  const auto match = entries_.find(key);
  if (match == entries_.end() || match->second.requests.empty()) {
    entries_[key].messages.push_back(std::move(m));
    return nullptr;
  }
  detail::group_request* const first = match->second.requests.front();
  remove(match->second, *first);
  if (match->second.requests.empty()) entries_.erase(match);
  return first;
}

bool group_requests::withdraw(detail::group_request& request) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!request.waits) return false;
  const auto match = entries_.find(request.key());
  remove(match->second, request);
  if (match->second.requests.empty()) entries_.erase(match);
  return true;
}

void group_requests::remove(entry& of_key, detail::group_request& request) noexcept {
  of_key.requests.remove(request);
  request.waits = false;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

message_ptr group_requests::ask(detail::group_request& request) {
  const std::scoped_lock lock(mutex_);
  entry& of_key = entries_[request.key()];
  message_ptr oldest = of_key.messages.pop_front();
  if (oldest == nullptr) {
    of_key.requests.push_back(request);
    request.waits = true;
    waiting_.fetch_add(1, std::memory_order_relaxed);
  } else if (of_key.messages.empty()) {
    entries_.erase(request.key());
  }
  return oldest;
}

group_requests::leftovers group_requests::end_group(std::uint32_t group) {
  leftovers left;
  const std::scoped_lock lock(mutex_);
  const auto first = entries_.lower_bound({group, 0, 0});
  const auto last = entries_.upper_bound(
      {group, std::numeric_limits<std::uint32_t>::max(), std::numeric_limits<std::uint64_t>::max()});
  for (auto each = first; each != last; ++each) {
    left.messages.append(each->second.messages);
    while (detail::group_request* const request = each->second.requests.front()) {
      remove(each->second, *request);
      left.requests.push_back(request);
    }
  }
  entries_.erase(first, last);
  return left;
}

void group_requests::name_waiting(const handler_table& handlers, rank_id rank, report_lines& report) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& row : entries_) {
    const auto& key = row.first;
    if (row.second.requests.empty()) continue;
    report.add(report_lines::urgency::numbered, key.tag, [&] {
      std::string line = "main of rank " + std::to_string(rank.value()) + " awaits " +
                         std::string(handlers.handler(key.handler)->name) + " with the number " +
                         std::to_string(key.tag) + " of group " + std::to_string(key.group);
      const auto other = std::find_if(entries_.lower_bound({key.group, key.handler, 0}), entries_.end(),
                                      [](const auto& each) { return !each.second.messages.empty(); });
      if (other != entries_.end() && other->first.group == key.group && other->first.handler == key.handler) {
        line += ", and has one with the number " + std::to_string(other->first.tag);
      }
      return line;
    });
  }
}

bool group_requests::keeps_messages() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(entries_, [](const auto& each) { return !each.second.messages.empty(); });
}

}  // namespace nacre
