// SPDX-License-Identifier: Apache-2.0
// How the extension modules of a rank reach those of other ranks; the layer of active messages implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <nacre/extension_module.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// Names the sender of a command, and the command at that rank. Comes back with the answer.
struct extension_request {
  rank_id source;
  std::uint64_t asker = 0;  ///< extension_number of the module that has sent it; 0: a main or a handler
  std::uint64_t number = 0;
  std::uint32_t command = 0;  ///< as the program counts the commands of the module
};

/// A command on its way.
struct extension_command {
  std::uint64_t module = 0;
  extension_key key{};
  std::uint64_t asker = 0;
  std::uint64_t request = 0;
  std::uint32_t number = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(module, key, asker, request, number);
  }
};

/// How a datagram of a module has come.
enum class datagram_way : std::uint8_t {
  message,  ///< as a message: its sender counts it until it is told that it was handled
  datagram  ///< as such: nobody counts it
};

/// Messages of one rank's modules. All is called inside the poll loop, and nothing blocks or calls back.
class extension_link {
 public:
  virtual void send_control(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) = 0;
  /// Whether datagrams to that rank travel as such. Elsewhere they are messages, none of which is lost, so that the
  /// modules count them, and drop what is too much.
  [[nodiscard]] virtual bool has_datagrams(rank_id target) const noexcept = 0;
  /// The unreliable service: may drop, and may change the order. False: it has dropped this one, for want of room.
  virtual bool send_datagram(rank_id target, std::uint64_t module, std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual std::size_t datagram_bytes_max() const noexcept = 0;
  /// Tells a peer how many of its messages the module here has handled since the last time.
  virtual void send_handled(rank_id target, std::uint64_t module, std::uint32_t controls, std::uint32_t datagrams) = 0;
  virtual void send_command(rank_id target, const extension_command& command, std::span<const std::byte> bytes) = 0;
  virtual void send_answer(const extension_request& request, bool failed, std::span<const std::byte> bytes) = 0;
  /// Quiescence waits for one command more, or one less, than for those that are messages.
  virtual void note_deferred() = 0;
  virtual void note_answered() = 0;
  /// Virtual time takes that long; on real threads nothing happens.
  virtual void charge(double seconds) = 0;
  /// Virtual seconds that the running code has charged so far; 0 on real threads.
  [[nodiscard]] virtual double charged() const = 0;
  /// Ends the job. Any thread.
  virtual void end_job(const std::string& reason) = 0;

 protected:
  ~extension_link() = default;
};

}  // namespace nacre
