# SPDX-License-Identifier: Apache-2.0
# Links with lld where it is installed and the compiler knows it: each of some hundred programs then links in two thirds of
# the time. Linker flags of the caller that name a linker win. mold, faster still, is not used: before version 2.4 (Debian 12
# has 1.10) some of its programs do not start, "cannot apply additional memory protection after relocation" (mold issue 1151).
# Nor is lld where gcc optimises at link time: it takes gcc's objects for empty ones, and says nothing.
set(optimised_by_linker FALSE)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  if(CMAKE_INTERPROCEDURAL_OPTIMIZATION OR CMAKE_CXX_FLAGS MATCHES "-flto")
    set(optimised_by_linker TRUE)
  endif()
  foreach(configuration IN ITEMS ${CMAKE_BUILD_TYPE} ${CMAKE_CONFIGURATION_TYPES})
    string(TOUPPER ${configuration} upper)
    if(CMAKE_INTERPROCEDURAL_OPTIMIZATION_${upper} OR CMAKE_CXX_FLAGS_${upper} MATCHES "-flto")
      set(optimised_by_linker TRUE)
    endif()
  endforeach()
endif()
if(NACRE_LLD AND NOT optimised_by_linker AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld")
  include(CheckLinkerFlag)
  if(NOT NACRE_HAS_LLD)  # it may have been installed since the last time
    unset(NACRE_HAS_LLD CACHE)
  endif()
  check_linker_flag(CXX -fuse-ld=lld NACRE_HAS_LLD)
  if(NACRE_HAS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
