// SPDX-License-Identifier: Apache-2.0
// Umbrella header of the layer: archives, the message, and the authentication of a job's processes.
#pragma once

#include <nacre/archive.hpp>
#include <nacre/message.hpp>

#include "wire/auth.hpp"
#include "wire/binary_fingerprint.hpp"
#include "wire/job_secret.hpp"
#include "wire/peer_identity.hpp"
