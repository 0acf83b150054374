// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind the public interface of extension modules.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/extension.hpp>

#include "backplane/extension/extension_file.hpp"
#include "backplane/extension/extension_registry.hpp"
#include "runtime/engine.hpp"

namespace nacre::detail {
namespace {

[[noreturn]] void throw_unknown(const engine& core, std::string_view text, std::string_view name) {
  throw usage_error(std::string(text) + " of an extension module " + std::string(name) + ", which rank " +
                    std::to_string(core.rank().value()) + " does not have: register it before nacre::run, or load it");
}

}  // namespace

std::uint64_t number_of_extension(std::string_view name) noexcept { return extension_number(name); }

future<std::vector<std::byte>> command_extension(engine& core, thread_context& thread, rank_id target,
                                                 const extension_target& extension_target,
                                                 std::span<const std::byte> bytes) {
  core.expect_own_thread();
  if (target.value() >= core.size()) {
    throw usage_error("a command to rank " + std::to_string(target.value()) + " of a job with " +
                      std::to_string(core.size()) + " ranks");
  }
  core.throttle(thread);
  auto* const state = new future_value<std::vector<std::byte>>;
  future<std::vector<std::byte>> answer(core, thread, state);
  core.extensions().command(thread, target, extension_target, bytes, *state);
  return answer;
}

extension_key key_of_extension(engine& core, std::string_view name) {
  const auto key = core.extensions().keys().find(name);
  if (!key) throw_unknown(core, "the key", name);
  return *key;
}

extension_key withdraw_extension_key(engine& core, std::string_view name) {
  if (!core.extensions().keys().withdraw(name)) throw_unknown(core, "withdrawal of the key", name);
  return key_of_extension(core, name);
}

std::string load_extension(engine& core, thread_context& thread, const std::string& file, extension_access access) {
  core.expect_own_thread();
  extension_file loaded = load_extension_file(file);
  const std::string name = loaded.name;
  auto code = loaded.make(core.extensions().configuration());
  // Shared with the action, since std::function must be copyable.
  auto parts = std::make_shared<attached_extension::parts>(
      attached_extension::parts{.name = name, .keeps = std::move(loaded.keeps), .code = std::move(code)});
  std::string problem;
  core.wait_as_application(thread, quiescence::main_wait::result, [&](std::function<void(thread_context&)> end) {
    core.extensions().run_inside(thread,
                                 [&problem, access, parts, end](extension_space& space, thread_context& caller) {
                                   problem = space.attach(std::move(*parts), access);
                                   end(caller);
                                 });
  });
  if (!problem.empty()) throw usage_error(problem);
  return name;
}

void unload_extension(engine& core, thread_context& thread, std::string_view name) {
  core.expect_own_thread();
  bool known = true;
  core.wait_as_application(thread, quiescence::main_wait::result, [&](std::function<void(thread_context&)> end) {
    core.extensions().run_inside(thread, [&core, &known, &name, end](extension_space& space, thread_context& caller) {
      known = space.detach(name, [&core, end] { end(core.extensions().running()); });
      if (!known) end(caller);
    });
  });
  if (!known) throw_unknown(core, "unloading", name);
}

}  // namespace nacre::detail
