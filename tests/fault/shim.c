/*
 * Preloaded into the processes of a fault run, so that a page shared with the driver decides what this machine cannot be
 * asked for: a wall clock that steps, a disk that syncs slowly, a disk that is full. Monotonic time is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct {
  volatile int64_t clock_offset_s, sync_delay_us, disk_full;
} off, *control = (void *)&off;

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("FAULT_CONTROL");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) control = page;
  if (fd >= 0) close(fd);
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = REAL(int, "clock_gettime", clockid_t, struct timespec *);
  int result = real(clock, at);
  if (!result && clock == CLOCK_REALTIME) at->tv_sec += control->clock_offset_s;
  return result;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  *at = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return at ? (*at = now.tv_sec) : now.tv_sec;
}

static void pause_before_sync(void) {
  int64_t delay = control->sync_delay_us;
  if (delay > 0) nanosleep(&(struct timespec){delay / 1000000, delay % 1000000 * 1000}, NULL);
}

int fsync(int fd) {
  pause_before_sync();
  return REAL(int, "fsync", int)(fd);
}

int fdatasync(int fd) {
  pause_before_sync();
  return REAL(int, "fdatasync", int)(fd);
}

static int refused(int fd) {
  struct stat found;
  if (!control->disk_full || fstat(fd, &found) || !S_ISREG(found.st_mode)) return 0;
  errno = ENOSPC;
  return 1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  return refused(fd) ? -1 : REAL(ssize_t, "write", int, const void *, size_t)(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  return refused(fd) ? -1 : REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  return refused(fd) ? -1 : REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)(fd, bytes, count, at);
}
