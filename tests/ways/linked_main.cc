// SPDX-License-Identifier: Apache-2.0
// A program that is linked with NCCL.
#include "linked_rank.h"

int main(int argc, char** argv) { return linked_rank(argc, argv); }
