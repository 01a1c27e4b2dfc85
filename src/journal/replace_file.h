// SPDX-License-Identifier: Apache-2.0
// A file whose readers see either the old text or the new one, whole.
#pragma once

#include <string>
#include <string_view>

namespace topoguard::journal {

/// Writes `text` into a hidden file of its own beside `path` (".NAME.PID-NUMBER.tmp") and renames it over `path`, mode
/// 0644 less the umask. What is wrong, for people; empty where it is done. On any failure the old file stays and the
/// new one is removed. Only a regular file, or nothing, is replaced: no symbolic link, no device. With several writers
/// of one name the last one wins. Any thread.
std::string replace_file(const std::string& path, std::string_view text);

}  // namespace topoguard::journal
