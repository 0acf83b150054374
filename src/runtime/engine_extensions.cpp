// SPDX-License-Identifier: Apache-2.0
// Makes the extension modules of a rank, and ends them.
#include "runtime/engine_extensions.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "backplane/extension/extension_file.hpp"
#include "backplane/extension/extension_registry.hpp"
#include "base/exception_text.hpp"
#include "base/privilege.hpp"
#include "runtime/engine.hpp"

namespace nacre {
namespace {

/// The code of a module, from its factory.
std::unique_ptr<extension> make_code(const std::string& name, const extension_factory& make,
                                     const config& configuration) {
  const auto named = [&] { return "making the extension module " + name; };
  auto code = call_named(named, [&] { return make(configuration); });
  if (code == nullptr) throw setup_error(named() + ": its factory returned nothing: let it return a module");
  return code;
}

/// The files of --nacre.extension. A program with more rights than its caller must not let it choose code.
std::vector<std::string> files_of_option(const config& configuration) {
  std::vector<std::string> files;
  if (!configuration.was_set("extension")) return files;
  const bool of_caller = configuration.source_of("extension") != setting_source::code &&
                         configuration.source_of("extension") != setting_source::program;
  if (of_caller && has_more_rights_than_its_caller()) {
    throw setup_error({.problem = "--nacre.extension is refused",
                       .why = "this program has more rights than its caller, who may not choose what code it loads",
                       .remedy = "leave the option out"});
  }
  std::istringstream words(configuration.get_string("extension"));
  for (std::string each; std::getline(words, each, ',');) {
    if (!each.empty()) files.push_back(each);
  }
  return files;
}

}  // namespace

extension_limits extension_limits_of(const config& configuration, bool simulated) {
  return {.memory_bytes = static_cast<std::size_t>(configuration.get_int("extension_memory")),
          .call = configuration.get_duration("extension_time"),
          .patience = configuration.get_duration("extension_patience"),
          .simulated = simulated};
}

void attach_extensions(extension_module& extension_module) {
  for (const registered_extension& each : registered_extensions()) {
    extension_module.add({.name = each.name, .code = make_code(each.name, each.make, extension_module.configuration())},
                         each.access);
  }
  for (const std::string& file : files_of_option(extension_module.configuration())) {
    extension_file loaded = load_extension_file(file);
    auto code = make_code(loaded.name, loaded.make, extension_module.configuration());
    extension_module.add({.name = loaded.name, .keeps = std::move(loaded.keeps), .code = std::move(code)},
                         extension_access::program);
  }
}

void end_extensions(engine& core, thread_context& thread) {
  if (!core.extensions().used()) return;  // only main attaches modules, and waits until it is done
  core.wait_as_application(thread, quiescence::main_wait::end_of_job, [&](std::function<void(thread_context&)> end) {
    core.extensions().run_inside(thread, [end](extension_space& space, thread_context& caller) {
      space.end_all();
      end(caller);
    });
  });
}

}  // namespace nacre
