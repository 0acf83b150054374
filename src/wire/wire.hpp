// SPDX-License-Identifier: Apache-2.0
// The front of the layer: archives, the message, and what lets two processes of a job trust each other.
#pragma once

#include <nacre/archive.hpp>
#include <nacre/message.hpp>

#include "wire/auth.hpp"
#include "wire/binary_fingerprint.hpp"
#include "wire/job_secret.hpp"
#include "wire/peer_identity.hpp"
