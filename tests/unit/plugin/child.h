// SPDX-License-Identifier: Apache-2.0
// A scenario in a process of its own: topoguard acts once per process. The child is forked before any thread exists.
#pragma once

#include <functional>
#include <string>

struct Child {
  int status = -1;       ///< exit status; 128 + signal where it was killed
  std::string failures;  ///< EXPECT lines that did not hold; must be ""
  std::string out, err;  ///< what it wrote to stdout and stderr
};

Child in_child(const std::function<void()>& scenario);

/// Records a failure of this child, to be shown by the parent.
void child_failed(const char* file, int line, const std::string& text);

#define EXPECT(...)                                                     \
  do {                                                                  \
    if (!(__VA_ARGS__)) child_failed(__FILE__, __LINE__, #__VA_ARGS__); \
  } while (false)

/// The scenario must hold, and nothing may have been written to stdout.
#define CHECK_CHILD(child)         \
  do {                             \
    INFO("stderr: " << child.err); \
    CHECK(child.failures == "");   \
    CHECK(child.status == 0);      \
    CHECK(child.out == "");        \
  } while (false)
