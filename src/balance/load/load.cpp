// SPDX-License-Identifier: Apache-2.0
// The built-in load models.
#include "balance/load/load.hpp"

#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "balance/policy_table.hpp"

namespace nacre {
namespace {

struct measured_load final : load_model {
  [[nodiscard]] double load(const load_facts& load_facts) const override {
    return load_facts.message_seconds * load_facts.messages;
  }
};

struct declared_load final : load_model {
  [[nodiscard]] double load(const load_facts& load_facts) const override {
    return load_facts.declared > 0 ? load_facts.declared : load_facts.message_seconds * load_facts.messages;
  }
};

struct message_load final : load_model {
  [[nodiscard]] double load(const load_facts& load_facts) const override { return load_facts.messages; }
};

using load_model_table = balance::policy_table<load_model>;

template <class Model>
std::unique_ptr<load_model> make(const config&) {
  return std::make_unique<Model>();
}

constexpr load_model_table::built_in built_in_models[] = {
    {"declared", &make<declared_load>}, {"measured", &make<measured_load>}, {"messages", &make<message_load>}};

load_model_table& all_load_models() {
  static load_model_table known("balance.load", built_in_models);
  return known;
}

}  // namespace

void register_load_model(std::string_view name, load_model_factory make) {
  all_load_models().add(name, std::move(make));
}

std::unique_ptr<load_model> balance::make_load_model(std::string_view name, const config& configuration) {
  std::unique_ptr<load_model> model = all_load_models().make(name, configuration);
  if (model == nullptr) {
    throw setup_error({.problem = "the load model '" + std::string(name) + "' is null",
                       .why = "a balancer goes by it",
                       .remedy = "let the function given to register_load_model return one"});
  }
  return model;
}

double balance::usual_message_seconds(std::span<const load_facts> known) noexcept {
  double seconds = 0, messages = 0;
  for (const load_facts& each : known) {
    if (!(each.message_seconds > 0)) continue;
    seconds += each.message_seconds * each.messages;
    messages += each.messages;
  }
  return messages > 0 ? seconds / messages : 0;
}

}  // namespace nacre
