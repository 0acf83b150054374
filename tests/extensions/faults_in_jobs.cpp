// SPDX-License-Identifier: Apache-2.0
// A faulty module on one rank, a healthy one beside it, and a tree of handlers on all ranks.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "extensions/faults.hpp"
#include "extensions/tree_load.hpp"

namespace nacre::tests {
namespace {

constexpr std::array<fault, 8> all_faults{{
    {"throws", 1, "boom"},
    {"throws_a_number", 2, "no std::exception"},
    {"exhausts_its_heap", 3, "exhausted its heap of 65536 bytes", "extension_memory=64KiB"},
    {"takes_too_long", 4, "took more than 5 ms", "extension_time=5ms"},
    {"leaks", 5, "has left"},
    {"answers_twice", 6, "no command waits for it"},
    {"sends_too_long_a_control_message", 7, "at most 99 fit"},
    {"loops", 8, "has not returned from on_command for 1 s", "extension_patience=1s", true},
}};

class faulty final : public extension {
 public:
  void on_command(extension_host& host, rank_id, std::uint32_t command, std::span<const std::byte>) override {
    const std::array<std::byte, 100> bytes{};
    switch (command) {
      case 1:
        throw std::runtime_error("boom");
      case 2:
        throw 42;
      case 3:
        for (;;) static_cast<void>(host.memory()->allocate(1024));
      case 4:
        host.charge(0.05);
        burn(host, 0.05);
        return;
      case 5:
        static_cast<void>(host.memory()->allocate(1000));
        throw std::runtime_error("boom");
      case 6:
        host.reply({});
        return host.reply({});
      case 7:
        return host.control(host.rank(), bytes);
      default:
        for (volatile bool forever = true; forever;) continue;
    }
  }
  void on_timer(extension_host&, std::uint64_t) override {}

 private:
  /// So much of a processor's time, except where time is virtual.
  static void burn(extension_host&, double seconds) {
    const std::clock_t begin = std::clock();
    while (static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < seconds * 4) continue;
  }
};

/// Asks itself on all ranks by control messages, and counts what comes.
class healthy final : public extension {
 public:
  void init(extension_host& host) override { host.set_timer(std::chrono::microseconds(50), true); }
  void on_timer(extension_host& host, std::uint64_t) override {
    for (std::uint32_t rank = 0; rank < host.size(); ++rank) host.control(rank_id(rank), {});
    if (++rounds_ < 50) host.set_timer(std::chrono::microseconds(50), rounds_ % 2 == 0);
  }
  void on_control(extension_host&, rank_id, std::span<const std::byte>) override { ++got_; }
  void on_command(extension_host& host, rank_id, std::uint32_t, std::span<const std::byte>) override {
    host.reply(std::as_bytes(std::span(&got_, 1)));
  }

 private:
  int rounds_ = 0;
  std::uint64_t got_ = 0;
};

class sealed final : public extension {
  void on_command(extension_host& host, rank_id, std::uint32_t number, std::span<const std::byte>) override {
    host.reply(std::as_bytes(std::span(&number, 1)));
  }
};

/// The text of the error, or "no error".
std::string error_of(future<std::vector<std::byte>> answer) {
  try {
    static_cast<void>(answer.get());
    return "no error";
  } catch (const call_error& error) {
    return error.what();
  }
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

std::span<const fault> faults() noexcept { return all_faults; }

void register_faulty_modules() {
  register_extension("faulty", [](const config&) { return std::make_unique<faulty>(); });
  register_extension("healthy", [](const config&) { return std::make_unique<healthy>(); });
  register_extension(
      "sealed", [](const config&) { return std::make_unique<sealed>(); }, extension_access::key);
}

void misbehave(runtime& rt, const fault& fault) {
  const rank_id last(rt.size() - 1);
  const bool first = rt.rank().value() == 0;
  if (first) rt.send<visit_node>(rank_id{0}, tree_root, tree_depth);
  bool right = true;
  if (first) {
    const std::string told = error_of(rt.extension("faulty").command(last, fault.command));
    const bool by_line_only = fault.name == "leaks" || fault.name == "answers_twice";
    if (!by_line_only) right = says(told, fault.text);
    if (!right) std::printf("the caller was told: %s\n", told.c_str());
    const std::string later = error_of(rt.extension("faulty").command(last, 9));
    right &= says(later, "the extension module faulty is deactivated");
    rt.send<visit_node>(last, tree_root, tree_depth);
  }
  for (std::uint64_t got = 0, seen = 0; got < 50 * rt.size(); seen = got) {  // its timers go on
    const auto bytes = rt.extension("healthy").command(last, 1).get();
    std::memcpy(&got, bytes.data(), sizeof got);
    if (got < seen) right = false;
  }
  rt.wait_quiescence();
  right &= tree_is_exact(rt, 2);
  if (rt.all_reduce(right, std::logical_and<>{}) && first) std::printf("exact\n");
}

void use_keys(runtime& rt) {
  const std::vector<extension_key> keys = rt.all_gather(rt.key_of_extension("sealed"));
  const rank_id last(rt.size() - 1);
  bool right = true;
  if (rt.rank().value() == 0) {
    const auto with_key = [&](const extension_key& key) {
      return error_of(rt.extension("sealed", key).command(last, 5));
    };
    extension_key forged = keys.back();
    forged.words[1] ^= 1;
    right &= says(with_key({}), "does not open") && says(with_key(forged), "does not open");
    right &= says(with_key(keys.front()), "does not open");  // that of another rank
    right &= with_key(keys.back()) == "no error";
    right &= says(error_of(rt.extension("nobody").command(last, 1)), "has no extension module of that name");
  }
  rt.barrier();
  if (rt.rank() == last) static_cast<void>(rt.withdraw_extension_key("sealed"));
  const extension_key renewed = rt.broadcast(rt.key_of_extension("sealed"), last);
  if (rt.rank().value() == 0) {
    right &= says(error_of(rt.extension("sealed", keys.back()).command(last, 5)), "does not open");
    right &= error_of(rt.extension("sealed", renewed).command(last, 5)) == "no error";
  }
  if (rt.all_reduce(right, std::logical_and<>{}) && rt.rank().value() == 0) std::printf("keys hold\n");
}

}  // namespace nacre::tests
