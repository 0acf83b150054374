// SPDX-License-Identifier: Apache-2.0
// The interface of extension modules: code of the program that runs inside the communication component of each rank.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

#include <nacre/ids.hpp>

namespace nacre {

class config;

/// The right to send commands to an extension module, or to a module of one rank: see operations::extension. It may be
/// sent in messages like a number. The default key is the key of the program: it opens modules that are registered or
/// loaded with extension_access::program, on every rank of the job.
struct extension_key {
  std::array<std::uint64_t, 2> words{};  ///< random; both 0 in the key of the program

  [[nodiscard]] bool is_program_key() const noexcept { return (words[0] | words[1]) == 0; }
  friend bool operator==(const extension_key&, const extension_key&) = default;
};

/// Which keys open a module.
enum class extension_access : std::uint8_t {
  program,  ///< the key of the program, which every rank of the job has, and the key that the owner hands out
  key       ///< only the key that its owner hands out
};

/// How a command of a module to another one ended; see extension::on_answer.
struct extension_answer {
  bool failed = false;
  std::span<const std::byte> bytes;  ///< the answer; if it failed, the reason as text. Valid during the call
  [[nodiscard]] std::string_view reason() const noexcept {
    return failed ? std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) : std::string_view();
  }
};

/// The services of a rank for one of its extension modules. Valid from the module's init to the end of its deactivate;
/// to be used by the functions of the module only, while they run. Nothing here blocks. A function that is misused
/// throws usage_error, and one that needs memory beyond the module's limit throws std::bad_alloc; a module that lets
/// either escape is deactivated.
class extension_host {
 public:
  /// The most bytes of a control message.
  static constexpr std::size_t control_bytes_max = 99;

  [[nodiscard]] virtual rank_id rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Seconds since the job's start; virtual ones under simulation.
  [[nodiscard]] virtual double now() const = 0;

