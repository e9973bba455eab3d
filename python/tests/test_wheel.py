# SPDX-License-Identifier: BSD-3-Clause
"""`pip wheel` without a network, from the build folder whose module the other tests use."""
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import entrain_clocks

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(entrain_clocks.__file__).resolve().parents[2]


def pip(*arguments, **more):
    offline = ["--no-index", "--no-deps", "--disable-pip-version-check", "--no-cache-dir", "-q"]
    subprocess.run([sys.executable, "-m", "pip", *arguments, *offline], check=True, **more)


def test_a_wheel_can_be_built_and_imported_offline(tmp_path):
    missing = [one for one in ("pip", "setuptools", "wheel") if find_spec(one) is None]
    if missing:
        pytest.skip(f"without {', '.join(missing)}")
    source = tmp_path / "source"  # pip writes beside what it builds
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip("wheel", "--no-build-isolation", "-w", tmp_path, source,
        env=os.environ | {"ENTRAIN_BUILD_FOLDER": str(BUILD)})
    (wheel,) = tmp_path.glob("entrain_clocks-*.whl")
    pip("install", "--target", tmp_path / "installed", wheel)
    program = "import entrain_clocks as e; print(e.__file__); print(e.__version__)"
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True,
                          text=True, cwd=tmp_path,
                          env=os.environ | {"PYTHONPATH": str(tmp_path / "installed")}).stdout
    file, version = told.split()
    assert Path(file).is_relative_to(tmp_path / "installed")
    assert version == entrain_clocks.__version__
    assert f"-{version}-" in wheel.name
