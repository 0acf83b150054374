// SPDX-License-Identifier: Apache-2.0
// A size field by an expression in x and y, which muParser reads.
#pragma once

#include <memory>
#include <string>

#include "size/size_field.hpp"

namespace mesh2d {

/// Throws nacre::setup_error, with the position, for a text that has no meaning, and for any text where the program was
/// built without muParser.
std::unique_ptr<const size_field> make_expression_field(const std::string& text);

[[nodiscard]] bool has_expressions() noexcept;

}  // namespace mesh2d
