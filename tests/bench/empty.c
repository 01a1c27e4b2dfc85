/* SPDX-License-Identifier: Apache-2.0
 * The least that a preloaded library can be. */
int topoguard_bench_empty(void);
int topoguard_bench_empty(void) { return 0; }
