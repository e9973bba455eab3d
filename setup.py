# SPDX-License-Identifier: BSD-3-Clause
"""Builds the Python module with CMake: what `pip wheel .` and `pip install .` call.

pyproject.toml holds name, version and what is needed. A build folder that has the module already
spares the compilation: ENTRAIN_BUILD_FOLDER=build/release pip wheel .
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "ENTRAIN_PYTHON": "ON",
    "ENTRAIN_PYTHON_EXECUTABLE": sys.executable,
    "ENTRAIN_MPI": "OFF",
    "ENTRAIN_NET": "OFF",
    "ENTRAIN_RECORD": "OFF",
    "ENTRAIN_REPORT": "OFF",
}


class BuildWithCMake(build_ext):
    """Configures, builds and installs the component `python` to where setuptools collects files."""

    def build_extension(self, ext):
        target = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        folder = os.environ.get("ENTRAIN_BUILD_FOLDER")
        if not folder:
            folder = Path(self.build_temp).resolve()
            options = [f"-D{name}={value}" for name, value in OPTIONS.items()]
            subprocess.run(["cmake", "-S", ROOT, "-B", folder, *options], check=True)
            jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
            subprocess.run(
                ["cmake", "--build", folder, "-j", jobs, "--target", "entrain_python"], check=True)
        package = Path(folder).resolve() / "python" / "entrain_clocks"
        self.copy_tree(str(package), str(target))


setup(packages=[], ext_modules=[Extension("entrain_clocks._core", sources=[])],
      cmdclass={"build_ext": BuildWithCMake})
