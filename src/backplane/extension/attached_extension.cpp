// SPDX-License-Identifier: Apache-2.0
// Runs the functions of an extension module under its limits, and ends a module that breaks them.
#include "backplane/extension/attached_extension.hpp"

#include <array>
#include <cstdio>
#include <new>
#include <utility>

#include <nacre/error.hpp>

#include "backplane/extension/extension_registry.hpp"
#include "base/exception_text.hpp"

namespace nacre {
namespace {

std::span<const std::byte> bytes_of_text(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Prints one line on standard error: when a module ends, or a key is refused.
void print_line(rank_id rank, const std::string& text) {
  std::fprintf(stderr, "nacre: rank %u: %s\n", rank.value(), text.c_str());
}

std::string milliseconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g ms", seconds * 1e3);
  return text.data();
}

}  // namespace

attached_extension::attached_extension(const extension_site& site, const extension_limits& limits, parts parts)
    : site_(site),
      limits_(limits),
      name_(std::move(parts.name)),
      number_(extension_number(name_)),
      keeps_(std::move(parts.keeps)),
      budget_(limits.call),
      watch_(limits.patience,
             [link = &site.link, name = name_](const char* function, double seconds) {
               std::array<char, 32> shown{};
               std::snprintf(shown.data(), shown.size(), "%g", seconds);
               link->end_job("the extension module " + name + " has not returned from " + function + " for " +
                             shown.data() + " s, and nothing can interrupt it: let it return, and go on from a timer");
             }),
      memory_(limits.memory_bytes),
      code_(std::move(parts.code)) {
  timers_.emplace(&memory_);
  deferred_.emplace(&memory_);
  asked_.emplace(&memory_);
  peers_.emplace(site_.link, number_, &memory_);
}

attached_extension::~attached_extension() {
  if (!ended()) end("it has ended with its rank");
}

/// In a catch clause.
std::string attached_extension::thrown_reason() const {
  if (!memory_.exhausted()) return " threw: " + text_of_thrown();
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return " has exhausted its heap of " + std::to_string(memory_.bytes_max()) + " bytes (--nacre.extension_memory)";
  } catch (...) {
    return " threw: " + text_of_thrown();
  }
}

/// Virtual time counts as declared, real time as taken.
bool attached_extension::end_by_overrun(const char* function) {
  if (limits_.call.count() == 0) return true;
  end_by_fault(std::string(function) + " took more than " + milliseconds_text(budget_.most_seconds()) +
               " (--nacre.extension_time)");
  return false;
}

void attached_extension::end_by_fault(const std::string& fault) {
  std::string reason = "the extension module " + name_ + " is deactivated: " + fault;
  print_line(site_.rank, reason);
  end(std::move(reason));
}

void attached_extension::start() {
  if (std::exchange(started_, true)) return;
  run("init", [&](extension& code) { code.init(*this); });
}

void attached_extension::end(std::string reason) {
  if (ended()) return;
  reason_ = std::move(reason);
  closing_ = true;
  if (started_) {
    watch_.begin("deactivate");
    code_->deactivate(*this);
    watch_.end();
  }
  for (const auto& [number, request] : *deferred_) {
    site_.link.send_answer(request, true, bytes_of_text(reason_));
    site_.link.note_answered();
  }
  for (auto& [number, each] : *timers_) site_.timers.remove(each);
  peers_->tell_all();
  deferred_.reset();
  timers_.reset();
  asked_.reset();
  peers_.reset();
  watch_.begin("its destructor");
  code_.reset();
  watch_.end();
  if (memory_.blocks() != 0) {
    print_line(site_.rank, "the extension module " + name_ + " has left " + std::to_string(memory_.bytes()) +
                               " bytes in its heap, which are released now");
  }
  memory_.release();
  keeps_.reset();
}

void attached_extension::close(std::string reason) {
  if (ended()) return;
  closing_ = true;
  reason_ = std::move(reason);
  close_if_answered();
}

