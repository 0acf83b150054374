// SPDX-License-Identifier: Apache-2.0
// One rank's end of a job whose messages travel by UCX.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cache_line.hpp"
#include "base/pace.hpp"
#include "transport/launch/control_line.hpp"
#include "transport/net/greeting.hpp"
#include "transport/net/socket.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/module.hpp"
#include "transport/ucx/turn.hpp"

namespace nacre::transport::ucx {

/// A peer that has proven itself.
struct peer_parts {
  net::unique_fd lifeline;      ///< an authenticated connection that has nothing more to carry than a goodbye
  std::uint64_t key_here = 0;   ///< what its stamps must hold
  std::uint64_t key_there = 0;  ///< what it wants to see in the stamps of this rank
};

/// What an endpoint is made of.
struct endpoint_parts {
  rank_id rank;
  std::unique_ptr<port> end;                     ///< connected to each of the peers on every lane
  std::vector<std::optional<peer_parts>> peers;  ///< by rank; without the own one, and those that others serve
  std::shared_ptr<launch::control_line> line;    ///< null: no launcher
  std::size_t output_bytes_max = 0;              ///< for each peer and channel
  std::chrono::nanoseconds cold_lanes_apart = std::chrono::microseconds(2);  ///< between looks at those beside others
};

/// Messages as frames: header and payload as they lie in memory, behind a stamp. Short ones are copied into a block;
/// longer ones are written by UCX into the block in which they are delivered.
///
/// Order: frames of one peer and channel are numbered. UCX keeps the order of short ones, but a long one may be
/// overtaken; what came early, or is announced and not there yet, is held until its turn.
///
/// Bounds, for each peer and channel: from the oldest frame that is still under way at most output_bytes_max bytes and
/// frames_max frames are sent, which bounds what the receiver holds, too; as many bytes wait here; then submit leaves
/// the rest. One message may exceed either.
///
/// | peer | event | then |
/// |---|---|---|
/// | present | a goodbye on its lifeline | left: what is meant for it is dropped, what it has sent still arrives |
/// | present | its lifeline ends, or it sends nonsense | lost, and a failure |
/// | present | UCX does not reach it | suspect: what is meant for it is dropped |
/// | suspect | a goodbye | left |
/// | suspect | its lifeline ends, or suspicion_max is over | lost, and a failure |
///
/// Copies between the memories of two ranks: see endpoint_direct.cpp.
class ucx_endpoint final : public endpoint, private listener, private direct_memory {
 public:
  static constexpr std::uint32_t frames_max = 256;
  static constexpr std::chrono::milliseconds sleep_max{100};
  static constexpr std::chrono::seconds suspicion_max{2};

  explicit ucx_endpoint(endpoint_parts parts);
  ucx_endpoint(const ucx_endpoint&) = delete;
  ucx_endpoint& operator=(const ucx_endpoint&) = delete;
  ~ucx_endpoint() override;

  /// Waits until every peer is heard on every channel and hears this rank. Before anything else. Throws setup_error or
  /// job_aborted.
  void meet(net::time_point deadline);

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(peers_.size()); }
  const capabilities& declared() const noexcept override;
  void submit(rank_id to, message_list& batch) override;
  bool poll(message_list& arrived, std::size_t messages_max) override;
  void wait(std::chrono::nanoseconds timeout) override;
  void wake() noexcept override;
  std::optional<failure> failed() override;
  direct_memory* direct() noexcept override { return this; }
  bool unsent() const noexcept override { return !busy_.empty(); }
  bool under_way() override {
    const std::scoped_lock lock(turn_);
    return !flushed();
  }
  void close(std::chrono::nanoseconds timeout) override;

