/*
 * pageout KIND MIB [FILE]: writes MIB of memory, has the kernel page it out while a thread on each
 * other processor computes in the same address space, and prints what that took:
 *
 *     kind=anon pages=4096 swapped=4096 interrupts=45 flushes=15 deferred=4096 deferred_flushes=8
 *
 * Then reads the memory back. Exits with 1 if a byte differs. Kinds: anon, shmem, huge (pages).
 * Asks with madvise(2), or through FILE, the memory.reclaim of the control group that it runs in.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters.h"

enum { WORDS = 512 };

static const size_t page_bytes = 4096, huge_bytes = 2 << 20;

static pthread_barrier_t all_run;

static void pin_to(long processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	require(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
}

static void *compute(void *processor)
{
	volatile uint64_t sum = 0;

	pin_to((long)processor);
	pthread_barrier_wait(&all_run);
	for (;;)
		sum++;
	return NULL;
}

static uint64_t word_of(size_t page, size_t word)
{
	return (page * WORDS + word + 1) * 0x9e3779b97f4a7c15u;
}

static uint64_t *map(const char *kind, size_t bytes)
{
	int is_shared = strcmp(kind, "shmem") == 0;
	char *memory = mmap(NULL, bytes + huge_bytes, PROT_READ | PROT_WRITE,
			    MAP_ANONYMOUS | (is_shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	require(memory != MAP_FAILED, "mmap");
	memory += -(uintptr_t)memory % huge_bytes;
	if (strcmp(kind, "huge") == 0)
		require(madvise(memory, bytes, MADV_HUGEPAGE) == 0, "MADV_HUGEPAGE");
	return (uint64_t *)memory;
}

/* Asks for `bytes` of the control group's memory, whose file is `path`. */
static void reclaim(const char *path, size_t bytes)
{
	FILE *file = fopen(path, "w");

	require(file != NULL, path);
	fprintf(file, "%zu", bytes);
	fclose(file); /* fails if the kernel found less */
}

struct counts {
	unsigned long swapped, interrupts, flushes, deferred, deferred_flushes;
};

static struct counts count(void)
{
	return (struct counts){
		.swapped = vmstat("pswpout"),
		.interrupts = tlb_interrupts(),
		.flushes = vmstat("nr_tlb_remote_flush"),
		.deferred = vmstat("pageout_deferred"),
		.deferred_flushes = vmstat("pageout_deferred_flush"),
	};
}

int main(int argc, char **argv)
{
	size_t pages = argc == 3 || argc == 4 ? strtoul(argv[2], NULL, 10) * 256 : 0;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wrong = 0;
	uint64_t *memory;
	struct counts before, after;

	if (!pages) {
		fprintf(stderr, "usage: pageout anon|shmem|huge MIB [FILE]\n");
		return 2;
	}
	memory = map(argv[1], pages * page_bytes);
	pin_to(0);
	pthread_barrier_init(&all_run, NULL, processors);
	for (long processor = 1; processor < processors; processor++) {
		pthread_t thread;

		require(pthread_create(&thread, NULL, compute, (void *)processor) == 0, "thread");
	}
	pthread_barrier_wait(&all_run);
	for (size_t page = 0; page < pages; page++)
		for (size_t word = 0; word < WORDS; word++)
			memory[page * WORDS + word] = word_of(page, word);

	before = count();
	if (argc == 4)
		reclaim(argv[3], pages * page_bytes);
	else
		require(madvise(memory, pages * page_bytes, MADV_PAGEOUT) == 0, "MADV_PAGEOUT");
	after = count();
	printf("kind=%s pages=%zu swapped=%lu interrupts=%lu flushes=%lu deferred=%lu "
	       "deferred_flushes=%lu\n",
	       argv[1], pages, after.swapped - before.swapped,
	       after.interrupts - before.interrupts, after.flushes - before.flushes,
	       after.deferred - before.deferred,
	       after.deferred_flushes - before.deferred_flushes);
	fflush(stdout);

	for (size_t page = 0; page < pages; page++)
		for (size_t word = 0; word < WORDS; word++)
			wrong += memory[page * WORDS + word] != word_of(page, word);
	if (wrong)
		fprintf(stderr, "pageout: %zu words differ after they came back\n", wrong);
	return wrong != 0;
}
