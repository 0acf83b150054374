// SPDX-License-Identifier: Apache-2.0
// Needs a function that exists nowhere.
#include <nacre/extension.hpp>

#include "proof_of_code.hpp"

int nowhere_to_be_found();

class lacks_symbol final : public nacre::extension {
  void init(nacre::extension_host& host) override { host.log(nowhere_to_be_found() == 0 ? "zero" : "one"); }
};

NACRE_EXTENSION(lacks_symbol)
