# SPDX-License-Identifier: Apache-2.0
target_link_libraries(mesh3d_app PUBLIC meshing)
