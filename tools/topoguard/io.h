// SPDX-License-Identifier: Apache-2.0
// Files, standard input and standard output of the program.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace topoguard::cli {

/// The whole file, "-" for standard input, and at most limit + 1 bytes of it, so that the reader sees that it is too
/// large. Empty after an error line on stderr.
std::optional<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{64} << 20);

/// Calls take(text, number) for each of the documents that follow each other in the file ("-": standard input), until
/// it says false. Holds one document at a time. False where it said so, and after an error line on stderr.
bool each_document(const std::string& path, const std::function<bool(const std::string& text, int number)>& take);

/// Everything or an error line on stderr (full disk, closed pipe) and false. path "" or "-": standard output; a file is
/// replaced only when all of it was written.
bool write_text(std::string_view text, const std::string& path = {});

/// "topoguard: TEXT" on stderr.
void complain(std::string_view text);

/// How messages call the file: "-" is "standard input".
std::string shown_name(const std::string& path);

bool stdout_is_terminal();
/// A terminal that wants colour: not with NO_COLOR (no-color.org) or TERM=dumb.
bool stdout_takes_colour();

}  // namespace topoguard::cli
