# SPDX-License-Identifier: Apache-2.0
# The compiler of the sanitizer builds: clang 16, where it is installed with its sanitizers, as it compiles them in half the
# time of gcc 12; else the default. -DCMAKE_CXX_COMPILER=... and the environment's CXX win.
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(NACRE_SANITIZER_COMPILER clang++-16)
  if(NACRE_SANITIZER_COMPILER)
    execute_process(COMMAND ${NACRE_SANITIZER_COMPILER} -print-runtime-dir OUTPUT_VARIABLE runtimes
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(GLOB runtimes ${runtimes}/libclang_rt.tsan*)
    if(runtimes)
      set(CMAKE_CXX_COMPILER ${NACRE_SANITIZER_COMPILER})
      if(CMAKE_CXX_FLAGS_DEBUG MATCHES "-fsanitize=address")
        # By default it keeps frames on a heap of its own; those of a fiber it frees before Boost's last one has ended.
        string(APPEND CMAKE_CXX_FLAGS_INIT " -fsanitize-address-use-after-return=never")
      endif()
    endif()
  endif()
endif()
