// SPDX-License-Identifier: Apache-2.0
// The protocol of copies between the memories of two ranks, as one end sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>

#include "transport/direct_memory.hpp"
#include "transport/ucx/module.hpp"

namespace nacre::transport::ucx {

/// Names a copy at both endpoints: the rank of the other endpoint, and the region's id at its owner.
struct copy_id {
  std::uint32_t far = 0;
  std::uint32_t id = 0;
  auto operator<=>(const copy_id&) const = default;
};

/// The regions that this rank has registered, the copies that it has started, and the frames that both ask for. It
/// sends nothing and holds no lock: its endpoint does.
///
/// All frames name a copy by the id of the region at its owner. They travel on the channel bulk.
///
/// | step | out of a region | into a region |
/// |---|---|---|
/// | 1 | copier: take | copier: given, announced |
/// | 2 | owner, if still registered: taken, announced | owner, if still registered: fetches it, landed |
/// | | else: refused | else: refused |
/// | 3 | copier, if the copy was not stopped: fetches it | - |
///
/// Announced bytes stay at their sender until the receiver's UCX has fetched them, or drops the request: by remote
/// access of the hardware, by the kernel, or in frames. Invariant: no peer knows the address of memory that receives.
/// This end decides whether to write to it when the bytes are announced, so until then the memory can be deregistered
/// at once.
///
/// Once a fetch has started, both endpoints finish without anything above UCX. So a thread that waits for the end needs
/// no handler to run, and it makes the progress of its own end itself.
class memory_copies {
 public:
  /// A frame to send. `bytes`: those of a region, which stay in use until region_left.
  struct frame {
    frame_kind kind = frame_kind::refused;
    copy_id copy;
    std::span<std::byte> bytes{};
  };

  /// Returns the region's id.
  [[nodiscard]] std::uint32_t add_region(std::uint32_t target, std::span<std::byte> bytes, copy_way way);
  /// Returns false while a copy of the peer uses the region.
  [[nodiscard]] bool remove_idle_region(std::uint32_t id);
  /// For a region of a peer that is gone.
  void remove_region(std::uint32_t id) { regions_.erase(id); }

  /// Starts a copy. One into a region begins with its bytes, which the caller sends; then own_left must follow. Returns
  /// false when this rank copies from or to that region already.
  [[nodiscard]] bool start(copy_id id, const direct_copy& copy);
  [[nodiscard]] std::optional<copy_id> find(std::uint64_t tag) const;
  /// Gives up a copy out of a region before its bytes have come.
  void stop(copy_id id);
  /// UCX reads or writes this rank's memory for the copy.
  [[nodiscard]] bool in_use(copy_id id) const;

  /// Handles a frame without bytes.
  void receive(frame_kind kind, copy_id id);
  /// The destination of announced bytes, for which `landed` must follow; null: they must not land.
  [[nodiscard]] std::byte* destination(frame_kind kind, copy_id id, std::size_t byte_count);
  /// The announced bytes are there, or will never be.
  void landed(frame_kind kind, copy_id id, bool well);
  /// The bytes of a region have left, or will never leave.
  void region_left(copy_id id);
  /// The bytes of a copy that this rank has started have left, or will never leave.
  void own_left(copy_id id, bool well);

  [[nodiscard]] bool has_frames() const noexcept { return !frames_.empty(); }
  [[nodiscard]] std::optional<frame> next_frame();
  [[nodiscard]] bool has_ended() const noexcept { return !ended_.empty(); }
  [[nodiscard]] std::optional<direct_memory::ended_copy> take_ended();

 private:
  /// A region of memory that is registered for a peer.
  struct region {
    std::uint32_t peer = 0;
    std::span<std::byte> bytes;
    copy_way way = copy_way::from_region;
    enum class state : std::uint8_t { idle, busy, used } now = state::idle;
  };
  /// A copy that this rank has started.
  struct active_copy {
    direct_copy copy;
    bool landing = false;          // UCX writes to this rank's memory
    bool leaving = false;          // UCX reads this rank's memory
    std::optional<bool> answer{};  // the result that the owner has reported
  };

  /// The region, if the peer may use it that way now; else null.
  [[nodiscard]] region* usable(copy_id id, copy_way way);
  void end(copy_id id, bool well);

  std::map<std::uint32_t, region> regions_;  // by id
  std::map<copy_id, active_copy> copies_;
  std::deque<frame> frames_;
  std::deque<direct_memory::ended_copy> ended_;
  std::uint32_t last_region_ = 0;
};

}  // namespace nacre::transport::ucx
