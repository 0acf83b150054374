# SPDX-License-Identifier: Apache-2.0
"""Nacre for Spack: spack repo add packaging/spack/spack_repo/nacre && spack install nacre"""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Nacre(CMakePackage):
    """A runtime for irregular, adaptive parallel programs: mobile objects that send each other
    messages, and are placed, moved and balanced over threads, processes and hosts."""

    homepage = "https://example.org/nacre"
    git = "https://example.org/nacre.git"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("ucx", default=True, description="Build the module that sends messages over UCX")
    variant("mpi", default=True, description="Build the module that sends messages over MPI")
    variant("pmix", default=True, description="Let launchers of PMIx start programs")
    variant("otf2", default=False, description="Let nacre report write archives of OTF2")
    variant("shared", default=False, description="Let programs that ask for nacre::nacre use libnacre.so")
    variant("mesh2d", default=False, description="Build mesh2d, a program that makes meshes of triangles")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type=("build", "link"))

    depends_on("boost@1.74:+context")
    depends_on("fmt@9:")
    depends_on("tl-expected")
    depends_on("tomlplusplus")
    depends_on("libsodium")
    depends_on("zstd")
    depends_on("hwloc@2:")
    depends_on("cli11@2:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("xxhash", type="build")
    depends_on("googletest", type="test")

    depends_on("ucx@1.12:", when="+ucx")
    depends_on("mpi", when="+mpi")
    depends_on("pmix", when="+pmix")
    depends_on("otf2", when="+otf2")
    with when("+mesh2d"):
        depends_on("metis")
        depends_on("libpng")
        depends_on("netcdf-c")
        depends_on("muparser")

    requires("^[virtuals=mpi] openmpi", "^[virtuals=mpi] mpich", policy="one_of", when="+mpi")
    conflicts("%gcc@:11")
    conflicts("platform=windows")
    conflicts("platform=darwin")

    generator("ninja")
    sanity_check_is_file = [join_path("bin", "nacre"), join_path("include", "nacre", "nacre.hpp")]

    def cmake_args(self):
        # What Nacre uses where it finds it, by the variant that wants it; of the machine's own nothing else is taken.
        optional = {"ucx": ["UCX"], "mpi": ["MPI"], "pmix": ["PMIX"], "otf2": ["OTF2"]}
        optional["mesh2d"] = ["METIS", "PNG", "NETCDF", "MUPARSER"]
        switches = [self.define_from_variant(f"NACRE_{name}", variant) for variant, names in optional.items() for name in names]
        return switches + [
            self.define("NACRE_HDF5", False),
            self.define("NACRE_IPSEC_MB", False),
            self.define("NACRE_LIBCRYPTO", False),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("NACRE_TESTS", self.run_tests),
            self.define("NACRE_REPOSITORY_TESTS", False),
            self.define("NACRE_CCACHE", False),
            self.define("NACRE_LLD", False),
        ]

    def test_version(self):
        """the command tells the version that is installed"""
        command = which(self.prefix.bin.nacre, required=True)
        assert "nacre " in command("--version", output=str.split, error=str.split)
