// SPDX-License-Identifier: Apache-2.0
// A container that would keep views.
//
// error: instead of a view
// lines at most: 30
#include <string>
#include <string_view>

#include <nacre/containers/counting_set.hpp>
#include <nacre/nacre.hpp>

#ifdef FIXED
using word = std::string;
#else
using word = std::string_view;
#endif

void count(nacre::runtime& rt) { nacre::counting_set<word> words(rt); }
