/* SPDX-License-Identifier: Apache-2.0
 * A C program that opens the plugin in every way that loaders use, looks every table up, and calls what is safe to call
 * before init(). Usage: open_modes PLUGIN */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "nccl/collnet_v11.h"
#include "nccl/gin_v11.h"
#include "nccl/net_v11.h"

static int failures = 0;

static void expect(int holds, const char* mode, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", mode, what);
  ++failures;
}

static void use(void* handle, const char* mode) {
  char name[64];
  int version;
  if (handle == NULL) {
    expect(0, mode, dlerror());
    return;
  }
  for (version = 6; version <= 12; ++version) {
    const char* const* table;
    snprintf(name, sizeof name, "ncclNetPlugin_v%d", version);
    table = dlsym(handle, name);
    expect(table != NULL && strcmp(*table, "topoguard") == 0, mode, name);
    snprintf(name, sizeof name, "ncclCollNetPlugin_v%d", version);
    table = dlsym(handle, name);
    expect(table != NULL && strcmp(*table, "topoguard") == 0, mode, name);
  }
  expect(dlsym(handle, "ncclNetPlugin_v5") == NULL, mode, "a version that nobody defined is exported");
  {
    tgnccl_net_v11_t* net = dlsym(handle, "ncclNetPlugin_v11");
    tgnccl_collnet_v11_t* collnet = dlsym(handle, "ncclCollNetPlugin_v11");
    tgnccl_gin_v11_t* gin = dlsym(handle, "ncclGinPlugin_v11");
    tgnccl_net_properties_v11_t properties;
    void* out = NULL;
    int count = -1;
    if (net == NULL || collnet == NULL || gin == NULL) {
      expect(0, mode, "a v11 table is missing");
      return;
    }
    expect(net->finalize(NULL) == tgnccl_success, mode, "finalize(NULL)");
    expect(net->finalize(&count) == tgnccl_success, mode, "finalize of a stranger");
    expect(net->devices(&count) == tgnccl_success && count == 0, mode, "devices before init");
    expect(net->get_properties(0, &properties) != tgnccl_success, mode, "getProperties before init");
    expect(net->listen(NULL, 0, &properties, &out) != tgnccl_success, mode, "listen before init");
    expect(net->test(NULL, &count, NULL) != tgnccl_success, mode, "test before init");
    expect(collnet->init(&out, 1, NULL) != tgnccl_success, mode, "a collective network without a base");
    expect(gin->init(&out, 1, NULL) != tgnccl_success, mode, "GIN without a base");
  }
}

int main(int argc, char** argv) {
  void *first, *again;
  if (argc != 2) return 2;
  first = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  use(first, "RTLD_NOW");
  again = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  use(again, "RTLD_DEEPBIND");
  expect(first == again, "RTLD_DEEPBIND", "another copy was loaded");
  /* The SONAME answers for the name that NCCL falls back to, also after the last dlclose. */
  if (first != NULL) dlclose(first);
  if (again != NULL) dlclose(again);
  use(dlopen("libnccl-net.so", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD), "libnccl-net.so after dlclose");
  use(dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL), "dlmopen");
  return failures == 0 ? 0 : 1;
}
