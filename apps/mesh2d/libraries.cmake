# SPDX-License-Identifier: Apache-2.0
# METIS divides the domain. Predicates and the points of interfaces need every operation rounded as it is written.
target_link_libraries(mesh2d_app PUBLIC ${METIS_LIBRARY})
target_include_directories(mesh2d_app PUBLIC ${METIS_INCLUDE_DIR})
target_compile_options(mesh2d_app PUBLIC -ffp-contract=off)
