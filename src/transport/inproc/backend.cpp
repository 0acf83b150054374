// SPDX-License-Identifier: Apache-2.0
// The backend whose ranks are threads of one process and hand messages over by pointer.
#include "transport/inproc/backend.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>

#include "transport/in_process_fabric.hpp"
#include "transport/inproc/inbox.hpp"

namespace nacre::transport::inproc {
namespace {

constexpr capabilities inproc_capabilities{.concurrent_submit = true, .by_pointer = true};

/// The state that all ranks share. It lives as long as the fabric or any endpoint, so that they may end in any order.
struct mesh {
  explicit mesh(std::uint32_t ranks) : inboxes(ranks), opened(ranks) {}
  std::vector<inbox> inboxes;
  std::vector<std::atomic<bool>> opened;
};

class inproc_endpoint final : public endpoint {
 public:
  inproc_endpoint(std::shared_ptr<mesh> shared, rank_id rank)
      : mesh_(std::move(shared)), own_inbox_(mesh_->inboxes[rank.value()]), rank_(rank) {}
  inproc_endpoint(const inproc_endpoint&) = delete;
  inproc_endpoint& operator=(const inproc_endpoint&) = delete;
  ~inproc_endpoint() override { own_inbox_.close(); }

  rank_id rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(mesh_->inboxes.size()); }
  const capabilities& declared() const noexcept override { return inproc_capabilities; }

  void submit(rank_id target, message_list& batch) override {
    NACRE_EXPECT(target.value() < mesh_->inboxes.size(), "no such rank");
    mesh_->inboxes[target.value()].push(batch);
  }

  bool poll(message_list& arrived, std::size_t messages_max) override {
    bool moved = false;
    for (; messages_max > 0; --messages_max) {
      message_ptr m = own_inbox_.pop();
      if (m == nullptr) break;
      arrived.push_back(std::move(m));
      moved = true;
    }
    return moved;
  }

  void wait(std::chrono::nanoseconds timeout) override { own_inbox_.wait(timeout); }
  void wake() noexcept override { own_inbox_.wake(); }
  std::optional<failure> failed() override { return std::nullopt; }
  bool unsent() const noexcept override { return false; }
  void close(std::chrono::nanoseconds) override { own_inbox_.close(); }

 private:
  std::shared_ptr<mesh> mesh_;
  inbox& own_inbox_;
  rank_id rank_;
};

class inproc_fabric final : public in_process_fabric {
 public:
  explicit inproc_fabric(std::uint32_t ranks) : in_process_fabric(ranks), mesh_(std::make_shared<mesh>(ranks)) {}

  std::unique_ptr<endpoint> open(rank_id rank) override {
    NACRE_EXPECT(rank.value() < size(), "no such rank");
    NACRE_EXPECT(!mesh_->opened[rank.value()].exchange(true), "a rank is opened once");
    return std::make_unique<inproc_endpoint>(mesh_, rank);
  }

 private:
  std::shared_ptr<mesh> mesh_;
};

std::unique_ptr<fabric> make_local(std::uint32_t ranks, const config&) {
  return std::make_unique<inproc_fabric>(ranks);
}

}  // namespace

backend make_backend() noexcept {
  return {.name = "inproc",
          .help = "ranks are threads of this process; messages are handed over by pointer",
          .options = {},
          .virtual_time = false,
          .make_local = make_local,
          .join_job = nullptr};
}

}  // namespace nacre::transport::inproc
