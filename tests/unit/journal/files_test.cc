// SPDX-License-Identifier: Apache-2.0
// Files that other processes, the administrator or an attacker have prepared, and the limits of the process.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "journal/append_file.h"
#include "journal/quiet_write.h"
#include "journal/replace_file.h"
#include "scratch.h"

using namespace topoguard::journal;
using test::put;
using test::Scratch;
using test::text_of;

namespace {

constexpr const char* kStart = "{\"time\":\"";

/// Runs in a child of its own, whose limits and signals may be changed; its exit status, or 1000 + the signal.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

void limit_files_to(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

TEST_CASE("lines are appended, and the file is made for its owner and group only") {
  const Scratch scratch;
  AppendFile file(scratch / "log", kStart);
  CHECK(scratch.files() == 0);
  CHECK(file.append("{\"time\":\"1\"}\n").empty());
  CHECK(file.append("{\"time\":\"2\"}\n").empty());
  CHECK(text_of(scratch / "log") == "{\"time\":\"1\"}\n{\"time\":\"2\"}\n");
  struct stat status {};
  REQUIRE(stat((scratch / "log").c_str(), &status) == 0);
  CHECK((status.st_mode & 0137) == 0);
}

TEST_CASE("only a regular file with one name is written") {
  const Scratch scratch;
  put(scratch / "target", "kept\n");
  const auto refused = [](const std::string& path) { return AppendFile(path, kStart).append("{}\n"); };
  REQUIRE(symlink((scratch / "target").c_str(), (scratch / "link").c_str()) == 0);
  CHECK_THAT(refused(scratch / "link"), Catch::Contains("symbolic link"));
  REQUIRE(link((scratch / "target").c_str(), (scratch / "second").c_str()) == 0);
  CHECK_THAT(refused(scratch / "second"), Catch::Contains("hard link"));
  REQUIRE(mkfifo((scratch / "fifo").c_str(), 0600) == 0);
  CHECK_THAT(refused(scratch / "fifo"), Catch::Contains("regular"));
  CHECK_THAT(refused("/dev/null"), Catch::Contains("regular"));
  CHECK_THAT(refused(scratch.path().string()), Catch::Contains("regular"));
  CHECK_THAT(refused(scratch / "missing/log"), Catch::Contains("No such file"));
  CHECK(text_of(scratch / "target") == "kept\n");
  CHECK_THAT(replace_file(scratch / "link", "x"), Catch::Contains("regular"));
  CHECK_THAT(replace_file("/dev/null", "x"), Catch::Contains("regular"));
  CHECK(text_of(scratch / "target") == "kept\n");
}

TEST_CASE("a dangling link is not followed either") {
  const Scratch scratch;
  REQUIRE(symlink((scratch / "nowhere").c_str(), (scratch / "link").c_str()) == 0);
  CHECK_FALSE(AppendFile(scratch / "link", kStart).append("{}\n").empty());
  CHECK_FALSE(std::filesystem::exists(scratch / "nowhere"));
}

TEST_CASE("what a killed writer left at the end is taken away, a foreign piece is kept and ended") {
  const Scratch scratch;
  const std::string line = "{\"time\":\"2\"}\n";
  for (const std::string piece : {"{", "{\"ti", "{\"time\":\"1\",\"even"}) {
    put(scratch / "log", "{\"time\":\"0\"}\n" + piece);
    CHECK(AppendFile(scratch / "log", kStart).append(line).empty());
    CHECK(text_of(scratch / "log") == "{\"time\":\"0\"}\n" + line);
  }
  put(scratch / "alone", "{\"time\":\"1");
  CHECK(AppendFile(scratch / "alone", kStart).append(line).empty());
  CHECK(text_of(scratch / "alone") == line);
  put(scratch / "notes", "my notes");
  CHECK(AppendFile(scratch / "notes", kStart).append(line).empty());
  CHECK(text_of(scratch / "notes") == "my notes\n" + line);
  const std::string long_piece(3 << 20, 'x');
  put(scratch / "long", long_piece);
  CHECK(AppendFile(scratch / "long", kStart).append(line).empty());
  CHECK(text_of(scratch / "long") == long_piece + "\n" + line);
}

TEST_CASE("a removed file is made again, a removed folder is an error until it is back") {
  const Scratch scratch;
  const std::string folder = scratch / "logs";
  std::filesystem::create_directory(folder);
  AppendFile file(folder + "/log", kStart);
  CHECK(file.append("{}\n").empty());
  std::filesystem::remove(folder + "/log");
  CHECK(file.append("{}\n").empty());
  CHECK(text_of(folder + "/log") == "{}\n");
  std::filesystem::remove_all(folder);
  CHECK_THAT(file.append("{}\n"), Catch::Contains("No such file"));
  std::filesystem::create_directory(folder);
  CHECK(file.append("{}\n").empty());
}

TEST_CASE("a stopped holder of the lock holds nobody up") {
  const Scratch scratch;
  put(scratch / "log", "");
  const int holder = open((scratch / "log").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(flock(holder, LOCK_EX) == 0);
  AppendFile file(scratch / "log", kStart);
  CHECK(file.append("{\"time\":\"1\"}\n").empty());
  close(holder);
  CHECK(text_of(scratch / "log") == "{\"time\":\"1\"}\n");
}

TEST_CASE("the limit on file sizes is an error and no signal, and leaves no piece") {
  const Scratch scratch;
  const std::string line = "{\"time\":\"1\"}\n";
  put(scratch / "log", line);
  const int status = in_child([&] {
    limit_files_to(line.size() + 5);
    AppendFile file(scratch / "log", kStart);
    const bool refused = file.append(line).find("too large") != std::string::npos;
    return refused && text_of(scratch / "log") == line ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(text_of(scratch / "log") == line);
  const int at_the_limit = in_child([&] {
    limit_files_to(line.size());
    return AppendFile(scratch / "log", kStart).append(line).empty() ? 1 : 0;
  });
  CHECK(at_the_limit == 0);
  const int replacing = in_child([&] {
    limit_files_to(3);
    return replace_file(scratch / "metrics", "12345").empty() ? 1 : 0;
  });
  CHECK(replacing == 0);
  CHECK(scratch.files() == 1);
}

TEST_CASE("a closed pipe is an error and no signal; a signal that waited before stays") {
  const int status = in_child([] {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    close(ends[0]);
    const auto written = quiet_write(ends[1], "x");
    if (written.error != EPIPE || written.bytes != 0) return 2;
    sigset_t set, pending;
    sigemptyset(&set);
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) != 0) return 3;
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    raise(SIGPIPE);
    quiet_write(ends[1], "x");
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1 ? 0 : 4;
  });
  CHECK(status == 0);
  // The counterpart: an ordinary write does kill.
  CHECK(in_child([] {
          int ends[2];
          signal(SIGPIPE, SIG_DFL);
          if (pipe(ends) != 0) return 1;
          close(ends[0]);
          return write(ends[1], "x", 1) == 1 ? 0 : 1;
        }) == 1000 + SIGPIPE);
}

TEST_CASE("a file is replaced as a whole, and failure leaves the old one and nothing else") {
  const Scratch scratch;
  CHECK(replace_file(scratch / "m.prom", "one\n").empty());
  CHECK(replace_file(scratch / "m.prom", "two\n").empty());
  CHECK(text_of(scratch / "m.prom") == "two\n");
  CHECK(scratch.files() == 1);
  struct stat status {};
  REQUIRE(stat((scratch / "m.prom").c_str(), &status) == 0);
  CHECK((status.st_mode & 0133) == 0);
  CHECK_THAT(replace_file(scratch / "missing/m.prom", "x"), Catch::Contains("No such file"));
  std::filesystem::create_directory(scratch / "folder");
  CHECK_FALSE(replace_file(scratch / "folder", "x").empty());
  CHECK(scratch.files() == 2);
}
