// SPDX-License-Identifier: Apache-2.0
// A mobile object that packs an address.
//
// error: a pointer, reference or iterator means nothing on another rank
// error: or a nacre::mobile_ptr
// error: node::serialize
#include <nacre/nacre.hpp>

struct node {
#ifdef FIXED
  nacre::mobile_ptr<node> next;
#else
  node* next = nullptr;
#endif
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next);
  }
};

void make(nacre::runtime& rt) { rt.create<node>(); }
