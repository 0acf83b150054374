// SPDX-License-Identifier: Apache-2.0
// A collective of views.
//
// error: hand over a std::string or std::vector
// lines at most: 20
#include <cstddef>
#include <string>
#include <string_view>

#include <nacre/nacre.hpp>

#ifdef FIXED
using text = std::string;
#else
using text = std::string_view;
#endif

std::size_t ask(nacre::runtime& rt, const std::string& host) { return rt.all_gather(text(host)).size(); }
