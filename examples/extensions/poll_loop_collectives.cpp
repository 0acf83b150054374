// SPDX-License-Identifier: Apache-2.0
// Collectives as an extension module: they run in the poll loops of the ranks, and no worker wakes for them.
// run: --nacre.ranks=5
// run: --nacre.transport=sim --nacre.ranks=16
// nacre run -n 3 --transport shm: --nacre.workers=1
// nacre run -n 3 --transport tcp: --nacre.workers=1
// prints: every rank has the sum, and the word of rank 1
#include <nacre/nacre.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Each rank is a node of a binary tree. What comes up from below is combined, and the result goes down again.
class collectives final : public nacre::extension {
 public:
  enum command : std::uint32_t { barrier, broadcast, sum };
  static constexpr std::size_t value_bytes_max = 64;

  void init(nacre::extension_host& host) override { open_ = std::make_unique<table>(host.memory()); }

  void on_command(nacre::extension_host& host, nacre::rank_id, std::uint32_t value,
                  std::span<const std::byte> bytes) override {
    if (value > sum || bytes.size() > value_bytes_max || (value == sum && bytes.size() != sizeof(std::int64_t))) {
      return host.fail("no such collective, or a value of another size");
    }
    const std::uint64_t number = next_++;
    step& open_step = (*open_)[number];
    open_step.caller = host.defer();
    add(open_step, value, bytes);
    go_on(host, number, open_step);
  }

  void on_control(nacre::extension_host& host, nacre::rank_id source, std::span<const std::byte> bytes) override {
    packet got;
    if (bytes.size() < head_bytes || bytes.size() > sizeof got) return;  // of a peer: not to be trusted
    std::memcpy(&got, bytes.data(), bytes.size());
    const std::span<const std::byte> value(got.value, std::min<std::size_t>(got.bytes, bytes.size() - head_bytes));
    if (source == parent(host)) return finish(host, got.number, value);
    step& open_step = (*open_)[got.number];
    add(open_step, got.operation, value);
    go_on(host, got.number, open_step);
  }

  void deactivate(nacre::extension_host&) noexcept override { open_.reset(); }  // before its heap goes

 private:
  struct packet {
    std::uint64_t number = 0;
    std::uint32_t operation = 0;
    std::uint32_t bytes = 0;
    std::byte value[value_bytes_max];
  };
  static constexpr std::size_t head_bytes = 16;

  struct step {
    std::uint64_t caller = 0;
    std::uint32_t arrived = 0;
    std::uint32_t operation = barrier;
    std::uint32_t bytes = 0;
    std::byte value[value_bytes_max] = {};
  };
  using table = std::pmr::map<std::uint64_t, step>;

  static nacre::rank_id parent(nacre::extension_host& host) {
    const std::uint32_t me = host.rank().value();
    return nacre::rank_id(me == 0 ? host.size() : (me - 1) / 2);  // the root has none
  }
  static std::uint32_t children(nacre::extension_host& host) {
    const std::uint32_t first = 2 * host.rank().value() + 1;
    return first >= host.size() ? 0 : first + 1 >= host.size() ? 1 : 2;
  }

  /// In a broadcast only the root gives bytes; in a barrier nobody does.
  static void add(step& open_step, std::uint32_t number, std::span<const std::byte> value) {
    ++open_step.arrived;
    open_step.operation = number;
    if (value.empty()) return;
    if (number == sum && open_step.bytes == sizeof(std::int64_t) && value.size() == sizeof(std::int64_t)) {
      std::int64_t mine = 0, other = 0;
      std::memcpy(&mine, open_step.value, sizeof mine);
      std::memcpy(&other, value.data(), sizeof other);
      mine += other;
      std::memcpy(open_step.value, &mine, sizeof mine);
      return;
    }
    open_step.bytes = static_cast<std::uint32_t>(value.size());
    std::memcpy(open_step.value, value.data(), value.size());
  }

  void go_on(nacre::extension_host& host, std::uint64_t number, step& open_step) {
    if (open_step.arrived != children(host) + 1) return;
    const std::span<const std::byte> value(open_step.value, open_step.bytes);
    if (host.rank().value() == 0) return finish(host, number, std::vector<std::byte>(value.begin(), value.end()));
    send(host, parent(host), number, open_step.operation, value);
  }

  void finish(nacre::extension_host& host, std::uint64_t number, std::span<const std::byte> value) {
    const auto position = open_->find(number);
    if (position == open_->end()) return;
    for (std::uint32_t child = 1; child <= children(host); ++child) {
      send(host, nacre::rank_id(2 * host.rank().value() + child), number, position->second.operation, value);
    }
    host.reply(position->second.caller, value);
    open_->erase(position);
  }

  static void send(nacre::extension_host& host, nacre::rank_id target, std::uint64_t number, std::uint32_t kind,
                   std::span<const std::byte> value) {
    packet sent{.number = number, .operation = kind, .bytes = static_cast<std::uint32_t>(value.size()), .value = {}};
    if (!value.empty()) std::memcpy(sent.value, value.data(), value.size());
    host.control(target, std::as_bytes(std::span(&sent, 1)).first(head_bytes + value.size()));
  }

  std::uint64_t next_ = 0;
  std::unique_ptr<table> open_;
};

int main(int argc, char** argv) {
  nacre::register_extension("collectives", [](const nacre::config&) { return std::make_unique<collectives>(); });
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::extension_ref extension = rt.extension("collectives");
    bool right = true;
    for (std::int64_t round = 0; round < 100; ++round) {
      extension.command(rt.rank(), collectives::barrier).get();
      const std::int64_t mine = rt.rank().value() + round;
      const auto bytes = extension.command(rt.rank(), collectives::sum, std::as_bytes(std::span(&mine, 1))).get();
      std::int64_t all = 0;
      if (bytes.size() == sizeof all) std::memcpy(&all, bytes.data(), sizeof all);
      right &= all == rt.size() * round + rt.size() * (rt.size() - std::int64_t{1}) / 2;
    }
    const std::string word = rt.rank().value() == 1 ? "pearl" : "";
    const auto said = extension.command(rt.rank(), collectives::broadcast, std::as_bytes(std::span(word))).get();
    right &= std::string(reinterpret_cast<const char*>(said.data()), said.size()) == "pearl";
    if (rt.all_reduce(right, std::logical_and<>{}) && rt.rank().value() == 0) {
      std::printf("every rank has the sum, and the word of rank 1\n");
    }
  });
}
