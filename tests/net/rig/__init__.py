# SPDX-License-Identifier: Apache-2.0
"""Drives jobs on real NCCL without a GPU: builds, namespaces, ranks, and what their logs say."""
