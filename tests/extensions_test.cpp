// SPDX-License-Identifier: Apache-2.0
// Extension modules through the public interface, in one process: commands, timers, datagrams, loading and unloading.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nacre/command_program.hpp>
#include <nacre/nacre.hpp>

namespace nacre {
namespace {

std::string module_file(const std::string& name) { return NACRE_EXTENSIONS_DIR "/" + name + ".so"; }

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Runs main on three ranks over that transport.
void run_over(const char* transport, const std::function<void(runtime&)>& main) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", "3");
  configuration.set("workers", "1");
  EXPECT_EQ(run(configuration, main), 0) << transport;
}

/// Over threads and simulated.
void run_both(const std::function<void(runtime&)>& main) {
  for (const char* transport : {"inproc", "sim"}) run_over(transport, main);
}

template <class Module>
void register_module(const char* name) {
  register_extension(name, [](const config&) { return std::make_unique<Module>(); });
}

/// Command 1: echo. 2: the echo of the module on the rank that the first byte names. 3: an echo after a timer. 4: as
/// many datagrams to rank 0 as the bytes are. 5: the datagrams that have come.
class postman final : public extension {
  void on_command(extension_host& host, rank_id, std::uint32_t command, std::span<const std::byte> bytes) override {
    switch (command) {
      case 1:
        return host.reply(bytes);
      case 2:
        deferred_ = host.defer();
        host.command(rank_id(std::to_integer<std::uint32_t>(bytes.front())), "postman", {}, 1, bytes);
        return;
      case 3:
        deferred_ = host.defer();
        asked_at_ = host.now();
        host.cancel(host.set_timer(0.0, true));
        due_ = host.set_timer(std::chrono::milliseconds(2), bytes.size() % 2 == 0);
        return;
      case 4:
        for (std::size_t i = 0; i < bytes.size(); ++i) kept_ += host.datagram(rank_id{0}, bytes.first(1)) ? 1 : 0;
        return host.reply(std::as_bytes(std::span(&kept_, 1)));
      case 5:
        return host.reply(std::as_bytes(std::span(&came_, 1)));
      default:
        return host.fail("no command " + std::to_string(command));
    }
  }
  void on_answer(extension_host& host, std::uint64_t, const extension_answer& answer) override {
    host.reply(deferred_, answer.bytes);
  }
  void on_timer(extension_host& host, std::uint64_t timer) override {
    const std::string said = timer != due_                           ? "a timer that was cancelled"
                             : host.now() - asked_at_ < 0.002 - 1e-9 ? "early"
                                                                     : "due";
    host.reply(deferred_, bytes_of(said));
  }
  void on_datagram(extension_host&, rank_id, std::span<const std::byte>) override { ++came_; }

  std::uint64_t deferred_ = 0, due_ = 0, kept_ = 0, came_ = 0;
  double asked_at_ = 0;
};

TEST(extensions, a_command_is_answered_by_the_module_of_that_rank) {
  register_module<postman>("postman");
  run_both([](runtime& rt) {
    const extension_ref extension_ref = rt.extension("postman");
    for (std::uint32_t rank = 0; rank < rt.size(); ++rank) {
      EXPECT_EQ(text_of(extension_ref.command(rank_id(rank), 1, bytes_of("ahoy")).get()), "ahoy");
      const std::string long_text(100'000, 'x');
      EXPECT_EQ(text_of(extension_ref.command(rank_id(rank), 1, bytes_of(long_text)).get()), long_text);
    }
    EXPECT_THROW(extension_ref.command(rank_id(rt.size()), 1), usage_error);
    EXPECT_THROW(extension_ref.command(rank_id{1}, 77).get(), call_error);
  });
}

TEST(extensions, a_module_commands_another_and_answers_its_caller_then) {
  register_module<postman>("postman");
  run_both([](runtime& rt) {
    const auto said = rt.extension("postman").command(rt.rank(), 2, bytes_of(std::string(1, '\2'))).get();
    EXPECT_EQ(text_of(said), std::string(1, '\2'));
    rt.wait_quiescence();
  });
}

TEST(extensions, quiescence_waits_for_a_deferred_command) {
  register_module<postman>("postman");
  run_both([](runtime& rt) {
    for (const char* bytes : {"", "x"}) {  // by a fine timer, and by a coarse one
      auto answer = rt.extension("postman").command(rt.rank(), 3, bytes_of(bytes));
      rt.wait_quiescence();
      EXPECT_TRUE(answer.ready());
      EXPECT_EQ(text_of(answer.get()), "due");
    }
  });
}

TEST(extensions, datagrams_that_are_messages_beyond_the_room_are_dropped_and_the_others_come) {
  register_module<postman>("postman");
  run_over("inproc", [](runtime& rt) {
    if (rt.rank().value() == 1) {
      std::uint64_t kept = 0, came = 0;
      const auto sent = rt.extension("postman").command(rt.rank(), 4, bytes_of(std::string(500, 'd'))).get();
      std::memcpy(&kept, sent.data(), sizeof kept);
      EXPECT_EQ(kept, 64U);
      while (came < kept) {
        const auto seen = rt.extension("postman").command(rank_id{0}, 5).get();
        std::memcpy(&came, seen.data(), sizeof came);
      }
      EXPECT_EQ(came, kept);
    }
  });
}

/// Sends itself 1000 numbered control messages, and answers when all have come in order.
class sequence final : public extension {
  void on_command(extension_host& host, rank_id, std::uint32_t target, std::span<const std::byte>) override {
    for (std::uint32_t i = 0; i < 1000; ++i) host.control(rank_id(target), std::as_bytes(std::span(&i, 1)));
  }
  void on_control(extension_host& host, rank_id source, std::span<const std::byte> bytes) override {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    if (number != next_.at(source.value())++ % 1000) throw std::logic_error("out of order");
    if (number == 999) host.log("all have come");
  }
  std::array<std::uint32_t, 3> next_{};
};

TEST(extensions, control_messages_beyond_their_window_wait_and_keep_their_order) {
  register_module<sequence>("sequence");
  testing::internal::CaptureStderr();
  run_both([](runtime& rt) {
    rt.extension("sequence").command(rt.rank(), (rt.rank().value() + 1) % rt.size()).get();
    rt.barrier();
    for (int i = 0; i < 20; ++i) rt.extension("sequence").command(rt.rank(), 0);
  });
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told.find("deactivated"), std::string::npos) << told;
}

TEST(extensions, a_module_is_loaded_commanded_unloaded_and_loaded_again) {
  run_both([](runtime& rt) {
    if (rt.rank().value() != 1) return rt.barrier();
    for (int time = 0; time < 3; ++time) {
      EXPECT_EQ(rt.load_extension(module_file("loaded_counter")), "loaded_counter");
      EXPECT_THROW(rt.load_extension(module_file("loaded_counter")), usage_error);
      EXPECT_THROW(rt.load_extension(module_file("same_name")), usage_error);
      const extension_ref counter = rt.extension("loaded_counter");
      for (std::uint64_t turn = 0; turn < 3; ++turn) {
        std::uint64_t previous = 99;
        const auto answer = counter.command(rt.rank(), 0, bytes_of("12345")).get();
        std::memcpy(&previous, answer.data(), sizeof previous);
        EXPECT_EQ(previous, turn * 5);
      }
      rt.unload_extension("loaded_counter");
      EXPECT_THROW(counter.command(rt.rank(), 0).get(), call_error);
      EXPECT_THROW(rt.unload_extension("loaded_counter"), usage_error);
    }
    EXPECT_EQ(rt.load_extension(module_file("throws_own")), "throws_own");
    EXPECT_THROW(rt.extension("throws_own").command(rt.rank(), 0).get(), call_error);
    rt.barrier();
  });
}

/// Command 1 is deferred until a control message comes, which command 2 makes a module send to rank 0.
class patient final : public extension {
 public:
  static inline std::atomic<int> ended{0};
  void on_command(extension_host& host, rank_id, std::uint32_t command, std::span<const std::byte>) override {
    if (command == 1) deferred_ = host.defer();
    if (command == 2) host.control(rank_id{0}, {});
  }
  void on_control(extension_host& host, rank_id, std::span<const std::byte>) override { host.reply(deferred_, {}); }
  void deactivate(extension_host&) noexcept override { ++ended; }

