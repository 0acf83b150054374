// SPDX-License-Identifier: Apache-2.0
// The result for people and for programs.
#pragma once

#include <string>

#include "options.hpp"
#include "parallel/mesher.hpp"

namespace mesh3d {

/// `balancer` and `transport` are names of the runtime's options.
std::string result_text(const result& done);
std::string result_json(const options& asked, const result& done, const std::string& balancer,
                        const std::string& transport);

}  // namespace mesh3d
