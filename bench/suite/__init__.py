# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark suite behind bench/run and bench/gate; see bench/README.md."""
