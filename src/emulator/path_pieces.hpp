// SPDX-License-Identifier: Apache-2.0
// A critical path in pieces: where the way back goes on, and the sums of its steps.
#pragma once

#include <cstdint>
#include <vector>

#include <nacre/emulator/critical_path.hpp>
#include "emulator/event.hpp"

namespace nacre::emulator {

/// The end of a block's last handler, and the number of its node in the whole grid.
struct path_end {
  bool known = false;  ///< the block has records, and all of them
  bool any = false;    ///< it has run a handler
  virtual_time time = 0;
  std::uint32_t node = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(known, any, time, node);
  }
};

/// The place at which the path goes on, in some block.
struct path_cursor {
  bool at_end = true;  ///< at the block's last handler; else at the handler on `node` that sent event `number`
  bool ended = false;  ///< nothing stands before the last step
  coordinates node;
  std::uint32_t number = 0;
  bool pending = false;  ///< `after` is a step; its `before` shows once the handler at this place is known
  critical_step after;
  virtual_time arrival = 0;  ///< of the event of `after`
  template <class Archive>
  void serialize(Archive& ar) {
    ar(at_end, ended, node, number, pending, after, arrival);
  }
};

/// The steps of one block, and where they go on.
struct path_piece {
  critical_path part;
  path_cursor next;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(part, next);
  }
};

/// Adds a whole step to a path.
void add_step(critical_path& critical_path, const critical_step& step);
/// Adds the steps of another part.
void add_part(critical_path& target, const critical_path& part);
/// Leaves the longest steps, in the order of time.
void complete(critical_path& path);

}  // namespace nacre::emulator
