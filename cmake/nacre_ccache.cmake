# SPDX-License-Identifier: Apache-2.0
# Compiles through ccache where it is installed: what has been compiled in this folder before is not compiled again, also
# after build/ was removed. Paths stay absolute, so that a program is the same with ccache and without.
if(NACRE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(NACRE_CCACHE_PROGRAM ccache)
  if(NACRE_CCACHE_PROGRAM)
    message(STATUS "ccache: ${NACRE_CCACHE_PROGRAM}; -DNACRE_CCACHE=OFF compiles without")
    # What a source includes is taken from the compiler, not looked for first; precompiled headers are known by their contents. A
    # file that changes while it is compiled must not be known by its new contents, so times are looked at.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros ${NACRE_CCACHE_PROGRAM})
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)  # else it refuses precompiled headers of the cache, as a new clone's files are newer
      add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    endif()
  else()
    message(STATUS "ccache: not found; a second build from nothing takes as long as the first")
  endif()
endif()
