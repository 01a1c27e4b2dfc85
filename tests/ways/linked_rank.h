// SPDX-License-Identifier: Apache-2.0
// The rank program's main, as a function of a program or library that is linked with NCCL.
#pragma once

extern "C" __attribute__((visibility("default"))) int linked_rank(int argc, char** argv);
