/* SPDX-License-Identifier: Apache-2.0
 * The least that a preloaded library can be: one symbol. Also what the benchmark compares with. */
__attribute__((visibility("default"))) int topoguard_test_empty(void);
int topoguard_test_empty(void) { return 0; }