 private:
  std::uint64_t deferred_ = 0;
};

TEST(extensions, unloading_waits_for_what_is_under_way) {
  register_module<patient>("patient");
  run_both([](runtime& rt) {
    const extension_ref extension_ref = rt.extension("patient");
    if (rt.rank().value() != 0) {
      rt.barrier();
      if (rt.rank().value() == 1) extension_ref.command(rt.rank(), 2).get();
      return rt.barrier();
    }
    auto answer = extension_ref.command(rt.rank(), 1);
    extension_ref.command(rt.rank(), 3).get();  // the first has been deferred by then
    rt.barrier();
    rt.unload_extension("patient");
    answer.get();  // and not an error that the module has gone
    EXPECT_THROW(extension_ref.command(rt.rank(), 3).get(), call_error);
    rt.barrier();
  });
  EXPECT_EQ(patient::ended, 6);  // each once
}

TEST(extensions, an_option_loads_a_module_on_every_rank) {
  config configuration;
  configuration.set("ranks", "2");
  configuration.set("extension", module_file("loaded_counter"));
  EXPECT_EQ(run(configuration, [](runtime& rt) { rt.extension("loaded_counter").command(rank_id{1}, 0).get(); }), 0);
}

TEST(extensions, a_program_gathers_sends_waits_and_scatters_by_one_signal) {
  register_module<postman>("postman");
  run_both([](runtime& rt) {
    std::vector<int> values(100), target_values(200);
    for (int i = 0; i < 100; ++i) values[static_cast<std::size_t>(i)] = i;
    const auto source = rt.expose(std::span(values));
    const auto target = rt.expose(std::span(target_values));
    const extension_ref post = rt.extension("postman");
    command_program steps(rt);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      steps.gather(source, 50, 50).gather(source, 0, 50).command(post, rank_id(rank), 1);
    }
    steps.wait().scatter(target, 100, 100).scatter(target, 0, 100);
    for (int run = 0; run < 3; ++run) {
      std::fill(target_values.begin(), target_values.end(), -1);
      auto done = steps.start();
      rt.wait_quiescence();
      EXPECT_TRUE(done.ready());
      done.get();
      for (int i = 0; i < 200; ++i) EXPECT_EQ(target_values[static_cast<std::size_t>(i)], (i + 50) % 100);
    }
    rt.withdraw(target);
    EXPECT_THROW(steps.start().get(), call_error);
    command_program refused(rt);
    refused.gather(source, 0, 1).command(post, rank_id{1}, 77).wait().scatter(source, 0, 1);
    try {
      refused.start().get();
      ADD_FAILURE();
    } catch (const call_error& error) {
      EXPECT_STREQ(error.what(), "step 2 of a program of commands failed: no command 77");
    }
    EXPECT_THROW(command_program(rt).gather(source, 0, std::size_t{1} << 40), usage_error);
    rt.barrier();
  });
}

}  // namespace
}  // namespace nacre