  /// Sends at most control_bytes_max bytes to the module of this name on another rank, or on this one: on_control gets
  /// them, once, in the order sent. The fastest way between modules. Beyond 256 messages to one rank that the module
  /// there has not handled, further ones wait here, at the expense of memory(). Uncounted: quiescence does not wait for
  /// them.
  virtual void control(rank_id target, std::span<const std::byte> bytes) = 0;
  /// Sends at most datagram_bytes_max() bytes to the module of this name on a rank: on_datagram gets them, or not, in
  /// any order. False: there was no room, and the datagram is dropped. Uncounted.
  virtual bool datagram(rank_id target, std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual std::size_t datagram_bytes_max() const noexcept = 0;

  /// In on_command: the result of the command that runs, once. Without it, and without defer, the result is empty.
  virtual void reply(std::span<const std::byte> bytes) = 0;
  /// In on_command: fails the command that runs; its caller gets call_error with this text.
  virtual void fail(std::string_view reason) = 0;
  /// In on_command: the command will be answered later, by the number that this returns. Quiescence waits for it, and
  /// unloading the module does, too.
  [[nodiscard]] virtual std::uint64_t defer() = 0;
  /// Answers a deferred command.
  virtual void reply(std::uint64_t deferred, std::span<const std::byte> bytes) = 0;
  virtual void fail(std::uint64_t deferred, std::string_view reason) = 0;

  /// Calls on_timer with the number that this returns, once, when `delay` is over. A fine timer is as exact as the poll
  /// loop; a coarse one comes up to a millisecond late, together with others, and costs less. Quiescence does not wait
  /// for timers. Timers end with the module.
  virtual std::uint64_t set_timer(std::chrono::nanoseconds delay, bool fine) = 0;
  std::uint64_t set_timer(std::chrono::nanoseconds delay) { return set_timer(delay, false); }
  /// Sets a timer with the delay in seconds. A negative delay or NaN counts as 0, and more than 1e9 as 1e9.
  std::uint64_t set_timer(double seconds, bool fine = false) {
    const double bounded = std::min(std::max(0.0, seconds), 1e9);
    return set_timer(std::chrono::nanoseconds(static_cast<std::int64_t>(bounded * 1e9)), fine);
  }
  /// Takes a timer back; on_timer will not be called for it. Ignores numbers of timers that are over.
  virtual void cancel(std::uint64_t timer) noexcept = 0;

  /// The module's heap, for std::pmr containers. It holds --nacre.extension_memory at most; beyond it throws. What is
  /// left there when the module ends is released.
  [[nodiscard]] virtual std::pmr::memory_resource* memory() noexcept = 0;
  /// Writes a line that names rank and module to standard error; at most 100 lines in ten seconds.
  virtual void log(std::string_view text) = 0;
  /// Sends a command to the module `name` of a rank, as extension_ref::command does. Its answer comes to on_answer with
  /// the number that this returns. Counted: quiescence waits for the command and for its answer.
  virtual std::uint64_t command(rank_id target, std::string_view name, const extension_key& key, std::uint32_t number,
                                std::span<const std::byte> bytes) = 0;
  /// Declares a cost of the running function, in seconds: it advances virtual time under simulation.
  virtual void charge(double seconds) = 0;

 protected:
  ~extension_host() = default;
};

/// An extension module: state and event handlers that run inside the communication component of a rank (DVCM section
/// 3). Each rank has an instance of its own. The functions are called one at a time, inside the poll loop, so they must
/// be short and never block; --nacre.extension_time limits each call. Bytes are valid during the call, and they are
/// input: check them. A module that throws, exhausts its heap or takes too much time is deactivated: a line on standard
/// error says why, and its commands fail at their callers from then on.
class extension {
 public:
  virtual ~extension() = default;
  /// Called first.
  virtual void init(extension_host& /*host*/) {}
  /// A command of a program, or of a module, with a key that opens this module.
  virtual void on_command(extension_host& host, rank_id /*from*/, std::uint32_t /*command*/,
                          std::span<const std::byte> /*bytes*/) {
    host.fail("the module takes no commands");
  }
  /// A control message of the module of this name on another rank, or on this one.
  virtual void on_control(extension_host& /*host*/, rank_id /*from*/, std::span<const std::byte> /*bytes*/) {}
  /// A datagram of the module of this name.
  virtual void on_datagram(extension_host& host, rank_id source, std::span<const std::byte> bytes) {
    on_control(host, source, bytes);
  }
  /// A timer of set_timer is due.
  virtual void on_timer(extension_host& /*host*/, std::uint64_t /*timer*/) {}
  /// The answer to a command of this module.
  virtual void on_answer(extension_host& /*host*/, std::uint64_t /*request*/, const extension_answer& /*answer*/) {}
  /// Called last, also after one of the functions above has thrown; not after a watchdog has ended the job.
  virtual void deactivate(extension_host& /*host*/) noexcept {}
};

using extension_factory = std::function<std::unique_ptr<extension>(const config&)>;

/// Attaches a module to every rank of this process, from the start of the job. To be called before nacre::run, from any
/// thread, alike in all processes of the job. `make` is called once for each rank, one call at a time. A name that
/// exists already is replaced.
void register_extension(std::string_view name, extension_factory make,
                        extension_access access = extension_access::program);

namespace detail {

/// The version of this header, as modules that are loaded state it.
inline constexpr std::uint32_t extension_interface_version = 1;

#define NACRE_DETAIL_TEXT_OF(x) #x
#define NACRE_DETAIL_TEXT(x) NACRE_DETAIL_TEXT_OF(x)
#if defined(__clang__)
#define NACRE_DETAIL_COMPILER "clang " NACRE_DETAIL_TEXT(__clang_major__)
#else
#define NACRE_DETAIL_COMPILER "gcc " NACRE_DETAIL_TEXT(__GNUC__)
#endif
/// The binary interface of the standard library.
#define NACRE_DETAIL_LIBRARY \
  ", strings " NACRE_DETAIL_TEXT(_GLIBCXX_USE_CXX11_ABI) ", library " NACRE_DETAIL_TEXT(_GLIBCXX_RELEASE)
/// The compiler and the binary interface that this translation unit is compiled for. A module must be built alike.
#define NACRE_DETAIL_BUILD                                                                     \
  NACRE_DETAIL_COMPILER ", C++ ABI " NACRE_DETAIL_TEXT(__GXX_ABI_VERSION) NACRE_DETAIL_LIBRARY \
      ", pointers " NACRE_DETAIL_TEXT(__SIZEOF_POINTER__)

/// The ELF note by which a module's file says what it is, to be read before any of its code runs.
struct extension_note {
  static constexpr std::uint32_t kind = 0x4e455854;

  std::uint32_t name_bytes = 8;
  std::uint32_t description_bytes = sizeof(std::uint32_t) + 60 + 128;
  std::uint32_t type = kind;
  char owner[8] = "Nacre";
  std::uint32_t version = extension_interface_version;
  char module[60] = {};
  char build[128] = NACRE_DETAIL_BUILD;
};
static_assert(sizeof(extension_note) == 12 + 8 + 4 + 60 + 128);

template <std::size_t N>
constexpr extension_note make_extension_note(const char (&name)[N]) noexcept {
  static_assert(N <= sizeof(extension_note::module), "the name of an extension module has at most 59 characters");
  extension_note note;
  for (std::size_t i = 0; i < N; ++i) note.module[i] = name[i];
  return note;
}

}  // namespace detail
}  // namespace nacre

/// Makes a shared object an extension module: once in it, outside of namespaces, with the class. The name of the module
/// is the text of the argument.
#define NACRE_EXTENSION(type)                                                                                      \
  extern "C" __attribute__((visibility("default"))) nacre::extension* nacre_make_extension(const nacre::config&) { \
    return new type;                                                                                               \
  }                                                                                                                \
  extern "C"                                                                                                       \
      __attribute__((section(".note.nacre"), used, aligned(4),                                                     \
                     visibility("hidden"))) constinit const nacre::detail::extension_note nacre_extension_note =   \
          nacre::detail::make_extension_note(#type);
