// SPDX-License-Identifier: Apache-2.0
// Turns exceptions of a main into one line and an exit code.
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "base/print_error.hpp"
#include "base/standard_streams.hpp"
#include "program_options/program_options.hpp"
#include "program_options/standard_output.hpp"

namespace nacre {

int run_program(std::string_view name, const std::function<int()>& body) {
  occupy_standard_descriptors();
  check_output_at_exit();
  try {
    return body();
  } catch (const setup_error& error) {
    print_error("{}: {}\n", name, error.what());
    return program_options::usage_code;
  } catch (const std::bad_alloc&) {
    print_error(
        "{}: no memory is left (what it computes must fit into memory): choose a smaller problem, or raise the "
        "limit of memory (ulimit -v)\n",
        name);
  } catch (const std::exception& error) {
    print_error("{}: {}\n", name, error.what());
  }
  return EXIT_FAILURE;
}

}  // namespace nacre
