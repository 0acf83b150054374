// SPDX-License-Identifier: Apache-2.0
// A real rank with peers that send forged messages, drawn from bytes of any origin, for seeded tests and libFuzzer.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "exec/own_thread.hpp"
#include "machine/simulation.hpp"
#include "runtime/engine.hpp"
#include "runtime/options.hpp"
#include "transport/frame.hpp"
#include "transport/transport.hpp"

#if NACRE_UNDER_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace nacre::forgery {

/// Coroutines that wait for an answer when a rank ends are not freed before the end of the process; permits those
/// leaks.
struct leaks_of_an_end {
#if NACRE_UNDER_ASAN
  leaks_of_an_end() noexcept { __lsan_disable(); }
  leaks_of_an_end(const leaks_of_an_end&) = delete;
  leaks_of_an_end& operator=(const leaks_of_an_end&) = delete;
  ~leaks_of_an_end() { __lsan_enable(); }
#endif
};

/// Turns bytes into decisions; after the last byte all are zero.
class choices {
 public:
  explicit choices(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] bool over() const noexcept { return bytes_.empty(); }
  [[nodiscard]] std::uint8_t byte() noexcept {
    if (over()) return 0;
    const std::uint8_t next = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return next;
  }
  [[nodiscard]] std::uint32_t below(std::uint32_t count) noexcept { return byte() % count; }
  [[nodiscard]] bool one_in(std::uint32_t count) noexcept { return below(count) == count - 1; }
  /// Mostly a small number, sometimes a boundary value or any number.
  [[nodiscard]] std::uint64_t number() noexcept {
    const std::uint8_t kind = byte();
    if (kind < 200) return kind % 8;
    if (kind < 220) return ~std::uint64_t{kind % 4u};
    if (kind < 240) return std::uint64_t{1} << (kind % 64);
    std::uint64_t any = 0;
    for (int i = 0; i < 8; ++i) any = any << 8 | byte();
    return any;
  }
  template <class Number>
  [[nodiscard]] Number as() noexcept {
    return static_cast<Number>(number());
  }
  [[nodiscard]] std::span<const std::uint8_t> rest() const noexcept { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct cell {
  std::vector<std::uint32_t> numbers;
  void add(context& ctx, std::uint32_t number);
  [[nodiscard]] std::size_t count() const { return numbers.size(); }
  [[nodiscard]] task<std::uint32_t> ask(context& ctx, std::uint32_t number);
  template <class Archive>
  void serialize(Archive& ar) {
    ar(numbers);
  }
};
inline std::uint32_t answer(std::uint32_t number) { return number + 1; }
inline void note(context&, std::string, std::vector<std::uint32_t>) {}
inline task<std::uint32_t> ask_back(context& ctx, std::uint32_t number) {
  co_return co_await ctx.call<answer>(ctx.source(), number);
}
inline void cell::add(context& ctx, std::uint32_t number) {
  numbers.push_back(number);
  if (number == 3) ctx.migrate(ctx.self<cell>(), rank_id(3));
}
inline task<std::uint32_t> cell::ask(context& ctx, std::uint32_t number) {
  co_return co_await ctx.call<answer>(rank_id(2), number);
}

inline std::uint64_t meet(cell& a, cell& b, std::uint32_t number) {
  a.numbers.push_back(number);
  return a.numbers.size() + b.numbers.size();
}

constexpr std::uint32_t ranks = 8;

/// The rank's endpoint. Keeps the messages that the rank sends until the test takes them; the test invents the others.
class forged_end final : public transport::endpoint {
 public:
  explicit forged_end(rank_id self) : self_(self) { declared_.virtual_time = true; }
  rank_id rank() const noexcept override { return self_; }
  std::uint32_t size() const noexcept override { return ranks; }
  const transport::capabilities& declared() const noexcept override { return declared_; }
  void submit(rank_id target, message_list& batch) override { (target == self_ ? inbox : sent).append(batch); }
  bool poll(message_list& arrived, std::size_t) override {
    const bool any = !inbox.empty();
    arrived.append(inbox);
    return any;
  }
  void wait(std::chrono::nanoseconds) override {}
  void wake() noexcept override {}
  std::optional<transport::failure> failed() override { return std::nullopt; }
  bool unsent() const noexcept override { return false; }
  void close(std::chrono::nanoseconds) override {}
  transport::direct_memory* direct() noexcept override { return direct_memory; }

  message_list inbox;
  message_list sent;
  transport::direct_memory* direct_memory = nullptr;  ///< set before the rank begins; null: no direct copies

 private:
  rank_id self_;
  transport::capabilities declared_;
};

class virtual_clock final : public clock {
 public:
  explicit virtual_clock(const machine::simulation& simulation) : simulation_(simulation) {}
  std::chrono::nanoseconds now() override { return simulation_.now(); }

 private:
  const machine::simulation& simulation_;
};

/// One rank of a job of eight, with objects, memory, calls, transfers and a collective in progress. Elsewhere the first
/// refusal ends the process; here it ends the test.
class victim {
 public:
  explicit victim(choices& choices);
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;
  ~victim();

  /// Delivers a message of `peer`, unless a transport would refuse it.
  void arrive(std::uint32_t peer, message_ptr m);
  void run_until_idle();
  [[nodiscard]] bool refused() const noexcept { return !refusals_.empty(); }
  [[nodiscard]] const std::vector<std::string>& refusals() const noexcept { return refusals_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] rank_id rank() const noexcept { return rank_; }
  [[nodiscard]] const detail::memory_name& memory() const noexcept { return memory_; }
  [[nodiscard]] object_id staying() const noexcept { return staying_; }
  [[nodiscard]] object_id leaving() const noexcept { return leaving_; }
  /// An array that all ranks know, with elements here and one that has left.
  [[nodiscard]] const array_ptr<cell>& grid() const noexcept { return grid_; }

 private:
  void main(runtime& rt, std::uint32_t plan);
  void open_array(runtime& rt);
  void run_some();

  rank_id rank_;
  std::vector<std::string> refusals_;
  std::uint64_t taken_ = 0;
  detail::memory_name memory_;
  object_id staying_, leaving_;
  array_ptr<cell> grid_;
  std::array<std::uint64_t, 64> exposed_{};
  std::array<std::uint64_t, 8> fetched_{};
  std::vector<future<void>> transfers_;
  std::vector<future<std::uint32_t>> calls_;
  config configuration_;
  machine::simulation machine_{{.seed = 1}};
  const own_thread mark_{&machine_};
  virtual_clock time_{machine_};
  forged_end* end_;
  std::unique_ptr<engine> rank_under_test_;
};

inline victim::victim(choices& choices) : rank_(choices.below(2)), configuration_(all_option_tables()) {
  constexpr const char* balancers[] = {"none", "steal", "diffusion"};
  configuration_.set("transport", "sim");
  configuration_.set("workers", choices.one_in(4) ? "2" : "1");
  configuration_.set("balancer", balancers[choices.below(3)]);
  if (choices.one_in(4)) configuration_.set("aggregate", "on");
  const std::uint32_t plan = choices.below(8);
  auto end = std::make_unique<forged_end>(rank_);
  end_ = end.get();
  const engine_surroundings engine_surroundings{
      .configuration = configuration_,
      .time = time_,
      .simulation = &machine_,
      .fail = [this](rank_id, const std::string& reason) { refusals_.push_back(reason); }};
  rank_under_test_ = std::make_unique<engine>(std::move(end), engine_surroundings);
  rank_under_test_->start_simulated([this, plan](runtime& rt) { main(rt, plan); });
  run_until_idle();
}

/// Creates an array as create_array does, but without the agreement of all ranks: there is only one.
inline void victim::open_array(runtime& rt) {
  const extents shape{4, 4};
  const std::uint64_t first = detail::open_array(*rank_under_test_, {.shape = shape,
                                                                     .type = &detail::type_of<cell>(),
                                                                     .home = &detail::home_of_number<by_block>,
                                                                     .ranks = ranks,
                                                                     .dense = false});
  grid_ = array_ptr<cell>(first, shape, ranks);
  rank_under_test_->objects().arrays().note_agreed();
  for (std::uint64_t number = 0; number < shape.count(); ++number) {
    const nacre::index index = shape.place_of(number);
    if (grid_.home_of(index) == rank_) rt.insert(grid_, index, cell{{1}});
  }
  transfers_.push_back(rt.migrate(grid_[{0, 1}], rank_id(3)));
  rt.send<&cell::add>(grid_, 2U);
  transfers_.push_back(rt.call<&cell::count>(grid_));
}

inline void victim::main(runtime& rt, std::uint32_t plan) {
  rt.on_delivery_error([](const delivery_error&) {});
  memory_ = rt.expose(std::span<std::uint64_t>(exposed_)).name();
  const auto stays = rt.create<cell>();
  const auto leaves = rt.create<cell>();
  staying_ = stays.id();
  leaving_ = leaves.id();
  transfers_.push_back(rt.migrate(leaves, rank_id(2)));
  open_array(rt);
  rt.colocate<meet>(stays, leaves, 1U);
  rt.colocate<meet>(stays, grid_[{0, 0}], 2U);
  calls_.push_back(rt.call<answer>(rank_id(2), 7u));
  detail::memory_name elsewhere = memory_;
  elsewhere.rank = 2;
  const remote_memory<std::uint64_t> remote_memory(elsewhere);
  transfers_.push_back(rt.get(remote_memory, 0, std::span<std::uint64_t>(fetched_)));
  transfers_.push_back(rt.put(remote_memory, 8, std::span<const std::uint64_t>(fetched_)));
  rt.on_quiescence<note>("quiet", std::vector<std::uint32_t>{1});
  switch (plan) {
    case 0:
      return;  // the end, with its collective
    case 1:
      rt.barrier();
      break;
    case 2:
      static_cast<void>(rt.broadcast(std::string("value"), rank_id(3)));
      break;
    case 3:
      static_cast<void>(rt.all_reduce(1.5, std::plus<>{}));
      break;
    case 4:
      static_cast<void>(rt.all_gather(std::string("value")));
      break;
    case 5:
      static_cast<void>(rt.scan(2, std::plus<>{}));
      break;
    case 6:
      rt.wait_quiescence();
      break;
    default:
      static_cast<void>(calls_.front().get());
  }
}

/// Answers every request that waits for a peer, so that no coroutine leaks.
inline victim::~victim() {
  for (int rounds = 0; rounds < 100 && !end_->sent.empty(); ++rounds) {
    message_list sent;
    sent.append(end_->sent);
    while (const message_ptr m = sent.pop_front()) {
      if (m->header.reply == 0 || m->header.kind == message_kind::reply || !m->packed()) continue;
      message_ptr reply = make_message(0);
      reply->header.kind = message_kind::reply;
      reply->header.reply = m->header.reply;
      reply->header.flags = flag_failed | flag_communication;
      reply->header.source = 2;
      end_->inbox.push_back(std::move(reply));
    }
    run_some();
  }
  transfers_.clear();
  calls_.clear();
  rank_under_test_->stop_simulated();
}

inline void victim::arrive(std::uint32_t peer, message_ptr m) {
  const transport::frame_limits limits{.ranks = ranks, .payload_bytes_max = 1u << 30, .peer = rank_id(peer)};
  if (peer == rank_.value() || transport::check_header(m->header, limits)) return;
  ++taken_;
  end_->inbox.push_back(std::move(m));
}

inline void victim::run_until_idle() {
  if (!refused()) run_some();
}

/// Runs until the rank is idle, at most 300 events: balancers and quiescence probes never stop.
inline void victim::run_some() {
  rank_under_test_->on_arrival();
  for (int events = 0; events < 300 && machine_.step(); ++events) {
    if (!end_->inbox.empty()) rank_under_test_->on_arrival();
  }
}

}  // namespace nacre::forgery
