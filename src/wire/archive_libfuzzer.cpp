// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are read as any of the test types. The first byte chooses the type, the rest is the
// payload.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "wire/archive_cases_detail.hpp"

namespace {

using namespace nacre;
using namespace nacre::test;

using views = std::tuple<std::string_view, std::span<const double>, std::vector<std::span<const bool>>,
                         std::variant<std::u16string_view, std::span<const particle>>>;

[[noreturn]] void complain(std::string_view problem, const type_case& type) {
  std::fprintf(stderr, "archive_libfuzzer: %.*s (%.*s)\n", static_cast<int>(problem.size()), problem.data(),
               static_cast<int>(type.name.size()), type.name.data());
  std::abort();
}

void try_case(const type_case& type, std::span<const std::byte> payload) {
  const reading first = type.read(payload);
  if (first.error != wire_error::none) return;
  if (!type.keyed && first.again.size() != payload.size()) complain("a value packs to another size", type);
  const reading second = type.read(first.again);
  if (second.error != wire_error::none) complain("what was packed cannot be read", type);
  if (second.again.size() != first.again.size()) complain("the second packing differs", type);
}

/// Reads every byte that the views cover, so that the address sanitizer reports one outside of the payload.
void try_views(std::span<const std::byte> payload) {
  const auto value = unpack<views>(payload);
  if (!value) return;
  double sum = 0;
  for (const char c : std::get<0>(*value)) sum += c;
  for (const double d : std::get<1>(*value)) sum += d;
  for (const auto& bools : std::get<2>(*value)) {
    for (const bool b : bools) sum += b ? 1 : 0;
  }
  std::visit([&sum](const auto& view) { sum += view.empty() ? 0 : static_cast<double>(sizeof(view.back())); },
             std::get<3>(*value));
  [[maybe_unused]] volatile double used = sum;
}

/// With NACRE_SEED_CORPUS=FOLDER, writes some packed values of each type there and exits.
void write_seeds(std::span<const type_case> cases) {
  const char* folder = std::getenv("NACRE_SEED_CORPUS");
  if (folder == nullptr) return;
  rng numbers(7);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bytes payload = cases[i].pack_random(numbers.fork(i));
    std::ofstream file(std::filesystem::path(folder) / ("type_" + std::to_string(i)), std::ios::binary);
    file.put(static_cast<char>(i));
    file.write(reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
  }
  std::exit(0);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  write_seeds(cases_of(rich_types{}));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto cases = cases_of(rich_types{});
  // The copy has memory of its own, so that reads past it are detected, and it has the alignment of payloads.
  const bytes payload(reinterpret_cast<const std::byte*>(data) + 1, reinterpret_cast<const std::byte*>(data) + size);
  if (data[0] < cases.size()) {
    try_case(cases[data[0]], payload);
  } else {
    try_views(payload);
  }
  return 0;
}