 private:
  struct place_of {
    std::uint32_t peer;
    std::uint32_t lane;
  };
  /// A frame that came too early, or is still on its way into its block.
  struct incoming {
    message_ptr m;
    bool complete = false;
  };
  /// A frame that has been sent behind one that is still under way.
  struct sent_frame {
    std::uint64_t behind_bytes = 0;  // sent on this link before
    bool complete = false;
  };
  /// One channel of one peer.
  struct link {
    std::uint32_t sent = 0;             // frames; the next one's number
    std::uint64_t sent_bytes = 0;       // in all
    bool flushed = false;               // nothing has been sent since the last flush began
    std::deque<sent_frame> under_way;   // from the oldest that is
    std::uint64_t first_under_way = 0;  // its number among all that ever were in that list
    message_list waiting;
    std::size_t waiting_bytes = 0;
    std::uint64_t delivered = 0;  // frames; the number of the next one
    std::map<std::uint64_t, incoming> held;
    bool heard = false;  // its first sign of life, which is no frame
  };
  struct peer {
    enum class state : std::uint8_t { present, suspect, left, lost };
    state now = state::lost;  // the own rank is nobody's peer
    bool ready = false;       // it has met all others
    peer_parts parts;
    std::string suspicion;
    net::time_point suspect_since;
    std::array<link, lane_count> links;
  };
  /// Something under way at UCX; a ticket is its index.
  struct transfer {
    enum class kind : std::uint8_t { unused, frame, sign, flush, arriving, word, lent_leaves, own_leaves, landing };
    [[nodiscard]] bool comes_in() const noexcept { return what == kind::arriving || what == kind::landing; }
    std::uint32_t ticket = 0;
    kind what = kind::unused;
    place_of of{};
    std::uint64_t number = 0;             // in the list of what is under way, or of the frame that arrives
    std::size_t bytes = 0;                // of the frame that arrives
    frame_kind as = frame_kind::message;  // what lands
    stamp with;
    message_ptr m;
  };

  /// Long messages of a lane.
  struct arrivals {
    struct announced {
      std::uint32_t ticket;
      announcement which;
    };
    std::deque<announced> waiting;    // not begun
    std::size_t bytes_under_way = 0;  // begun
  };

  /// Memory that was lent to a peer.
  struct lent_piece {
    std::uint32_t to = 0;
    std::span<std::byte> bytes;
    copy_way what = copy_way::from_lent;
    enum class state : std::uint8_t { idle, busy, used } now = state::idle;
  };
  /// What a copy is called at both ends: the peer there, and the id at the lender.
  struct piece_name {
    std::uint32_t far = 0;
    std::uint32_t id = 0;
    auto operator<=>(const piece_name&) const = default;
  };
  /// A copy that this rank has begun.
  struct copy_in_hand {
    direct_copy what;
    bool landing = false;          // UCX writes to the own memory
    bool leaving = false;          // UCX reads the own memory
    std::optional<bool> answer{};  // how it went, by the lender's word
  };
  /// To be said to a peer once the port does not call any more.
  struct word_to {
    frame_kind what = frame_kind::refused;
    piece_name of;
  };

  // endpoint_send.cpp
  [[nodiscard]] bool full(const link& to) const noexcept;
  void start(place_of where, message_ptr m);
  [[nodiscard]] bool start_brief(place_of where, const peer& target, link& via, message& m);
  [[nodiscard]] transfer& begin(transfer::kind what, place_of of);
  void settle(transfer& it, outcome how);
  void give_up(transfer& it);
  void note_complete(link& via, std::uint64_t number);
  bool pump();
  void forget_waiting(peer& whom);

  // endpoint_receive.cpp: what the port tells
  void arrived(std::uint32_t lane, frame_kind what, const stamp& of,
               std::span<const std::byte> frame) noexcept override;
  place place_for(std::uint32_t lane, frame_kind what, const stamp& of, std::size_t byte_count,
                  announcement as) noexcept override;
  void ended(std::uint64_t ticket, bool well) noexcept override;
  void broken(std::uint32_t peer, std::uint32_t lane, const char* why) noexcept override;
  [[nodiscard]] link* link_of(std::uint32_t lane, const stamp& of) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> number_of(const link& from, const stamp& of) const noexcept;
  [[nodiscard]] std::string_view fault_of(const message_header& header, rank_id by, std::size_t frame_bytes,
                                          std::uint32_t lane) const;
  void hear_frame(link& from, std::uint32_t lane, frame_kind what, const stamp& of, std::span<const std::byte> frame);
  void take(link& from, const stamp& of, message_ptr m);
  void take_out_of_turn(link& from, const stamp& of, message_ptr m);
  void deliver_held(link& from);
  [[nodiscard]] bool may_fetch(std::uint32_t lane) const noexcept;
  void fetch_announced(std::uint32_t lane);
  void drop_announced();
  void take_body(transfer& it, bool well);

