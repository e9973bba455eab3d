# SPDX-License-Identifier: BSD-3-Clause
"""The parts of tests/torture/torture."""
