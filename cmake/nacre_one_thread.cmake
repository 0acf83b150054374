# SPDX-License-Identifier: Apache-2.0
# Tests that start no thread, of programs that have others, as <program>:<gtest pattern>: the thread sanitizer would see
# nothing, so it leaves them out. The target nightly_one_thread runs them where no thread can be started.
set(NACRE_ONE_THREAD_TESTS
    am_tests:bundle.* am_tests:collective_engine.* am_tests:memory_transfers.*
    balance_tests:diffusion_balancer.* balance_tests:*every_balancer.*
    balance_tests:*every_scheduler.gives_each_item_once_and_* balance_tests:*every_scheduler.shows_a_few*
    balance_tests:gossip_balancer.* balance_tests:greedy_refine_balancer.* balance_tests:lifeline_balancer.*
    balance_tests:load_trace.* balance_tests:priority_scheduler.* balance_tests:refine.*
    balance_tests:steal_balancer.* balance_tests:steal_scheduler.*
    emulator_tests:moves_of_blocks.* emulator_tests:window_protocol.*
    mesh2d_tests:Mesher.every_seed_of_a_simulation_* mesh2d_tests:Plan.*
    mobile_tests:backlog_schedules.* mobile_tests:coordinator.* mobile_tests:streams.*
    transport_tests:*/direct_copies.*/sim_* transport_tests:*/jobs.*/sim_* transport_tests:datagrams.*
    transport_tests:*paths.* transport_tests:received_numbers.* transport_tests:udp_connection.*
    uts_tests:share.* uts_tests:steal.* uts_tests:traverse.*)

# Sets `result` to the patterns of a program, joined by colons.
function(nacre_one_thread_tests target result)
  set(patterns ${NACRE_ONE_THREAD_TESTS})
  list(FILTER patterns INCLUDE REGEX "^${target}:")
  list(TRANSFORM patterns REPLACE "^${target}:" "")
  list(JOIN patterns ":" patterns)
  set(${result} "${patterns}" PARENT_SCOPE)
endfunction()
