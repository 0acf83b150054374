# SPDX-License-Identifier: Apache-2.0
# Links with mold where it is installed and the compiler knows it: each of some hundred programs then links in a fifth of
# the time. CMAKE_LINKER_FLAGS of the caller that name a linker win.
if(NACRE_MOLD AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold NACRE_HAS_MOLD)
  if(NACRE_HAS_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
