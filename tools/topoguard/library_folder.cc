// SPDX-License-Identifier: Apache-2.0
#include "library_folder.h"

#include <vector>

#include "host/file.h"

namespace topoguard::cli {

std::string library_folder(const std::string& wanted) {
  const std::string self = host::real_path("/proc/self/exe").value_or("");
  const std::string here = self.substr(0, self.rfind('/') + 1);
  // One build is packed for distributions that keep libraries in different folders.
  std::vector<std::string> folders = {here + "../" TOPOGUARD_LIBDIR, here + "../lib/x86_64-linux-gnu",
                                      here + "../lib64", here + "../lib", here};
  if (!wanted.empty()) folders = {wanted};
  for (const std::string& folder : folders)
    if (const auto path = host::real_path(folder); path && host::exists(*path + "/" + kNetPlugin)) return *path + "/";
  return {};
}

}  // namespace topoguard::cli
