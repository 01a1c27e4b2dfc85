// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

namespace {

int report = -1;

std::string contents(FILE* file) {
  std::string text;
  char part[4096];
  std::rewind(file);
  while (const auto got = std::fread(part, 1, sizeof part, file)) text.append(part, got);
  std::fclose(file);
  return text;
}

}  // namespace

void child_failed(const char* file, int line, const std::string& text) {
  const std::string message = std::string(file) + ":" + std::to_string(line) + ": " + text + "\n";
  if (write(report, message.data(), message.size()) < 0) _exit(99);
}

Child in_child(const std::function<void()>& scenario) {
  FILE *out = std::tmpfile(), *err = std::tmpfile(), *failures = std::tmpfile();
  if (out == nullptr || err == nullptr || failures == nullptr) throw std::runtime_error("no temporary file");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    report = fileno(failures);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    try {
      scenario();
    } catch (const std::exception& error) {
      child_failed("scenario", 0, error.what());
    }
    _exit(0);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) throw std::runtime_error("no child process");
  Child child;
  child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  child.out = contents(out);
  child.err = contents(err);
  child.failures = contents(failures);
  return child;
}
