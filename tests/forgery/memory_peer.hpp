// SPDX-License-Identifier: Apache-2.0
// A rank in virtual time whose transport copies memory as the test says; the test sends to it and reads its messages.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/own_thread.hpp"
#include "forgery/forged_rank.hpp"

namespace nacre::forgery {

/// Records which regions are registered, copied, stopped and deregistered, and does none of it.
class recording_memory final : public transport::direct_memory {
 public:
  bool reach = true;
  transport::copy_outcome outcome = transport::copy_outcome::done;
  std::vector<transport::direct_copy> copies;
  std::vector<std::uint64_t> stopped;         // tags
  std::vector<std::span<std::byte>> regions;  // by id - 1
  std::vector<std::uint64_t> deregistered;    // ids
  std::deque<ended_copy> ended;               // not yet taken by the rank

  bool reaches(rank_id) const noexcept override { return reach; }
  std::optional<transport::registered_region> register_region(rank_id, std::span<std::byte> bytes,
                                                              transport::copy_way) override {
    regions.push_back(bytes);
    return transport::registered_region{.id = regions.size(), .address = 0};
  }
  void deregister(rank_id, const transport::registered_region& region) noexcept override {
    deregistered.push_back(region.id);
  }
  transport::copy_outcome copy(const transport::direct_copy& direct_copy) override {
    copies.push_back(direct_copy);
    return outcome;
  }
  void stop(std::uint64_t tag) noexcept override { stopped.push_back(tag); }
  std::optional<ended_copy> take_ended() override {
    if (ended.empty()) return std::nullopt;
    const ended_copy first = ended.front();
    ended.pop_front();
    return first;
  }
};

/// Rank 0 of a job of eight.
class lone_rank : public testing::Test {
 protected:
  static constexpr rank_id peer{2};
  using said = std::vector<std::pair<std::uint64_t, memory_status>>;

  lone_rank() {
    configuration.set("transport", "sim");
    configuration.set("workers", "1");
    configuration.set("aggregate", "off");
    configuration.set("balancer", "none");  // no timer outlives the rank
  }
  ~lone_rank() override { end(); }

  void start(std::function<void(runtime&)> main) {
    auto result = std::make_unique<forged_end>(rank_id(0));
    link_ = result.get();
    link_->direct_memory = has_direct_memory ? &direct_memory : nullptr;
    const engine_surroundings engine_surroundings{
        .configuration = configuration,
        .time = time_,
        .simulation = &machine_,
        .fail = [this](rank_id, const std::string& reason) { refusal_ += reason; }};
    rank_ = std::make_unique<engine>(std::move(result), engine_surroundings);
    rank_->start_simulated(std::move(main));
    run_until_idle();
  }
  /// Ends the rank without waiting for transfers in progress.
  void end() {
    if (rank_ == nullptr) return;
    rank_->stop_simulated();
    rank_.reset();
  }
  [[nodiscard]] engine& rank() { return *rank_; }
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  void arrive(message_ptr m) {
    m->header.source = peer.value();
    link_->inbox.push_back(std::move(m));
    run_until_idle();
  }
  /// Runs until the rank is idle, at most 30 events: quiescence probes never stop.
  void run_until_idle() {
    rank_->on_arrival();
    for (int events = 0; events < 30 && machine_.step(); ++events) continue;
  }

  /// Takes the messages that the rank has sent to handler F, each read as a T.
  template <auto F, class T>
  std::vector<T> said_by() {
    std::vector<T> all;
    message_list others;
    while (message_ptr m = link_->sent.pop_front()) {
      if (m->header.handler != detail::handler_of<F, memory_module>().id.value()) {
        others.push_back(std::move(m));
        continue;
      }
      EXPECT_TRUE(m->packed());
      auto read = unpack<T>(m->payload());
      EXPECT_TRUE(read);
      if (read) all.push_back(std::move(*read));
    }
    link_->sent.append(others);
    return all;
  }
  /// The ends of pieces that the rank has reported since the last call.
  said answers() { return said_by<&memory_module::on_done, std::pair<std::uint64_t, memory_status>>(); }

  config configuration{all_option_tables()};
  recording_memory direct_memory;
  bool has_direct_memory = true;

 private:
  [[maybe_unused]] const leaks_of_an_end permitted_{};
  std::string refusal_;
  machine::simulation machine_{{.seed = 1}};
  const own_thread mark_{&machine_};
  virtual_clock time_{machine_};
  forged_end* link_ = nullptr;
  std::unique_ptr<engine> rank_;
};

}  // namespace nacre::forgery
