/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a context, looks at this machine, and plans 16 cards of a cluster that a file describes.
 * usage: plan_c examples/data/cluster.json */
#include <aistation/aistation.h>
#include <stdio.h>
#include <stdlib.h>

static void check(aist_status status, aist_error* error) {
  if (status == AIST_OK) return;
  fprintf(stderr, "%s (%s)\n", aist_error_message(error), aist_error_reason(error));
  aist_error_free(error);
  exit(1);
}

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* text = malloc(1 << 20);
  if (file == NULL || text == NULL) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(1);
  }
  *size = fread(text, 1, 1 << 20, file);
  fclose(file);
  return text;
}

int main(int argc, char** argv) {
  static const char request[] = "{\"cards\": 16, \"need_nics\": true, \"department\": \"risk\"}";
  aist_context* context = NULL;
  aist_store* store = NULL;
  aist_allocator_state* alloc = NULL;
  aist_bytes* machine = NULL;
  aist_bytes* placement = NULL;
  aist_error* error = NULL;
  aist_store_opts in_memory = AIST_STORE_OPTS_INIT;
  size_t size = 0;
  char* inventory;
  if (argc != 2) {
    fprintf(stderr, "usage: %s INVENTORY.json\n", argv[0]);
    return 2;
  }
  inventory = read_file(argv[1], &size);
  check(aist_context_create(NULL, &context, &error), error);
  check(aist_accel_discover(context, NULL, AIST_FORMAT_JSON, &machine, &error), error);
  printf("this machine: %zu bytes of inventory\n", aist_bytes_size(machine));
  check(aist_store_open(context, &in_memory, &store, &error), error);
  check(aist_alloc_open(context, store, AIST_FORMAT_JSON, inventory, size, &alloc, &error), error);
  check(aist_alloc_plan(alloc, AIST_FORMAT_JSON, request, sizeof(request) - 1, &placement, &error),
        error);
  printf("%s\n", (const char*)aist_bytes_data(placement));
  aist_bytes_free(placement);
  aist_alloc_free(alloc);
  aist_store_free(store);
  aist_bytes_free(machine);
  aist_context_free(context);
  free(inventory);
  return 0;
}
