# SPDX-License-Identifier: Apache-2.0
# Tests that run benchmarks: small, for their account and not for their time.

# Floods end complete, and no rank's memory grows with them: 0.5 MiB are configured, and pools and rings take some more.
# Trees of handlers that go from rank to rank need room for their width (echo), so they get more.
if(TARGET flood AND TARGET nacre_command)
  set(transports shm tcp)
  if(TARGET nacre_ucx AND NOT NACRE_SANITIZER)  # they would find UCX's leaks
    list(APPEND transports ucx)
  endif()
  foreach(transport IN LISTS transports)
    foreach(pattern one two all object echo tree chain springs)
      set(ranks 2)
      set(growth 4)
      set(others "")
      if(pattern STREQUAL all)
        set(ranks 4)
      elseif(pattern STREQUAL echo)
        set(growth 120)
      elseif(pattern STREQUAL object)
        set(growth 64)  # a busy machine lets a balancer move the object and what waits for it (28 MiB were seen)
      elseif(pattern STREQUAL springs)
        set(others --nacre.balancer=none)  # there is one on each rank
      endif()
      if(transport STREQUAL ucx)
        math(EXPR growth "${growth} + 16")  # what UCX takes by itself
      endif()
      add_test(NAME flood.${pattern}_over_${transport}
               COMMAND nacre_command run -n ${ranks} --transport ${transport} $<TARGET_FILE:flood> --pattern=${pattern}
                       --work=0 --messages=300000 --growth-max=${growth} --nacre.workers=1 --nacre.receive_memory=256KiB
                       --nacre.send_memory=256KiB ${others})
    endforeach()
    if(transport STREQUAL shm)  # springs move with the messages that wait for them (up to 22 MiB were seen)
      add_test(NAME flood.balanced_springs_over_shm
               COMMAND nacre_command run -n 2 --transport shm $<TARGET_FILE:flood> --pattern=springs --work=0
                       --messages=1000000 --growth-max=64 --nacre.workers=1 --nacre.receive_memory=256KiB
                       --nacre.send_memory=256KiB)
    endif()
    add_test(NAME message_rate.over_${transport}
             COMMAND nacre_command run -n 3 --transport ${transport} $<TARGET_FILE:message_rate> --messages=200000
                     --nacre.workers=2)
  endforeach()
  add_test(NAME flood.all_over_udp
           COMMAND nacre_command run -n 4 --transport udp $<TARGET_FILE:flood> --pattern=all --work=0 --messages=300000
                   --growth-max=16 --nacre.workers=1 --nacre.receive_memory=256KiB --nacre.send_memory=256KiB)
  add_test(NAME message_rate.over_udp
           COMMAND nacre_command run -n 3 --transport udp $<TARGET_FILE:message_rate> --messages=200000 --nacre.workers=2)
  # Within one process 300,000 messages at once would be 50 MiB.
  foreach(pattern one self all tree)
    add_test(NAME flood.${pattern}_over_inproc
             COMMAND flood --pattern=${pattern} --work=0 --messages=300000 --growth-max=8 --nacre.ranks=3 --nacre.workers=1
                     --nacre.receive_memory=256KiB)
  endforeach()
  # Also without any option nobody needs the 180 MiB of a million messages.
  add_test(NAME flood.self_without_options
           COMMAND flood --pattern=self --work=0 --messages=1000000 --peak-max=48 --nacre.workers=1)
endif()

# Waves on simulated ranks: all cuts give the same, and ranks help.
if(TARGET waves_scaling)
  add_test(NAME waves_scaling.on_a_few_ranks COMMAND waves_scaling --ranks 1,4,16 --patches 1,4 --side 16 --length 32 --steps 2
                                                     --least 0.5)
endif()

# What bench/history runs of two commits finds all that it has sent.
foreach(program words chains tiles round_trips)
  if(TARGET history_${program})
    add_test(NAME history.${program} COMMAND nacre_command run -n 2 $<TARGET_FILE:history_${program}> 2000)
  endif()
endforeach()

# The tiles of bench/defaults come to the sum that stays, in every style.
foreach(style counting next bare)
  if(TARGET defaults_stencil)
    add_test(NAME defaults.stencil_${style}
             COMMAND defaults_stencil --style ${style} --tiles 5 --width 3 --steps 20 --runs 2 --nacre.ranks=2)
  endif()
endforeach()

# The programs that step come to their end under any placement, in virtual time and on ranks of this process.
foreach(bound neighbours reduction)
  if(TARGET defaults_particles)
    add_test(NAME defaults.particles_${bound}
             COMMAND defaults_particles --cells 8 --steps 12 --bound ${bound} --replan 4 --nacre.transport=sim --nacre.ranks=5)
  endif()
endforeach()
if(TARGET defaults_blocks)
  add_test(NAME defaults.blocks COMMAND defaults_blocks --level 5 --regrids 4 --by-hand --nacre.transport=sim --nacre.ranks=5)
endif()

# Benchmarks say what their options are, and do not begin with one that they have not.
foreach(program chase flood hops losses message_rate peers raw_ucx stress)
  if(TARGET ${program})
    add_test(NAME ${program}.options
             COMMAND sh -c "\"$1\" --help | grep -q Usage && { \"$1\" --no-such-option; test $? -eq 2; }" sh
                     $<TARGET_FILE:${program}>)
  endif()
endforeach()

