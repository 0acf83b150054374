// SPDX-License-Identifier: Apache-2.0
// The fabric, the endpoint and the options of the backend `sim`.
#include "transport/sim/sim_fabric.hpp"

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>
#include <nacre/config.hpp>
#include "machine/network_config.hpp"
#include "machine/node_options.hpp"
#include "machine/runtime_cost_table.hpp"
#include "transport/sim/sim_state.hpp"

namespace nacre::transport {

namespace {

constexpr capabilities declaration{.virtual_time = true, .direct_memory = true, .datagrams = true};

}  // namespace

sim_fabric::sim_fabric(std::uint32_t ranks, const sim_options& options)
    : state_(std::make_unique<state>(ranks, options)) {}

sim_fabric::~sim_fabric() = default;

std::uint32_t sim_fabric::size() const noexcept { return state_->net.ranks(); }

std::span<const rank_id> sim_fabric::local_ranks() const noexcept { return state_->ranks; }

std::unique_ptr<endpoint> sim_fabric::open(rank_id rank) {
  NACRE_EXPECT(rank.value() < size(), "no such rank");
  NACRE_EXPECT(state_->at(rank).now == state::phase::absent, "a rank is opened once");
  state_->at(rank).now = state::phase::open;
  return std::make_unique<sim_endpoint>(*state_, rank);
}

void sim_fabric::set_end_of_time(void (*ended)(rank_id source)) noexcept { state_->time_ended = ended; }

bool sim_fabric::advance() { return state_->clock.step(); }

machine::simulation& sim_fabric::machine() noexcept { return state_->clock; }

const machine::network& sim_fabric::network() const noexcept { return state_->net; }

const rank_traffic& sim_fabric::traffic(rank_id rank) const noexcept { return state_->at(rank).traffic; }

std::uint64_t sim_fabric::effects_under_way() const noexcept {
  return state_->effects_in_flight + state_->copies.under_way() + state_->refused_senders;
}

std::uint64_t sim_fabric::idle_units_under_way() const noexcept { return state_->idle_units_in_flight; }

void sim_fabric::note_idle(handler_id handler) { state_->note_idle(handler); }

bool sim_fabric::is_idle(const message_header& header) const noexcept { return state_->is_idle(header); }

const network_traffic& sim_fabric::traffic() const noexcept { return state_->traffic; }

sim_endpoint::~sim_endpoint() {
  if (shared_.at(rank_).now == sim_fabric::state::phase::open) shared_.close(rank_);
}

void sim_endpoint::set_arrival_hook(hook arrived, void* subject) noexcept {
  shared_.at(rank_).arrived = arrived;
  shared_.at(rank_).subject = subject;
}

std::size_t sim_endpoint::waiting() const noexcept { return shared_.at(rank_).inbox.count; }

std::uint32_t sim_endpoint::size() const noexcept { return shared_.net.ranks(); }

const capabilities& sim_endpoint::declared() const noexcept { return declaration; }

void sim_endpoint::submit(rank_id target, message_list& batch) {
  NACRE_EXPECT(target.value() < size(), "no such rank");
  NACRE_EXPECT(shared_.at(rank_).now == sim_fabric::state::phase::open, "nothing is sent after the shutdown");
  if (target == rank_) {
    shared_.submit_own(rank_, batch);
  } else {
    shared_.submit_remote(rank_, target, batch);
  }
}

bool sim_endpoint::poll(message_list& arrived, std::size_t messages_max) {
  shared_.clock.spend(shared_.net.options().poll);
  kept_.clear();
  taken_ = 0;
  std::size_t moved = 0;
  for (; moved < messages_max && waiting() != 0; ++moved) {
    sim_fabric::state::receipt next = shared_.receive(rank_);
    if (next.datagram) {
      kept_.push_back({.source = next.source, .carried = std::move(next.carried)});
    } else {
      arrived.push_back(std::move(next.carried));
    }
  }
  return moved != 0 || shared_.copies.has_ended(rank_);
}

bool sim_endpoint::sends_to(rank_id peer) const noexcept { return peer.value() < size() && peer != rank_; }

bool sim_endpoint::send(rank_id target, std::uint32_t label, byte_pieces pieces) {
  NACRE_EXPECT(sends_to(target), "datagrams go to other ranks of the job");
  std::size_t bytes = 0;
  for (const std::span<const std::byte> piece : pieces) bytes += piece.size();
  NACRE_EXPECT(bytes <= bytes_max(), "a datagram has at most bytes_max bytes");
  NACRE_EXPECT(shared_.at(rank_).now == sim_fabric::state::phase::open, "nothing is sent after the shutdown");
  message_ptr carried = make_message(bytes);
  std::byte* place = carried->body();
  for (const std::span<const std::byte> piece : pieces) place = std::copy(piece.begin(), piece.end(), place);
  carried->header.channel = channel::system;
  carried->header.source = rank_.value();
  carried->header.object = label;
  return shared_.submit_datagram(rank_, target, std::move(carried));
}

std::optional<received_datagram> sim_endpoint::take() {
  if (taken_ == kept_.size()) return std::nullopt;
  const kept_datagram& next = kept_[taken_++];
  const message& carried = *next.carried;
  return received_datagram{.source = next.source,
                           .label = static_cast<std::uint32_t>(carried.header.object),
                           .bytes = {carried.body(), carried.header.payload_bytes}};
}

bool sim_endpoint::reaches(rank_id peer) const noexcept { return peer != rank_; }

std::optional<registered_region> sim_endpoint::register_region(rank_id target, std::span<std::byte> bytes,
                                                               copy_way way) {
  return shared_.copies.register_region(rank_, target, bytes, way);
}

void sim_endpoint::deregister(rank_id, const registered_region& region) noexcept {
  shared_.copies.deregister(rank_, region);
}

copy_outcome sim_endpoint::copy(const direct_copy& copy) {
  if (!reaches(copy.peer)) return copy_outcome::failed;
  shared_.copies.start(rank_, copy);
  return copy_outcome::pending;
}

void sim_endpoint::stop(std::uint64_t tag) noexcept { shared_.copies.stop(rank_, tag); }

std::optional<direct_memory::ended_copy> sim_endpoint::take_ended() { return shared_.copies.take_ended(rank_); }

void sim_endpoint::wait(std::chrono::nanoseconds) {
  NACRE_EXPECT(false, "virtual time passes by fabric::advance, nobody can wait for it");
}

void sim_endpoint::wake() noexcept {
  NACRE_EXPECT(false, "nobody can wait for virtual time, so nobody is to be woken; use set_arrival_hook");
}

bool sim_endpoint::unsent() const noexcept { return shared_.at(rank_).tail_leaves_ns > shared_.clock.now().count(); }

void sim_endpoint::close(std::chrono::nanoseconds) {
  NACRE_EXPECT(shared_.at(rank_).now == sim_fabric::state::phase::open, "a shutdown is sent once");
  shared_.close(rank_);
}

std::span<const option> sim_option_rows() noexcept {
  static const std::vector<option> all = [] {
    std::vector<option> joined;
    for (const auto& table :
         {machine::network_option_rows(), machine::node_option_rows(), machine::runtime_cost_rows()}) {
      joined.insert(joined.end(), table.begin(), table.end());
    }
    return joined;
  }();
  return all;
}

sim_options read_sim_options(const config& configuration, std::uint64_t seed) {
  return {.machine = {.seed = seed}, .network = machine::read_network_options(configuration)};
}

std::unique_ptr<fabric> make_sim_fabric(std::uint32_t ranks, const config& configuration) {
  const std::int64_t seed = configuration.is_declared("seed") ? configuration.get_int("seed") : 1;
  return std::make_unique<sim_fabric>(ranks, read_sim_options(configuration, static_cast<std::uint64_t>(seed)));
}

}  // namespace nacre::transport
