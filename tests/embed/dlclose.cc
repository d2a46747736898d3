// SPDX-License-Identifier: Apache-2.0
// dlopen, use, dlclose, sixty times; a thread that used the library ends after the last dlclose.
// This program does not link the library.
#include <aistation/aistation.h>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

template <class F>
F* Symbol(void* library, const char* name) {
  auto* symbol = reinterpret_cast<F*>(dlsym(library, name));
  if (symbol == nullptr) {
    std::printf("FAIL symbol: %s\n", dlerror());
    std::exit(1);
  }
  return symbol;
}
#define SYMBOL(library, name) Symbol<decltype(name)>(library, #name)

// Context, store, an error, an operation thread.
bool Use(void* library) {
  aist_context* context = nullptr;
  aist_store* store = nullptr;
  aist_error* error = nullptr;
  aist_store_opts opts = AIST_STORE_OPTS_INIT;
  aist_dataset_index_opts index = AIST_DATASET_INDEX_OPTS_INIT;
  index.name = {"none", 4};
  index.source = {"/nowhere", 8};
  aist_op* op = nullptr;
  bool good = SYMBOL(library, aist_context_create)(nullptr, &context, nullptr) == AIST_OK;
  good &= SYMBOL(library, aist_store_open)(context, &opts, &store, nullptr) == AIST_OK;
  good &= SYMBOL(library, aist_store_put)(store, "k", 1, "v", 1, 0, nullptr, nullptr) == AIST_OK;
  good &=
      SYMBOL(library, aist_store_get)(store, "x", 1, nullptr, nullptr, &error) == AIST_NOT_FOUND;
  good &= SYMBOL(library, aist_dataset_index)(context, &index, &op, nullptr) == AIST_OK;
  good &= SYMBOL(library, aist_op_wait)(op, 5'000'000'000, nullptr) != AIST_OK;
  SYMBOL(library, aist_op_free)(op);
  SYMBOL(library, aist_error_free)(error);
  SYMBOL(library, aist_store_free)(store);
  SYMBOL(library, aist_context_free)(context);
  return good;
}

long ResidentKb() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = -1;
  if (file != nullptr) std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::atomic<int> used{0};
  std::atomic<bool> end{false};
  std::thread late;
  long after_first = 0;
  for (int i = 0; i < 60; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW | (i % 2 == 0 ? RTLD_LOCAL : RTLD_GLOBAL));
    if (library == nullptr) {
      std::printf("FAIL dlopen: %s\n", dlerror());
      return 1;
    }
    if (i == 0) {
      late = std::thread([&, library] {
        used = Use(library) ? 1 : 2;
        while (!end) usleep(1000);
      });
      while (used == 0) usleep(1000);
    }
    if (!Use(library)) {
      std::printf("FAIL use: round %d\n", i);
      return 1;
    }
    dlclose(library);
    if (i == 9) after_first = ResidentKb();
  }
  std::printf("ok sixty rounds\n");
  const long growth = ResidentKb() - after_first;
  if (growth < 4096) {
    std::printf("ok memory does not grow (%ld KiB in 50 rounds)\n", growth);
  } else {
    std::printf("FAIL memory does not grow: %ld KiB in 50 rounds\n", growth);
  }
  end = true;
  late.join();
  std::printf("%s a thread that used the library ends after dlclose\n", used == 1 ? "ok" : "FAIL");
  return growth < 4096 && used == 1 ? 0 : 1;
}
