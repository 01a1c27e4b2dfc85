/* SPDX-License-Identifier: Apache-2.0
 * Another hwloc, libnl, libstdc++ and libfmt come first, for everybody (RTLD_GLOBAL); then the plugin. None of the
 * plugin's calls may land in them, and none of their names may be the plugin's. Usage: coexist PLUGIN [LIBRARY...]; a
 * LIBRARY is one that this plugin needs by its NEEDED list, as builds outside tools/release do.
 *
 * How it is seen: the plugin's own relocations are read from memory. After RTLD_NOW each slot holds the address that
 * the loader bound, and dladdr tells whose that is. Exit: 0, or 1 with a line per crossing; 77 where not one of the
 * other libraries is here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char* const others[] = {"libhwloc.so.15", "libnl-3.so.200", "libnl-route-3.so.200", "libstdc++.so.6",
                                     "libfmt.so.7",    "libfmt.so.9",    "libfmt.so.10",         NULL};
static const char* const allowed[] = {"libc.so.6",       "libm.so.6",  "libdl.so.2",
                                      "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
                                      "linux-vdso.so.1", NULL};
static const char* const probes[] = {"hwloc_topology_init",
                                     "tg_hwloc_topology_init",
                                     "hwloc_bitmap_alloc",
                                     "nl_socket_alloc",
                                     "nl_connect",
                                     "_Znwm",
                                     "__cxa_throw",
                                     "_ZNSsC1Ev",
                                     NULL};

static char** needed; /* ends with NULL */

static int may_be_used(const char* path) {
  const char* name = strrchr(path, '/');
  name = name != NULL ? name + 1 : path;
  for (int i = 0; needed[i] != NULL; ++i)
    if (strncmp(name, needed[i], strlen(needed[i])) == 0) return 1;
  for (int i = 0; allowed[i] != NULL; ++i)
    if (strcmp(name, allowed[i]) == 0) return 1;
  return strncmp(name, "libc-2.", 7) == 0 || strncmp(name, "ld-2.", 5) == 0 || strncmp(name, "libm-2.", 7) == 0 ||
         strncmp(name, "libdl-2.", 8) == 0 || strncmp(name, "libpthread-2.", 13) == 0;
}

static int crossings(const struct link_map* map, const Elf64_Rela* table, size_t bytes, const Elf64_Sym* symbols,
                     const char* names, int* seen) {
  int bad = 0;
  for (size_t i = 0; i < bytes / sizeof *table; ++i) {
    const unsigned long type = ELF64_R_TYPE(table[i].r_info);
    const Elf64_Sym* symbol = symbols + ELF64_R_SYM(table[i].r_info);
    Dl_info info;
    void* target;
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
    if (ELF64_R_SYM(table[i].r_info) == 0) continue;
    target = *(void**)(map->l_addr + table[i].r_offset);
    if (target == NULL) continue; /* weak, and nowhere */
    ++*seen;
    if (dladdr(target, &info) == 0 || info.dli_fname == NULL) continue;
    if (strcmp(info.dli_fname, map->l_name) == 0 || may_be_used(info.dli_fname)) continue;
    printf("%s is bound to %s\n", names + symbol->st_name, info.dli_fname);
    ++bad;
  }
  return bad;
}

int main(int argc, char** argv) {
  struct link_map* map = NULL;
  const Elf64_Rela *jump = NULL, *rela = NULL;
  const Elf64_Sym* symbols = NULL;
  const char* names = NULL;
  size_t jump_bytes = 0, rela_bytes = 0;
  int opened = 0, bad = 0, seen = 0;
  void* plugin;
  if (argc < 2) return 2;
  needed = argv + 2;
  for (int i = 0; others[i] != NULL; ++i)
    if (dlopen(others[i], RTLD_NOW | RTLD_GLOBAL) != NULL) {
      printf("with %s\n", others[i]);
      ++opened;
    }
  if (opened == 0) {
    printf("SKIP: none of the other libraries is installed\n");
    return 77;
  }
  plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL || dlinfo(plugin, RTLD_DI_LINKMAP, &map) != 0) {
    printf("%s\n", dlerror());
    return 1;
  }
  for (const Elf64_Dyn* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) jump = (const Elf64_Rela*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) jump_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) rela = (const Elf64_Rela*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) rela_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = (const char*)entry->d_un.d_ptr;
  }
  if (rela == NULL || symbols == NULL || names == NULL) return 1;
  if (jump != NULL) bad += crossings(map, jump, jump_bytes, symbols, names, &seen);
  bad += crossings(map, rela, rela_bytes, symbols, names, &seen);
  for (int i = 0; probes[i] != NULL; ++i) {
    Dl_info info;
    void* found = dlsym(plugin, probes[i]);
    if (found != NULL && dladdr(found, &info) != 0 && strcmp(info.dli_fname, map->l_name) == 0) {
      printf("the plugin gives %s away\n", probes[i]);
      ++bad;
    }
  }
  if (seen < 50) { /* a plugin calls that much of libc alone: fewer means that the tables were misread */
    printf("only %d bindings were seen\n", seen);
    ++bad;
  }
  printf("%d bindings, %d of them wrong\n", seen, bad);
  return bad == 0 ? 0 : 1;
}
