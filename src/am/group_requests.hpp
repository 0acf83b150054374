// SPDX-License-Identifier: Apache-2.0
// Messages to a rank's objects of groups that its main asks for, and what it has asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <nacre/group_next.hpp>

#include "am/handler_table.hpp"
#include "base/linked_list.hpp"
#include "base/report_lines.hpp"

namespace nacre {

/// Brings messages and requests of one key together, both in the order in which they came.
///
/// | of a key wait | a message comes | main asks | main drops its request | the group ends |
/// |---|---|---|---|---|
/// | nothing | kept | the request waits | - | - |
/// | messages | kept behind them | gets the oldest | - | they go to the caller |
/// | requests | goes to the oldest | the request waits behind them | it goes | they go to the caller |
///
/// For quiescence a message that is kept is done. A request is no unit: main, which waits for it, is none meanwhile.
class group_requests {
 public:
  group_requests() = default;
  group_requests(const group_requests&) = delete;
  group_requests& operator=(const group_requests&) = delete;
  ~group_requests();

  // Any thread.
  /// If a request waits for the message, returns that request, and both belong to the caller. Otherwise keeps the
  /// message and returns null.
  [[nodiscard]] detail::group_request* give(const detail::group_key& key, message_ptr& m);
  /// Takes back a request that waits. False: it does not.
  [[nodiscard]] bool withdraw(detail::group_request& request) noexcept;
  /// Number of requests that wait.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }  // a hint

  // Main's thread.
  /// Returns the oldest message that is kept for the request. Null: none is, and the table keeps the request until one
  /// comes.
  [[nodiscard]] message_ptr ask(detail::group_request& request);
  struct leftovers {
    message_list messages;
    std::vector<detail::group_request*> requests;  ///< in the order of their keys
  };
  [[nodiscard]] leftovers end_group(std::uint32_t group);

  /// Adds a line for each request that waits; it names a message of the same function that is kept under another
  /// number. Any thread.
  void name_waiting(const handler_table& handlers, rank_id rank, report_lines& report) const;

  /// Whether a message waits for main to ask for it. Any thread.
  [[nodiscard]] bool keeps_messages() const;

 private:
  struct entry {
    message_list messages;
    linked_list<detail::group_request> requests;  // one of the two is empty
  };

  /// The request no longer waits; the entry may be empty then.
  void remove(entry& of_key, detail::group_request& request) noexcept;

  mutable std::mutex mutex_;
  std::map<detail::group_key, entry> entries_;  // under the mutex; none has nothing
  std::atomic<std::size_t> waiting_{0};         // written under the mutex
};

}  // namespace nacre
