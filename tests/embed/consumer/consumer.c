/* SPDX-License-Identifier: Apache-2.0 */
/* Plans four cards of an inventory. usage: consumer INVENTORY.json */
#include <aistation/aistation.h>
#include <stdio.h>
#include <string.h>

static char inventory[1 << 20];

static int fail(const char* what, aist_error* error) {
  fprintf(stderr, "%s: %s\n", what, aist_error_message(error));
  aist_error_free(error);
  return 1;
}

int main(int argc, char** argv) {
  aist_context* context = NULL;
  aist_store* store = NULL;
  aist_allocator_state* alloc = NULL;
  aist_catalogue* catalogue = NULL;
  aist_bytes* placement = NULL;
  aist_error* error = NULL;
  size_t size;
  const char* request = "{\"cards\": 4}";
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return 2;
  size = fread(inventory, 1, sizeof(inventory), file);
  fclose(file);
  if (aist_check_version(AIST_API_VERSION, &error) != AIST_OK) return fail("version", error);
  if (aist_context_create(NULL, &context, &error) != AIST_OK) return fail("context", error);
  if (aist_catalogue_load(context, NULL, 0, &catalogue, &error) != AIST_OK)
    return fail("catalogue", error);
  if (aist_catalogue_count(catalogue) < 20) return fail("catalogue is small", NULL);
  if (aist_store_open(context, NULL, &store, &error) != AIST_OK) return fail("store", error);
  if (aist_alloc_open(context, store, AIST_FORMAT_JSON, inventory, size, &alloc, &error) !=
      AIST_OK) {
    return fail("inventory", error);
  }
  if (aist_alloc_plan(alloc, AIST_FORMAT_JSON, request, strlen(request), &placement, &error) !=
      AIST_OK) {
    return fail("plan", error);
  }
  printf("%s, %lu bytes of placement\n", aist_version_string(),
         (unsigned long)aist_bytes_size(placement));
  aist_bytes_free(placement);
  aist_alloc_free(alloc);
  aist_store_free(store);
  aist_catalogue_free(catalogue);
  aist_context_free(context);
  return aist_debug_live_objects() == 0 ? 0 : 3;
}