void name_deferred(const attached_extension& extension, report_lines& report) {
  if (!extension.deferred_) return;
  for (const auto& each : *extension.deferred_) {
    const auto& request = each.second;
    report.add(report_lines::urgency::other, 0, [&] {
      return "the extension module " + extension.name_ + " on rank " + std::to_string(extension.site_.rank.value()) +
             " has deferred command " + std::to_string(request.command) + " of " +
             (request.asker != 0 ? "a module on " : "") + "rank " + std::to_string(request.source.value()) +
             " and not answered it";
    });
  }
}

void attached_extension::command(const extension_request& request, std::uint32_t number,
                                 std::span<const std::byte> bytes) {
  if (ended() || closing_) return site_.link.send_answer(request, true, bytes_of_text(reason_));
  current_ = &request;
  const bool well = run("on_command", [&](extension& code) { code.on_command(*this, request.source, number, bytes); });
  const bool open = std::exchange(current_, nullptr) != nullptr;
  if (open) site_.link.send_answer(request, !well, well ? std::span<const std::byte>() : bytes_of_text(reason_));
}

void attached_extension::take_answer(std::uint64_t request, bool failed, std::span<const std::byte> bytes) {
  if (ended() || asked_->erase(request) == 0) return;
  run("on_answer", [&](extension& code) { code.on_answer(*this, request, {failed, bytes}); });
}

double attached_extension::now() const {
  return std::chrono::duration<double>(site_.time.now() - site_.started).count();
}

void attached_extension::check_current(const char* name) const {
  if (current_ != nullptr) return;
  throw usage_error(std::string(name) + " where no command waits for it: answer once, in on_command; to answer later " +
                    "keep the number that defer() returns, and write reply(number, bytes)");
}

void attached_extension::reply(std::span<const std::byte> bytes) {
  check_current("reply");
  site_.link.send_answer(*std::exchange(current_, nullptr), false, bytes);
}

void attached_extension::fail(std::string_view reason) {
  check_current("fail");
  site_.link.send_answer(*std::exchange(current_, nullptr), true, bytes_of_text(reason));
}

std::uint64_t attached_extension::defer() {
  check_current("defer");
  deferred_->emplace(last_ + 1, *current_);
  current_ = nullptr;
  site_.link.note_deferred();
  return ++last_;
}

void attached_extension::answer(std::uint64_t deferred, bool failed, std::span<const std::byte> bytes) {
  const auto position = deferred_ ? deferred_->find(deferred) : decltype(deferred_->end()){};
  if (!deferred_ || position == deferred_->end()) {
    throw usage_error("an answer to a command that is not deferred (any more): answer once, with defer()'s number");
  }
  site_.link.send_answer(position->second, failed, bytes);
  site_.link.note_answered();
  deferred_->erase(position);
}

void attached_extension::reply(std::uint64_t deferred, std::span<const std::byte> bytes) {
  answer(deferred, false, bytes);
}

void attached_extension::fail(std::uint64_t deferred, std::string_view reason) {
  answer(deferred, true, bytes_of_text(reason));
}

void attached_extension::log(std::string_view text) {
  constexpr std::uint32_t lines_max = 100;
  constexpr std::chrono::seconds interval{10};
  const auto present = site_.time.now();
  if (log_lines_ == 0 || present - log_since_ > interval) {
    if (log_lines_ > lines_max) print_line(site_.rank, "extension " + name_ + ": some lines have been left out");
    log_since_ = present;
    log_lines_ = 0;
  }
  if (++log_lines_ > lines_max) return;
  std::string line = "extension " + name_ + ": " + std::string(text);
  for (char& c : line) c = c == '\n' || c == '\r' ? ' ' : c;
  print_line(site_.rank, line);
}

std::uint64_t attached_extension::command(rank_id target, std::string_view name, const extension_key& key,
                                          std::uint32_t number, std::span<const std::byte> bytes) {
  check_target(target);
  if (asked_) asked_->emplace(last_ + 1, true);  // else its destructor calls, and will get no answer
  ++last_;
  site_.link.send_command(target, {extension_number(name), key, number_, last_, number}, bytes);
  return last_;
}

}  // namespace nacre
