// SPDX-License-Identifier: Apache-2.0
// Pasted output of ip, show_gids and nvidia-smi, and topology files: the first byte says which, or leaves it to
// paste_kind().
#include "document/document.h"
#include "fuzz.h"
#include "import/import.h"

using namespace topoguard;

FUZZ_TARGET {
  if (size == 0) return 0;
  const auto text = fuzz::text_of(data + 1, size - 1);
  auto kind = paste_kind(text);
  if (const int named = data[0] - 'a'; named >= 0 && named <= static_cast<int>(Paste::topology))
    kind = static_cast<Paste>(named);
  if (!kind) return 0;
  HostSnapshot host;
  const auto imported = import_paste(*kind, text, "input", host);
  fuzz::require(imported.problems.size() <= 21, "at most 20 problems and a closing count");
  for (const auto& problem : imported.problems) fuzz::require(fuzz::is_printable(problem), "problems are printable");
  const auto again = read_snapshot(write_snapshot(host, Layout::line), "written");
  fuzz::require(again.host.has_value(), "what was taken over can be written and read");
  return 0;
}