  // endpoint_direct.cpp
  bool reaches(rank_id far) const noexcept override { return far != rank_; }
  std::optional<lent_memory> lend(rank_id to, std::span<std::byte> bytes, copy_way what) override;
  void recall(rank_id from, const lent_memory& what) noexcept override;
  copy_outcome copy(const direct_copy& what) override;
  void stop(std::uint64_t tag) noexcept override;
  std::optional<ended_copy> take_ended() override;
  void hear_word(frame_kind what, const stamp& of);
  [[nodiscard]] place place_for_bytes(frame_kind what, const stamp& of, std::size_t byte_count);
  void end_landing(const transfer& it, bool well);
  void end_leaving(const transfer& it, bool well);
  void end_copy(piece_name which, bool well);
  void note_used(piece_name which);
  void say_words();
  void send_bytes(transfer::kind as, frame_kind what, piece_name which, std::span<const std::byte> bytes);
  template <class Condition>
  bool help_until(std::uint32_t far, Condition over);

  // endpoint.cpp
  bool progress(message_list& into, std::size_t enough);
  bool look_at(std::uint32_t lane, message_list& into, std::size_t enough);
  void sleep(std::chrono::nanoseconds timeout);

  // endpoint_aside.cpp
  void look_aside();
  void serve_line();
  void read_lifeline(std::uint32_t rank);
  void suspect(std::uint32_t rank, std::string_view why);
  void judge_suspects();
  void lose(std::uint32_t rank, std::string_view reason);
  void tell_of_the_lost();
  template <class Condition>
  bool progress_until(Condition over, net::time_point deadline, bool joining);
  void flush_links();
  void leave_to_peers();
  [[nodiscard]] bool flushed() const noexcept;

  rank_id rank_;
  std::size_t output_bytes_max_;
  std::unique_ptr<port> port_;
  std::vector<peer> peers_;          // by rank
  std::vector<place_of> busy_;       // links where something waits
  std::deque<transfer> transfers_;   // by ticket
  std::vector<std::uint32_t> free_;  // tickets that nothing uses
  std::uint32_t sending_ = 0;        // transfers under way that are not arriving
  std::uint32_t unheard_ = 0;        // links that have given no sign of life
  std::uint32_t unready_ = 0;        // peers that have not said that they are done meeting
  std::uint32_t suspects_ = 0;
  std::array<arrivals, lane_count> arrivals_{};
  std::uint32_t announced_ = 0;                     // that wait there
  std::array<std::uint32_t, lane_count> warmth_{};  // polls for which a lane is still looked at every time
  pace cold_lanes_;                                 // when to look at the others
  std::uint32_t polls_ = 0;
  bool stirred_ = false;  // a poll has moved something since the last sleep
  std::chrono::steady_clock::time_point quiet_since_{};
  message_list* into_ = nullptr;  // where frames go; set while the port may call
  message_list seen_;             // received while waiting
  message_list own_;              // submitted to the own rank
  std::deque<failure> lost_;      // failures of which the launcher has not been told
  std::deque<failure> failures_;
  std::map<std::uint32_t, lent_piece> lent_;  // by id
  std::map<piece_name, copy_in_hand> copies_;
  std::vector<word_to> words_;
  std::deque<ended_copy> ended_copies_;
  std::uint32_t last_lent_ = 0;
  std::shared_ptr<launch::control_line> line_;
  bool closing_ = false;
  bool closed_ = false;
  net::unique_fd aside_;   // epoll: lifelines and line
  net::unique_fd events_;  // epoll: aside, lanes, alarm
  net::unique_fd alarm_;   // eventfd: written by wake when somebody sleeps

  // Shared by wait, wake and poll, which may be in three threads.
  alignas(cache_line_bytes) turn turn_;  // held during every call of the port
  std::atomic<bool> troubled_{false};    // failures_ holds something
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> woken_{false};
  std::atomic<bool> own_waiting_{false};
  std::atomic<bool> look_aside_{false};
};

}  // namespace nacre::transport::ucx
