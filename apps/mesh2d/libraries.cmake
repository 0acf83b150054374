# SPDX-License-Identifier: Apache-2.0
# METIS divides the domain.
target_link_libraries(mesh2d_app PUBLIC meshing ${METIS_LIBRARY})
target_include_directories(mesh2d_app PUBLIC ${METIS_INCLUDE_DIR})
