// SPDX-License-Identifier: Apache-2.0
// One rank's rings to and from one peer, and how it learns of the peer's end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/ids.hpp>
#include <nacre/message.hpp>

#include "join/net/socket.hpp"
#include "transport/shm/futex_wakeup.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/ring_reader.hpp"
#include "transport/shm/ring_writer.hpp"
#include "transport/shm/segment.hpp"

namespace nacre::transport::shm {

/// An authenticated peer and its mapped segment.
struct peer_parts {
  std::shared_ptr<segment> theirs;
  net::unique_fd liveness_socket;  ///< liveness socket: carries no bytes; it ends when the peer's process does
  pid_t process = 0;
  pid_t fetch_from = 0;                            ///< its process, when its memory can be read; 0 otherwise
  bool can_copy = false;                           ///< its memory can be read and written
  std::shared_ptr<const process_handle> handle{};  ///< of its process; null: it is this one
};

/// The ranks of the host: those that have something here, and the own one.
template <class Parts>
[[nodiscard]] std::uint32_t ranks_of_host(const std::vector<std::optional<Parts>>& peers) noexcept {
  return 1 +
         static_cast<std::uint32_t>(std::ranges::count_if(peers, [](const auto& each) { return each.has_value(); }));
}

/// The state of the link to one peer:
///
/// | state | event | next |
/// |---|---|---|
/// | open | shutdowns in all three rings | over |
/// | open | a ring is broken | failed |
/// | open | the liveness socket ends | dying: the messages in the rings are still received |
/// | dying | shutdowns in all three rings | over |
/// | dying | the rings are empty, or broken | failed |
///
/// In `over` and `failed` all submitted messages are dropped. The rings stay mapped as long as the link lives. One
/// thread, but `ready`.
class peer_link {
 public:
  enum class state : std::uint8_t { open, dying, over, failed };

  /// The places of the two ranks among those of the host: in segments, and for doorbells.
  struct places {
    std::uint32_t own = 0;
    std::uint32_t peer = 0;
  };
  /// `ranks`: of the job.
  peer_link(rank_id peer, const places& places, const segment& ours, peer_parts parts, std::uint32_t ranks,
            const writer_limits& limits);
  peer_link(const peer_link&) = delete;
  peer_link& operator=(const peer_link&) = delete;
  ~peer_link() { end(state::over); }

  [[nodiscard]] rank_id peer() const noexcept { return peer_; }
  /// Its place among the ranks of the host.
  [[nodiscard]] std::uint32_t number() const noexcept { return places_.peer; }
  [[nodiscard]] state now() const noexcept { return state_; }
  [[nodiscard]] bool ended() const noexcept { return state_ == state::over || state_ == state::failed; }
  /// Why the link has failed: one clause.
  [[nodiscard]] std::string_view reason() const noexcept { return reason_; }
  [[nodiscard]] int liveness_socket() const noexcept { return liveness_socket_.get(); }

  void submit(message_list& batch);
  /// Receives from one channel until `arrived` holds `enough` messages. True when anything moved.
  bool receive(channel channel, message_list& arrived, std::size_t enough) {
    ring_reader& reader = in_[static_cast<std::size_t>(channel)];
    if (!reader.receive(arrived, enough)) return false;
    after_receive(reader);
    return true;
  }
  /// Whether `receive` on that channel would move anything.
  [[nodiscard]] bool has(channel channel) const noexcept { return in_[static_cast<std::size_t>(channel)].pending(); }
  /// Whether anything can be received. Any thread.
  [[nodiscard]] bool ready() const noexcept { return in_[0].ready() || in_[1].ready() || in_[2].ready(); }
  /// Whether `receive` on any channel would move anything: it is ready, or has a fetch to continue.
  [[nodiscard]] bool pending() const noexcept { return in_[0].pending() || in_[1].pending() || in_[2].pending(); }
  void set_mode(attention attention) noexcept {
    polled_ = attention == attention::polled;
    for (ring_reader& each : in_) each.set_mode(attention);
  }
  [[nodiscard]] bool polled() const noexcept { return polled_; }

  /// Writes messages that wait for room. True when anything moved.
  bool advance();
  [[nodiscard]] bool unsent() const noexcept {
    return !ended() && (out_[0].unsent() || out_[1].unsent() || out_[2].unsent());
  }
  void send_shutdown();
  /// The own rank has sent its shutdown, or gives up: from here on the link neither sends nor receives.
  void leave() { end(state::over); }
  /// True once: at the first call after the link has ended.
  [[nodiscard]] bool take_end() noexcept { return ended() && !std::exchange(end_taken_, true); }

  /// The errno with which the kernel has begun to refuse access to the peer's memory. 0: it has not, or an earlier call
  /// has returned it.
  [[nodiscard]] int take_refusal() noexcept { return std::exchange(refusal_, 0); }

  /// Reads the liveness socket, once its descriptor is readable.
  void read_liveness_socket();
  /// Lets a dying link fail when its rings are empty.
  void finish();

 private:
  void after_receive(ring_reader& reader);
  void tell(ring_writer& through);
  void fail(std::string_view reason);
  void end(state state);

  rank_id peer_;
  places places_;
  std::shared_ptr<segment> theirs_;
  net::unique_fd liveness_socket_;
  std::array<ring_writer, channel_count> out_;
  std::array<ring_reader, channel_count> in_;
  state state_ = state::open;
  bool polled_ = false;
  bool end_taken_ = false;
  int refusal_ = 0;
  std::string reason_;
};

}  // namespace nacre::transport::shm
