// SPDX-License-Identifier: Apache-2.0
// The names of TOPOGUARD_LOG_FILE and TOPOGUARD_METRICS: %h is the host's name, %p the process number, %% a percent
// sign. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace topoguard {

/// What is wrong with a name, for people; empty where it is right.
std::string file_name_problem(std::string_view pattern);
/// `host` is made fit for a file name: letters, digits, dot, hyphen and underscore stay.
std::string expanded_file_name(std::string_view pattern, std::string_view host, long pid);

}  // namespace topoguard
