// SPDX-License-Identifier: Apache-2.0
// A handler whose parameter has views inside, which would look at the memory of the sender.
//
// error: let the parameter itself be the view
// lines at most: 20
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#ifdef FIXED
using strings = std::vector<std::string>;
#else
using strings = std::vector<std::string_view>;
#endif

void print(strings) {}
void tell(nacre::runtime& rt) { rt.send<print>(nacre::rank_id{1}, strings()); }
