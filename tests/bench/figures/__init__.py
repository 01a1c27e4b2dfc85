# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/performance.md, each measured beside its opponent."""