# Each location policy costs a sender whose object moves what the policy predicts; with a bound that sends messages
# by way of the home it does not, and the program says so.
if(TARGET hops)
  foreach(every 1 6)
    add_test(NAME hops.after_${every}_moves COMMAND hops --visits=6 --every=${every} --json=hops.json --plot=hops.svg)
  endforeach()
  add_test(NAME hops.of_long_messages COMMAND hops --visits=4 --bytes=64KiB)
  add_test(NAME hops.differ COMMAND hops --visits=3 --nacre.hops_max=1)
  set_tests_properties(hops.differ PROPERTIES
    PASS_REGULAR_EXPRESSION "after 3 moves under lazy_forwarding the counts are not those predicted:\n[^\n]* 4 \\(3\\)")
  if(TARGET nacre_command)
    add_test(NAME hops.over_shm COMMAND nacre_command run -n 4 --transport shm $<TARGET_FILE:hops> --visits=2 --runs=3)
  endif()
endif()

# What messages to an object that moves on cost grows as they do, and none is lost.
if(TARGET chase AND TARGET nacre_command)
  add_test(NAME chase.in_proportion COMMAND chase --most=10000)
  foreach(transport IN ITEMS shm tcp)
    add_test(NAME chase.over_${transport}
             COMMAND nacre_command run -n 5 --transport ${transport} $<TARGET_FILE:chase> --least=10000 --most=10000
                     --nacre.send_memory=64KiB --nacre.receive_memory=64KiB)
  endforeach()
endif()

# The study of the policies works; its table in docs/location.md takes a minute.
if(TARGET location_choice AND TARGET nacre_command)
  add_test(NAME location_choice COMMAND location_choice --values=64 --ranks=4 --runs=1 --repetitions=1 --json=choice.json)
endif()

# The account of a long random program comes out exactly; bin/stress without a small budget runs for longer.
if(TARGET stress AND TARGET nacre_command)
  set(budget --messages=60000 --migrations=6000 --nacre.workers=2)
  add_test(NAME stress.over_inproc COMMAND stress ${budget} --nacre.ranks=4)
  foreach(transport IN ITEMS shm tcp)
    add_test(NAME stress.over_${transport}
             COMMAND nacre_command run -n 4 --transport ${transport} $<TARGET_FILE:stress> ${budget})
  endforeach()
endif()

# Every run of a small table is exact, or the table is none. The benchmark's own tests hold its figures.
if(TARGET prema_table1 AND TARGET synthetic)
  add_test(NAME prema_table1.of_320_cores COMMAND prema_table1 --cores=320 --policies=diffusion --json=prema_table1.json)
endif()

# Each balancer runs all tasks of a small tree and of a small bag, and what is made of the figures can be written.
if(TARGET task_trees)
  add_test(NAME task_trees.small
           COMMAND task_trees --ranks=16 --tasks=100 --grain=10 --costs=exponential,heavy --balancers=lifeline,steal,share
                   --json=task_trees.json --svg=task_trees.svg)
  # Without any option, a tree of tasks of ten latencies is spread by few moves of large parts; see docs/balancing.md.
  add_test(NAME task_trees.default_is_good_on_trees
           COMMAND task_trees --shapes=tree --costs=equal,exponential --grain=10 --ranks=16,64 --least=0.88)
  add_test(NAME task_trees.default_is_good_on_small_tasks
           COMMAND task_trees --shapes=tree --costs=equal,exponential --grain=3 --ranks=16 --least=0.8)
  add_test(NAME task_trees.default_is_good_on_bags
           COMMAND task_trees --shapes=bag --costs=equal,exponential --grain=30 --ranks=16 --least=0.85)
  # The maker of a bag is told of its objects' ends in bulk; told one by one, it reaches half of the ideal here.
  add_test(NAME task_trees.default_is_good_on_bags_of_small_tasks
           COMMAND task_trees --shapes=bag --costs=equal,exponential --grain=3,10 --ranks=16,64 --least=0.7)
endif()

# Subdomains of a mesh do short and long things: a balancer that goes by what an object did before makes the job longer.
if(TARGET clam_mesh AND TARGET mesh2d)
  add_test(NAME clam_mesh.default_is_good_on_subdomains
           COMMAND clam_mesh --triangles=500000 --subdomains=128 --ranks=8 --balancers=none,lifeline,steal,diffusion
                   --least=0.08 --no-check --json=clam_mesh.json --svg=clam_mesh.svg)
endif()

# On this host two ranks are enough without an option; a balancer that there is not is refused before the first run.
if(TARGET clam_mesh AND TARGET mesh2d AND TARGET nacre_command)
  add_test(NAME clam_mesh.on_real_ranks
           COMMAND clam_mesh --real --triangles=100000 --subdomains=32 --balancers=none,diffusion --json=clam_mesh_real.json)
  set_tests_properties(clam_mesh.on_real_ranks PROPERTIES PASS_REGULAR_EXPRESSION "2 real ranks.*diffusion +[0-9]+")
  add_test(NAME clam_mesh.knows_its_balancers
           COMMAND sh -c "\"$1\" --real --balancers=none,nobody; test $? -eq 2" sh $<TARGET_FILE:clam_mesh>)
endif()

# The kernel of mesh3d makes as many tetrahedra of the same points as TetGen, where that is.
if(TARGET delaunay3d)
  add_test(NAME delaunay3d.agrees_with_tetgen COMMAND delaunay3d --points=20000 --runs=1 --json=delaunay3d.json)
  set_tests_properties(delaunay3d.agrees_with_tetgen PROPERTIES SKIP_REGULAR_EXPRESSION "TetGen was skipped")
endif()

# A small study is complete, and counts right with every setting.
if(TARGET uts_study)
  add_test(NAME uts_study.small COMMAND uts_study --small --ranks=2,16 --ranks-of-intervals=16 --seeds=1)
endif()
