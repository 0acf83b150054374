// SPDX-License-Identifier: Apache-2.0
// All of Nacre.
#pragma once

#include <nacre/archive.hpp>
#include <nacre/array.hpp>
#include <nacre/balancer.hpp>
#include <nacre/buffer.hpp>
#include <nacre/config.hpp>
#include <nacre/contribute.hpp>
#include <nacre/curve_placement.hpp>
#include <nacre/error.hpp>
#include <nacre/extension.hpp>
#include <nacre/future.hpp>
#include <nacre/group.hpp>
#include <nacre/group_next.hpp>
#include <nacre/group_tree.hpp>
#include <nacre/ids.hpp>
#include <nacre/invoke.hpp>
#include <nacre/keyed_array.hpp>
#include <nacre/keyed_image.hpp>
#include <nacre/keyed_table.hpp>
#include <nacre/location.hpp>
#include <nacre/memory.hpp>
#include <nacre/message.hpp>
#include <nacre/mobile_ptr.hpp>
#include <nacre/next.hpp>
#include <nacre/phase.hpp>
#include <nacre/run.hpp>
#include <nacre/runtime.hpp>
#include <nacre/scheduler.hpp>
#include <nacre/section.hpp>
#include <nacre/submitter.hpp>
#include <nacre/task.hpp>
#include <nacre/tile_placement.hpp>
#include <nacre/token_ring.hpp>
#include <nacre/when_all.hpp>
#include <nacre/when_any.hpp>
