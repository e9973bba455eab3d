# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack. Put the folder of this file into a repository as packages/entrain, then
``spack install entrain``."""
from spack.package import *


class Entrain(CMakePackage):
    """One time base for the event traces of parallel programs: finds and repairs violations of the
    clock condition in OTF2 traces, and aligns the clocks of traces of other kinds."""

    # Point `url` at the archive that `make dist` has made, or `git` at a clone.
    homepage = "file:///usr/share/doc/entrain"
    url = "file:///usr/src/entrain-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("mpi", default=True, description="Several processes share the work")
    variant("record", default=True, description="Build the recorder of MPI programs")
    variant("python", default=False, description="Build the Python module entrain_clocks")
    variant("report", default=False, description="Build the HTML report (needs npm)")
    variant("shared", default=False, description="Build the library as a shared one")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("tl-expected")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("simdjson")
    depends_on("protozero")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("cli11")
    depends_on("eigen@3.4:")
    depends_on("otf2")
    depends_on("mpi", when="+mpi")
    depends_on("mpi", when="+record")
    depends_on("npm", type="build", when="+report")
    depends_on("python@3.9:", when="+python", type=("build", "run"))
    depends_on("py-numpy", when="+python", type=("build", "run"))
    depends_on("py-pybind11@2.10:", when="+python", type="build")
    extends("python", when="+python")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("ENTRAIN_PYTHON", "python"),
            self.define_from_variant("ENTRAIN_RECORD", "record"),
            self.define("ENTRAIN_MPI", "ON" if "+mpi" in self.spec else "OFF"),
            self.define("ENTRAIN_REPORT", "ON" if "+report" in self.spec else "OFF"),
        ]
        if "+python" in self.spec:
            args.append(self.define("ENTRAIN_PYTHON_EXECUTABLE", python.path))
            args.append(self.define("ENTRAIN_PYTHON_DIR", python_platlib))
        return args
