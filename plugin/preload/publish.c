/* SPDX-License-Identifier: Apache-2.0
 * The constructor: names the two plugins in the environment, for an NCCL that this library cannot interpose (static in
 * another library, found by dlsym). One static environ array, published once: no allocation, no file, no lock.
 *
 * By path, because the library's folder need not be in anybody's search path; NCCL takes paths from 2.21, but 2.27.3.
 * For the releases that do not (2.18 to 2.20, 2.27.3), the plugin library corrects the name once NCCL is called and its
 * release known (plugin/env/plugin_name.h). NCCL reads NCCL_ENV_PLUGIN from 2.28.7 on. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "shim.h"

enum { MAX_VARIABLES = 16384, MAX_PATH = 4096, ADDED = 2 };

extern char** environ;
char topoguard_directory[MAX_PATH];

static char* variables[MAX_VARIABLES + ADDED + 1];
static char net_plugin[MAX_PATH + 64];
static char env_plugin[MAX_PATH + 64];

/* Own path without dladdr, which would need libdl before glibc 2.34: the linker's list has it. */
static const char* own_name(void) {
  extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
  for (const struct link_map* map = _r_debug.r_map; map != NULL; map = map->l_next)
    if (map->l_ld == _DYNAMIC) return map->l_name;
  return NULL;
}

static bool find_directory(char* directory) {
  const char* const name = own_name();
  size_t own = 0; /* up to and with the last slash */
  for (size_t i = 0; name != NULL && name[i] != '\0'; ++i)
    if (name[i] == '/') own = i + 1;
  if (own == 0) return false;
  size_t length = 0;
  if (name[0] != '/') { /* LD_PRELOAD=./libtopoguard.so: the job may change its directory before NCCL looks */
    if (getcwd(directory, MAX_PATH) == NULL) return false;
    length = strlen(directory);
    directory[length++] = '/';
  }
  if (length + own >= MAX_PATH) return false;
  for (size_t i = 0; i < own; ++i) directory[length + i] = name[i];
  directory[length + own] = '\0';
  return true;
}

/* By hand: each libc function that the constructor calls costs every process a symbol search, about a microsecond. */
static const char* value_of(const char* variable, const char* name) {
  while (*name != '\0' && *variable == *name) ++variable, ++name;
  return *name == '\0' && *variable == '=' ? variable + 1 : NULL;
}

static const char* past_blanks(const char* text) {
  while (*text == ' ' || *text == '\t' || *text == '\r') ++text;
  return text;
}

/* As src/policy reads it: any case, blanks around it. */
static bool is_off(const char* mode) {
  const char* off = "off";
  mode = past_blanks(mode);
  while (*off != '\0' && (*mode | 0x20) == *off) ++mode, ++off;
  return *off == '\0' && *past_blanks(mode) == '\0';
}

static char* append(char* to, const char* text) {
  while (*text != '\0') *to++ = *text++;
  *to = '\0';
  return to;
}

static char* compose(char* buffer, const char* name_and_equals, const char* file) {
  append(append(append(buffer, name_and_equals), topoguard_directory), file);
  return buffer;
}

__attribute__((constructor)) static void publish(void) {
  if (getauxval(AT_SECURE) != 0 || environ == NULL) return;
  bool name_net = true;
  bool name_env = true;
  int count = 0;
  for (; environ[count] != NULL; ++count) {
    const char* const variable = environ[count];
    if (variable[0] == 'N') {
      if (value_of(variable, "NCCL_NET_PLUGIN") != NULL) name_net = false;
      if (value_of(variable, "NCCL_ENV_PLUGIN") != NULL) name_env = false;
    } else if (variable[0] == 'T') {
      const char* const mode = value_of(variable, "TOPOGUARD_MODE");
      if (mode != NULL && is_off(mode)) return;
    }
  }
  if (!find_directory(topoguard_directory)) {
    topoguard_directory[0] = '\0';
    return;
  }
  if (count > MAX_VARIABLES || !(name_net || name_env)) return;

  for (int i = 0; i < count; ++i) variables[i] = environ[i];
  if (name_net) variables[count++] = compose(net_plugin, "NCCL_NET_PLUGIN=", "libnccl-net-topoguard.so");
  if (name_env) variables[count++] = compose(env_plugin, "NCCL_ENV_PLUGIN=", "libnccl-env-topoguard.so");
  variables[count] = NULL;
  environ = variables;
}
