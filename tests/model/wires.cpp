// SPDX-License-Identifier: Apache-2.0
// Queues of messages.
#include "model/wires.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>

namespace model {

/// As a simulated one, but that nothing costs time.
class wires::endpoint final : public nacre::transport::endpoint {
 public:
  endpoint(wires& all, nacre::rank_id rank) : all_(all), rank_(rank) {}

  [[nodiscard]] nacre::rank_id rank() const noexcept override { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(all_.arrived_.size());
  }
  [[nodiscard]] const nacre::transport::capabilities& declared() const noexcept override { return declared_; }
  void submit(nacre::rank_id target, nacre::message_list& batch) override {
    while (nacre::message_ptr m = batch.pop_front()) {
      all_.under_way_[{rank_.value(), target.value(), m->header.channel}].push_back(nacre::packed_form(std::move(m)));
    }
  }
  bool poll(nacre::message_list& arrived, std::size_t) override {
    auto& mine = all_.arrived_[rank_.value()];
    const bool any = !mine.empty();
    for (; !mine.empty(); mine.pop_front()) arrived.push_back(std::move(mine.front()));
    return any;
  }
  void wait(std::chrono::nanoseconds) override { NACRE_EXPECT(false, "nobody sleeps in a model"); }
  void wake() noexcept override {}
  [[nodiscard]] std::optional<nacre::transport::failure> failed() override { return std::nullopt; }
  [[nodiscard]] bool unsent() const noexcept override { return false; }
  void close(std::chrono::nanoseconds) override {}

 private:
  static constexpr nacre::transport::capabilities declared_{.separate_channels = true};
  wires& all_;
  nacre::rank_id rank_;
};

std::unique_ptr<nacre::transport::endpoint> wires::open(nacre::rank_id rank) {
  return std::make_unique<endpoint>(*this, rank);
}

std::vector<wire_end> wires::loaded() const {
  std::vector<wire_end> ends;
  for (const auto& [end, queue] : under_way_) ends.push_back(end);
  return ends;
}

void wires::deliver(const wire_end& wire_end) {
  const auto match = under_way_.find(wire_end);
  NACRE_EXPECT(match != under_way_.end(), "there is no message to deliver");
  arrived_[wire_end.target].push_back(std::move(match->second.front()));
  match->second.pop_front();
  if (match->second.empty()) under_way_.erase(match);
}

}  // namespace model
