/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank of a small training job. It reads its shard (file index modulo WORLD_SIZE equals RANK)
 * through dataset.h, three epochs long, and keeps a checksum in place of a model.
 *
 * After each epoch every rank writes epoch-<e>.rank-<r> into the checkpoint directory; rank 0 waits
 * for all of them and writes epoch-<e>.checkpoint. That file is what counts: a rank starts after
 * the last epoch that has one, and begins an epoch only when the one before is complete. Files are
 * written under another name, then renamed.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aistation/dataset.h"

enum { kBufferBytes = 1 << 18, kPathBytes = 4096, kMaxEpochs = 1000 };

struct trainer {
  unsigned rank;
  unsigned world;
  unsigned epochs;
  unsigned slow_epoch;   /* 0: none */
  unsigned slow_ms;      /* length of that epoch */
  unsigned wait_seconds; /* for the other ranks */
  const char* checkpoints;
  aist_dataset* dataset;
  char* buffer;
};

struct shard {
  uint64_t files;
  uint64_t bytes;
  uint64_t checksum;
};

static void fail(const char* format, ...) {
  va_list arguments;
  fflush(stdout);
  fprintf(stderr, "trainer: ");
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void check(aist_status status, aist_error* error, const char* what) {
  if (status != AIST_OK) fail("%s: %s", what, aist_error_message(error));
}

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_ms(double ms) {
  struct timespec t;
  if (ms <= 0) return;
  t.tv_sec = (time_t)(ms / 1e3);
  t.tv_nsec = (long)((ms - 1e3 * (double)t.tv_sec) * 1e6);
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}

/* FNV-1a over 8 bytes at a time: a stand-in for the step of a model. */
static uint64_t step(uint64_t sum, const char* data, size_t size) {
  size_t i;
  for (i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, data + i, 8);
    sum = (sum ^ word) * UINT64_C(0x100000001b3);
  }
  for (; i < size; ++i) sum = (sum ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
  return sum;
}

static void write_file(const struct trainer* t, const char* name, const char* content) {
  char path[kPathBytes];
  char temporary[kPathBytes];
  size_t size = strlen(content);
  size_t done = 0;
  int fd;
  snprintf(path, sizeof(path), "%s/%s", t->checkpoints, name);
  snprintf(temporary, sizeof(temporary), "%s/.%s.%ld", t->checkpoints, name, (long)getpid());
  fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail("%s: %s", temporary, strerror(errno));
  while (done < size) {
    ssize_t n = write(fd, content + done, size - done);
    if (n < 0 && errno != EINTR) fail("%s: %s", temporary, strerror(errno));
    if (n > 0) done += (size_t)n;
  }
  if (fsync(fd) != 0 || close(fd) != 0) fail("%s: %s", temporary, strerror(errno));
  if (rename(temporary, path) != 0) fail("%s: %s", path, strerror(errno));
}

/* 1 when the file is there; its first 255 bytes go to `content` when that is not NULL. */
static int read_file(const struct trainer* t, const char* name, char* content) {
  char path[kPathBytes];
  FILE* file;
  size_t n;
  snprintf(path, sizeof(path), "%s/%s", t->checkpoints, name);
  file = fopen(path, "r");
  if (file == NULL) return 0;
  if (content != NULL) {
    n = fread(content, 1, 255, file);
    content[n] = '\0';
  }
  fclose(file);
  return 1;
}

static unsigned last_complete_epoch(const struct trainer* t) {
  unsigned epoch = 0;
  char name[64];
  for (;;) {
    snprintf(name, sizeof(name), "epoch-%u.checkpoint", epoch + 1);
    if (epoch + 1 > kMaxEpochs || !read_file(t, name, NULL)) return epoch;
    ++epoch;
  }
}

static struct shard read_shard(const struct trainer* t, unsigned epoch) {
  struct shard shard = {0, 0, UINT64_C(0xcbf29ce484222325)};
  const uint64_t count = aist_dataset_count(t->dataset);
  const uint64_t mine = (count + t->world - 1 - t->rank) / t->world;
  const double start = now_seconds();
  uint64_t i;
  for (i = t->rank; i < count; i += t->world) {
    aist_error* error = NULL;
    uint64_t size = 0;
    uint64_t offset = 0;
    check(aist_dataset_stat(t->dataset, i, NULL, &size, &error), error, "stat");
    while (offset < size) {
      size_t n = 0;
      check(aist_dataset_read(t->dataset, i, offset, t->buffer, kBufferBytes, &n, &error), error,
            "read");
      if (n == 0) fail("file %" PRIu64 " ends before its size", i);
      shard.checksum = step(shard.checksum, t->buffer, n);
      offset += n;
    }
    shard.files += 1;
    shard.bytes += size;
    if (epoch == t->slow_epoch && mine > 0) {
      const double due = (double)t->slow_ms * (double)shard.files / (double)mine;
      sleep_ms(due - 1e3 * (now_seconds() - start));
    }
  }
  return shard;
}

static void wait_for(const struct trainer* t, const char* name, char* content) {
  const double limit = now_seconds() + t->wait_seconds;
  while (!read_file(t, name, content)) {
    if (now_seconds() > limit) fail("%s did not appear within %u s", name, t->wait_seconds);
    sleep_ms(20);
  }
}

/* Rank 0: the sum of all ranks is the checkpoint. */
static void write_checkpoint(const struct trainer* t, unsigned epoch) {
  struct shard sum = {0, 0, 0};
  char name[64];
  char content[256];
  unsigned rank;
  for (rank = 0; rank < t->world; ++rank) {
    struct shard one;
    snprintf(name, sizeof(name), "epoch-%u.rank-%u", epoch, rank);
    wait_for(t, name, content);
    if (sscanf(content, "files=%" SCNu64 " bytes=%" SCNu64 " checksum=%" SCNx64, &one.files,
               &one.bytes, &one.checksum) != 3) {
      fail("%s: expected files=… bytes=… checksum=…", name);
    }
    sum.files += one.files;
    sum.bytes += one.bytes;
    sum.checksum += one.checksum;
  }
  if (sum.files != aist_dataset_count(t->dataset) || sum.bytes != aist_dataset_bytes(t->dataset)) {
    fail("epoch %u: the ranks read %" PRIu64 " files of %" PRIu64, epoch, sum.files,
         aist_dataset_count(t->dataset));
  }
  snprintf(content, sizeof(content), "files=%" PRIu64 " bytes=%" PRIu64 " checksum=%" PRIx64 "\n",
           sum.files, sum.bytes, sum.checksum);
  snprintf(name, sizeof(name), "epoch-%u.checkpoint", epoch);
  write_file(t, name, content);
}

static void run_epoch(const struct trainer* t, unsigned epoch) {
  const double start = now_seconds();
  const struct shard shard = read_shard(t, epoch);
  const double seconds = now_seconds() - start;
  char name[64];
  char content[256];
  snprintf(content, sizeof(content),
           "files=%" PRIu64 " bytes=%" PRIu64 " checksum=%" PRIx64 " microseconds=%.0f\n",
           shard.files, shard.bytes, shard.checksum, seconds * 1e6);
  snprintf(name, sizeof(name), "epoch-%u.rank-%u", epoch, t->rank);
  write_file(t, name, content);
  printf("rank %u epoch %u %s", t->rank, epoch, content);
  fflush(stdout);
  if (t->rank == 0) {
    write_checkpoint(t, epoch);
  } else {
    snprintf(name, sizeof(name), "epoch-%u.checkpoint", epoch);
    wait_for(t, name, NULL);
  }
}

static unsigned number(const char* what, const char* text, unsigned long most) {
  char* end = NULL;
  unsigned long value;
  if (text == NULL || *text < '0' || *text > '9') fail("%s: expected a whole number", what);
  errno = 0;
  value = strtoul(text, &end, 10);
  if (errno != 0 || *end != '\0' || value > most)
    fail("%s: '%s' is not 0 to %lu", what, text, most);
  return (unsigned)value;
}

static const char* environment(const char* name) {
  const char* value = getenv(name);
  if (value == NULL || *value == '\0') fail("environment variable %s is not set", name);
  return value;
}

static void help(void) {
  puts(
      "trainer: one rank of a small training job that reads a cached dataset\n\n"
      "usage: trainer [options]\n\n"
      "  --epochs N         epochs in all (default 3)\n"
      "  --slow-epoch E     stretch this epoch …\n"
      "  --slow-ms MS       … to this length (default 3000)\n"
      "  --wait-seconds S   longest wait for the other ranks (default 60)\n"
      "  --help             this text\n\n"
      "environment: RANK, WORLD_SIZE, AISTATION_DATASET (directory of the cached dataset),\n"
      "AISTATION_CHECKPOINT_DIR\n\n"
      "example:\n"
      "  RANK=0 WORLD_SIZE=1 AISTATION_DATASET=/data/faces AISTATION_CHECKPOINT_DIR=/tmp/c "
      "trainer");
}

static void parse(struct trainer* t, int argc, char** argv) {
  int i;
  for (i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--help") == 0) {
      help();
      exit(0);
    }
    if (strcmp(argv[i], "--epochs") == 0) {
      t->epochs = number("--epochs", value, kMaxEpochs);
    } else if (strcmp(argv[i], "--slow-epoch") == 0) {
      t->slow_epoch = number("--slow-epoch", value, kMaxEpochs);
    } else if (strcmp(argv[i], "--slow-ms") == 0) {
      t->slow_ms = number("--slow-ms", value, 3600000);
    } else if (strcmp(argv[i], "--wait-seconds") == 0) {
      t->wait_seconds = number("--wait-seconds", value, 86400);
    } else {
      fprintf(stderr, "trainer: unknown option '%s'; see --help\n", argv[i]);
      exit(2);
    }
    ++i;
  }
}

int main(int argc, char** argv) {
  struct trainer t = {0, 1, 3, 0, 3000, 60, NULL, NULL, NULL};
  aist_error* error = NULL;
  const char* path;
  unsigned epoch;
  parse(&t, argc, argv);
  t.world = number("WORLD_SIZE", environment("WORLD_SIZE"), 1000000);
  if (t.world == 0) fail("WORLD_SIZE: expected at least 1");
  t.rank = number("RANK", environment("RANK"), t.world - 1);
  t.checkpoints = environment("AISTATION_CHECKPOINT_DIR");
  path = environment("AISTATION_DATASET");
  t.buffer = malloc(kBufferBytes);
  if (t.buffer == NULL) fail("no memory");
  check(aist_dataset_open(path, AIST_NUL_TERMINATED, &t.dataset, &error), error, path);
  epoch = last_complete_epoch(&t);
  if (epoch > 0) printf("rank %u resumes after epoch %u\n", t.rank, epoch);
  while (epoch < t.epochs) run_epoch(&t, ++epoch);
  printf("rank %u done after epoch %u\n", t.rank, epoch);
  aist_dataset_free(t.dataset);
  free(t.buffer);
  return 0;
}
