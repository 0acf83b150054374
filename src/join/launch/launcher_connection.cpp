// SPDX-License-Identifier: Apache-2.0
// A rank's connection to its launcher, for the addresses of its peers and for reports of failures both ways.
#include "join/launch/launcher_connection.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "join/launch/failure.hpp"
#include "join/launch/image_wish.hpp"
#include "join/net/call.hpp"
#include "join/net/call_pauses.hpp"
#include "join/net/wait.hpp"

namespace nacre::launch {
namespace {

[[noreturn]] void give_up(const std::string& problem) {
  throw setup_error({.problem = problem,
                     .why = "the launcher tells each rank where its peers are",
                     .remedy = "look whether nacre run still lives, and for lines that it has printed"});
}

/// Calls again when the launcher hangs up: it may give up the oldest of too many calls.
net::peer_candidate call_launcher(const job_credentials& credentials, net::time_point deadline) {
  net::call_pauses pauses(std::chrono::milliseconds(50), credentials.rank.value());
  const peer_identity local = control_identity(credentials.rank.value(), credentials.size);
  for (;;) {
    auto launcher =
        net::call(*net::address::parse(credentials.control_address),
                  {.secret = credentials.secret, .local = local, .expected = rank_id(credentials.size)}, deadline);
    if (launcher) return std::move(*launcher);
    const auto again = std::chrono::steady_clock::now() + pauses.next();
    if (launcher.error().reason != refusal_reason::closed || again >= deadline)
      give_up("cannot reach the launcher: " + launcher.error().log_line(credentials.control_address));
    std::this_thread::sleep_until(again);
  }
}

}  // namespace

peer_identity control_identity(std::uint32_t rank_or_size, std::uint32_t size) {
  peer_identity identity;
  identity.rank = rank_id(rank_or_size);
  identity.size = size + 1;
  return identity;
}

std::string aborted_text(const aborted& abort_report) {
  const auto peer = abort_report.peer ? std::optional<rank_id>(*abort_report.peer) : std::nullopt;
  return "the launcher has ended the job: " +
         describe(failure{.peer = peer, .reason = abort_report.reason, .announced = true});
}

void give_up_start(launcher_connection* launcher, const start_trouble& trouble) {
  if (launcher == nullptr || !launcher->open()) throw trouble.message;
  launcher->report_lost(trouble.peer, trouble.reason);
  throw job_aborted("the start was given up: " + describe(failure{.peer = trouble.peer, .reason = trouble.reason}));
}

launcher_connection::launcher_connection(const job_credentials& credentials, net::time_point deadline)
    : rank_(credentials.rank) {
  net::peer_candidate launcher = call_launcher(credentials, deadline);
  socket_ = std::move(launcher.socket);
  stream_.received(launcher.leftover);
}

std::vector<std::string> launcher_connection::exchange_addresses(std::string own_name, net::time_point deadline,
                                                                 std::string_view time_option) {
  push(joined{.address = std::move(own_name)});
  for (;;) {
    receive();
    while (auto m = next()) {
      if (const auto* remove_reference = std::get_if<aborted>(&*m)) throw job_aborted(aborted_text(*remove_reference));
      if (auto* all = std::get_if<roster>(&*m)) return std::move(all->addresses);
      if (const auto* wish = std::get_if<image_wanted>(&*m)) wish_last_image(wish->signal);
    }
    if (!open()) give_up("the launcher has closed its connection to this rank");
    if (std::chrono::steady_clock::now() >= deadline) {
      // Only the launcher knows the missing ranks, so a rank without the roster names itself; control_server corrects
      // it.
      give_up_start(this, {.peer = rank_,
                           .reason = fmt::format("has not joined the job in time: look for an error of it, or give it "
                                                 "more time with --nacre.{}",
                                                 time_option),
                           .message = setup_error("not all ranks have joined the job in time")});
    }
    send();
    net::wait_until(socket_.get(), !stream_.outgoing().empty(), deadline);
  }
}

std::optional<aborted> launcher_connection::poll() {
  if (!open()) return std::nullopt;
  send();
  receive();
  while (auto m = next()) {
    if (auto* remove_reference = std::get_if<aborted>(&*m)) return std::move(*remove_reference);
    if (const auto* wish = std::get_if<image_wanted>(&*m)) wish_last_image(wish->signal);
  }
  if (!open()) return aborted{.peer = std::nullopt, .reason = "the launcher has ended"};
  return std::nullopt;
}

void launcher_connection::report_lost(rank_id peer, std::string_view reason) {
  push(lost{.peer = peer.value(), .reason = std::string(reason)});
}

void launcher_connection::report_left() { push(left{}); }

std::optional<control_message> launcher_connection::next() {
  auto m = stream_.pop();
  if (!m) {
    socket_.reset();
    return std::nullopt;
  }
  return std::move(*m);
}

void launcher_connection::push(const control_message& m) {
  if (!open()) return;
  stream_.push(m);
  send();
}

void launcher_connection::send() noexcept {
  while (open() && !stream_.outgoing().empty()) {
    const auto bytes = stream_.outgoing();
    const std::ptrdiff_t sent = net::send_some(socket_.get(), bytes.data(), bytes.size());
    if (sent <= 0) return;  // after an error, too: the launcher's last messages are still to be read
    stream_.sent(static_cast<std::size_t>(sent));
  }
}

void launcher_connection::receive() {
  std::array<std::byte, 4096> buffer;
  while (open()) {
    const std::ptrdiff_t received = net::receive_some(socket_.get(), buffer.data(), buffer.size());
    if (received == 0) return;
    if (received < 0) return socket_.reset();
    stream_.received(std::span(buffer.data(), static_cast<std::size_t>(received)));
  }
}

}  // namespace nacre::launch
