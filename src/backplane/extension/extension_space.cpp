// SPDX-License-Identifier: Apache-2.0
// Attaching and detaching extension modules, and dispatching their messages.
#include "backplane/extension/extension_space.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include <nacre/error.hpp>

#include "backplane/extension/extension_registry.hpp"

namespace nacre {

extension_space::extension_space(extension_link& link, clock& time, const settings& settings)
    : link_(link),
      time_(time),
      settings_(settings),
      site_{link, time, time.now(), settings.rank, settings.size, timers_},
      keys_(settings.make_key) {}

extension_space::~extension_space() = default;

attached_extension* extension_space::look_up(std::uint64_t module) {
  const auto position = all_.find(module);
  if (position == all_.end()) return nullptr;
  last_number_ = module;
  return last_found_ = position->second.get();
}

std::string extension_space::problem_with(std::string_view name) {
  const attached_extension* const known = find(extension_number(name));
  if (known == nullptr || (known->ended() && known->name() == name)) return {};
  if (known->name() != name) {
    return "the extension module " + std::string(name) + " cannot be told from " + known->name() +
           " by its number: give one of them another name";
  }
  return "an extension module " + std::string(name) +
         " is attached here already: unload it first, or give the other one another name";
}

void extension_space::insert(attached_extension::parts parts, extension_access access) {
  const std::string name = parts.name;
  auto result = std::make_unique<attached_extension>(site_, settings_.limits, std::move(parts));
  keys_.add(name, access);
  new_.push_back(result.get());
  last_found_ = nullptr;
  all_.insert_or_assign(extension_number(name), std::move(result));
}

void extension_space::add(attached_extension::parts parts, extension_access access) {
  if (std::string problem = problem_with(parts.name); !problem.empty()) throw setup_error(problem);
  insert(std::move(parts), access);
}

std::string extension_space::attach(attached_extension::parts parts, extension_access access) {
  std::string problem = problem_with(parts.name);
  if (!problem.empty()) return problem;
  const std::uint64_t number = extension_number(parts.name);
  const std::shared_ptr<void> keeps = parts.keeps;  // until its code is gone, also where no module comes to be
  try {
    insert(std::move(parts), access);
  } catch (const std::exception& problem_here) {  // no memory, or no thread that watches it
    return "an extension module cannot be attached to rank " + std::to_string(settings_.rank.value()) + ": " +
           problem_here.what();
  }
  start_all();
  if (const auto kept = early_.extract(number)) {
    for (const early_message& each : kept.mapped().all) find(number)->take_control(each.source, each.bytes);
  }
  const attached_extension& extension = *find(number);
  return extension.ended() ? extension.reason() : std::string();
}

bool extension_space::detach(std::string_view name, std::function<void()> done) {
  start_all();
  attached_extension* const extension = find(extension_number(name));
  if (extension == nullptr || extension->name() != name || (extension->ended() && !detaching_.contains(extension)))
    return false;
  keys_.remove(name);
  detaching_[extension].push_back(std::move(done));
  extension->close("the extension module " + std::string(name) + " has been unloaded from rank " +
                   std::to_string(settings_.rank.value()));
  finish_detached(*extension);
  return true;
}

void extension_space::finish_detached(const attached_extension& extension) {
  if (!extension.ended() || detaching_.empty()) return;
  const auto position = detaching_.find(&extension);
  if (position == detaching_.end()) return;
  const std::vector<std::function<void()>> waiting = std::move(position->second);
  detaching_.erase(position);
  for (const auto& each : waiting) each();
}

void extension_space::name_deferred(report_lines& report) const {
  for (const auto& each : all_) nacre::name_deferred(*each.second, report);
}

void extension_space::end_all() {
  for (const auto& each : all_) {
    each.second->end("the extension module " + each.second->name() + " has ended with its rank");
    finish_detached(*each.second);
  }
  early_.clear();
}

/// A module that is attached before the first poll cannot send yet; it starts here.
void extension_space::start_new() {
  while (!new_.empty()) {
    attached_extension* const first = new_.front();
    new_.erase(new_.begin());
    first->start();
  }
}

void extension_space::on_command(rank_id source, const extension_command& command, std::span<const std::byte> bytes) {
  start_all();
  const extension_request request{
      .source = source, .asker = command.asker, .number = command.request, .command = command.number};
  const auto refuse = [&](std::string_view reason) {
    link_.send_answer(request, true, std::as_bytes(std::span(reason.data(), reason.size())));
  };
  attached_extension* const extension = find(command.module);
  if (extension == nullptr) {
    return refuse("rank " + std::to_string(settings_.rank.value()) +
                  " has no extension module of that name: register it before nacre::run, or load it there, too");
  }
  if (!extension->closing() && !keys_.opens(command.key, extension->name())) {
    extension->log("refused command " + std::to_string(command.number) + " of rank " + std::to_string(source.value()) +
                   ", whose key opens nothing here");
    return refuse("the key does not open the extension module " + extension->name() + " of rank " +
                  std::to_string(settings_.rank.value()) + ": ask its owner for the key, by key_of_extension there");
  }
  extension->command(request, command.number, bytes);
  finish_detached(*extension);
}

void extension_space::on_control(rank_id source, std::uint64_t module, std::span<const std::byte> bytes) {
  start_all();
  if (attached_extension* const extension = find(module)) {
    extension->take_control(source, bytes);
    if (extension->closing()) extension->close_if_answered();
    return finish_detached(*extension);
  }
  keep_early(source, module, bytes);
}

/// Acknowledges none: what does not fit into its window waits at the sender.
void extension_space::keep_early(rank_id source, std::uint64_t module, std::span<const std::byte> bytes) {
  early_messages& kept = early_[module];
  std::uint32_t& count = kept.counts[source.value()];
  if (count > early_max) return;
  if (++count > early_max) {
    return link_.end_job("rank " + std::to_string(source.value()) + " has sent more than " + std::to_string(early_max) +
                         " control messages to an extension module that rank " +
                         std::to_string(settings_.rank.value()) + " has not loaded");
  }
  kept.all.push_back({source, {bytes.begin(), bytes.end()}});
}

void extension_space::on_datagram(rank_id source, std::uint64_t module, datagram_way way,
                                  std::span<const std::byte> bytes) {
  start_all();
  attached_extension* const extension = find(module);
  if (extension == nullptr) {
    if (way == datagram_way::message) link_.send_handled(source, module, 0, 1);
    return;
  }
  extension->take_datagram(source, way, bytes);
  if (extension->closing()) extension->close_if_answered();
  finish_detached(*extension);
}

void extension_space::on_answer(std::uint64_t asker, std::uint64_t request, bool failed,
                                std::span<const std::byte> bytes) {
  attached_extension* const extension = find(asker);
  if (extension == nullptr) return;  // its rank sent the command; a peer that lies changes nothing
  extension->take_answer(request, failed, bytes);
  if (extension->closing()) extension->close_if_answered();
  finish_detached(*extension);
}

void extension_space::on_handled(rank_id source, std::uint64_t module, std::uint32_t controls,
                                 std::uint32_t datagrams) {
  if (attached_extension* const extension = find(module)) extension->take_handled(source, controls, datagrams);
}

std::chrono::nanoseconds extension_space::poll(thread_context& thread) {
  start_all();
  if (timers_.empty()) return std::chrono::nanoseconds::max();
  const auto present = time_.now();
  for (int fired = 0; fired < 64; ++fired) {
    timer* const due = timers_.take_due(present);
    if (due == nullptr) break;
    due->fire(thread);
  }
  if (!detaching_.empty()) {
    for (const auto& each : all_) {
      if (each.second->closing()) each.second->close_if_answered();
      finish_detached(*each.second);
    }
  }
  return timers_.due();
}

}  // namespace nacre
