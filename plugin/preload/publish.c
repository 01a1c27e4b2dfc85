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
#include <strings.h>
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
  const char* const slash = name != NULL ? strrchr(name, '/') : NULL;
  if (slash == NULL) return false;
  size_t length = 0;
  if (name[0] != '/') { /* LD_PRELOAD=./libtopoguard.so: the job may change its directory before NCCL looks */
    if (getcwd(directory, MAX_PATH) == NULL) return false;
    length = strlen(directory);
    directory[length++] = '/';
  }
  const size_t own = (size_t)(slash - name) + 1;
  if (length + own >= MAX_PATH) return false;
  memcpy(directory + length, name, own);
  directory[length + own] = '\0';
  return true;
}

static const char* value_of(const char* variable, const char* name) {
  const size_t length = strlen(name);
  return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : NULL;
}

static char* compose(char* buffer, const char* name_and_equals, const char* file) {
  char* end = stpcpy(buffer, name_and_equals);
  end = stpcpy(end, topoguard_directory);
  stpcpy(end, file);
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
      if (mode != NULL && strcasecmp(mode, "off") == 0) return;
    }
  }
  if (!find_directory(topoguard_directory)) {
    topoguard_directory[0] = '\0';
    return;
  }
  if (count > MAX_VARIABLES || !(name_net || name_env)) return;

  memcpy(variables, environ, (size_t)count * sizeof variables[0]);
  if (name_net) variables[count++] = compose(net_plugin, "NCCL_NET_PLUGIN=", "libnccl-net-topoguard.so");
  if (name_env) variables[count++] = compose(env_plugin, "NCCL_ENV_PLUGIN=", "libnccl-env-topoguard.so");
  variables[count] = NULL;
  environ = variables;
}
