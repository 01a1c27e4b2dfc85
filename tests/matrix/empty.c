/* SPDX-License-Identifier: Apache-2.0
 * A plugin without a single table: NCCL looks for every version that it knows, and goes on without it. */
__attribute__((visibility("default"))) int topoguard_test_no_table(void);
int topoguard_test_no_table(void) { return 0; }
