/*
 * stress KIND MIB SECONDS: threads write to MIB of memory while the kernel pages it out, because they
 * ask for it and because a limit is smaller. Checks that no write is lost: ends with status 1 at the
 * first word that is not what was written last. Kinds: anon, huge, shmem (two mappings of a file, a
 * part of which is punched out now and then), fork (a child has the same pages), mlock.
 *
 * A page holds a counter for each thread, which that thread alone increments; the other words tell
 * the page and never change.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"

enum { WRITERS = 3, WORDS = 512, PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* What the threads of a process share. */
static struct {
	const char *kind;
	size_t pages;
	size_t punched;	 /* the first of the pages that are punched out; `pages` if none are */
	int file;	 /* of shmem */
	uint64_t *views[WRITERS]; /* one memory, mapped twice if it is shmem */
	uint32_t *counts[WRITERS]; /* of each writer, by page */
	time_t end;
} run;

static int is_kind(const char *kind)
{
	return strcmp(run.kind, kind) == 0;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t pattern(size_t page, size_t word)
{
	return (page * WORDS + word + 1) * 0x9e3779b97f4a7c15u;
}

static void fail(const char *subject, size_t page, uint64_t found, uint64_t expected)
{
	printf("stress %s: %s of page %zu is %#lx instead of %#lx\n", run.kind, subject, page, found,
	       expected);
	fflush(stdout);
	_exit(1);
}

static uint64_t *map(void)
{
	size_t bytes = run.pages * PAGE;
	int is_shared = run.file >= 0;
	char *memory = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
			    is_shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, run.file, 0);

	require(memory != MAP_FAILED, "mmap");
	if (!is_shared)
		memory += -(uintptr_t)memory % HUGE_PAGE;
	if (is_kind("huge"))
		require(madvise(memory, bytes, MADV_HUGEPAGE) == 0, "MADV_HUGEPAGE");
	return (uint64_t *)memory;
}

static void fill(void)
{
	for (size_t page = 0; page < run.pages; page++)
		for (size_t word = WRITERS; word < WORDS; word++)
			run.views[0][page * WORDS + word] = pattern(page, word);
}

static void check_page(const uint64_t *view, size_t page)
{
	for (size_t word = WRITERS; word < WORDS; word++)
		if (view[page * WORDS + word] != pattern(page, word))
			fail("the pattern", page, view[page * WORDS + word], pattern(page, word));
}

/* Increments a counter of a random page, of a few pages over and over, or checks a page. */
static void *write_counters(void *argument)
{
	size_t writer = (size_t)argument, near = 0;
	volatile uint64_t *view = run.views[writer];
	uint64_t state = 88172645463325252u + writer;

	while (time(NULL) < run.end) {
		for (int i = 0; i < 256; i++) {
			uint64_t random = next_random(&state);
			size_t page = i % 2 ? near + random % 8 : random % run.punched;
			volatile uint64_t *counter;

			if (page >= run.punched)
				page = 0;
			counter = &view[page * WORDS + writer];
			if (*counter != run.counts[writer][page])
				fail("a counter", page, *counter, run.counts[writer][page]);
			*counter = ++run.counts[writer][page];
			near = i % 64 ? near : page;
		}
		check_page(run.views[writer], near);
	}
	return NULL;
}

/* Asks for windows of the memory to be paged out; locks some of it for a moment, if asked to. */
static void *page_out(void *unused)
{
	uint64_t state = 1181783497276652981u;
	size_t window = run.pages < 512 ? run.pages : 512;

	(void)unused;
	while (time(NULL) < run.end) {
		size_t first = next_random(&state) % (run.pages - window + 1);
		char *begin = (char *)(run.views[0] + first * WORDS);

		require(madvise(begin, window * PAGE, MADV_PAGEOUT) == 0, "MADV_PAGEOUT");
		if (is_kind("mlock")) {
			require(mlock(begin, 16 * PAGE) == 0, "mlock");
			require(munlock(begin, 16 * PAGE) == 0, "munlock");
		}
	}
	return NULL;
}

/* Writes pages, punches them out of the file, and checks that they are empty. */
static void *punch(void *unused)
{
	uint64_t round = 0;

	(void)unused;
	while (time(NULL) < run.end && run.punched < run.pages) {
		size_t page = run.punched + round++ % (run.pages - run.punched);
		uint64_t *words = run.views[0] + page * WORDS;

		words[0] = round;
		madvise(words, PAGE, MADV_PAGEOUT);
		if (words[0] != round)
			fail("a word", page, words[0], round);
		require(fallocate(run.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, page * PAGE,
				  PAGE) == 0, "fallocate");
		if (words[0] != 0)
			fail("a hole", page, words[0], 0);
	}
	return NULL;
}

static unsigned long run_threads(void)
{
	pthread_t threads[WRITERS + 2];
	unsigned long writes = 0;

	for (size_t i = 0; i < WRITERS; i++)
		require(pthread_create(&threads[i], NULL, write_counters, (void *)i) == 0, "thread");
	require(pthread_create(&threads[WRITERS], NULL, page_out, NULL) == 0, "thread");
	require(pthread_create(&threads[WRITERS + 1], NULL, punch, NULL) == 0, "thread");
	for (size_t i = 0; i < WRITERS + 2; i++)
		pthread_join(threads[i], NULL);
	for (size_t page = 0; page < run.punched; page++) {
		check_page(run.views[0], page);
		for (size_t i = 0; i < WRITERS; i++) {
			uint64_t found = run.views[i][page * WORDS + i];

			if (found != run.counts[i][page])
				fail("a counter", page, found, run.counts[i][page]);
			writes += found;
		}
	}
	return writes;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "anon", "huge", "shmem", "fork", "mlock", NULL };
	size_t kind = 0;
	pid_t child = -1;
	int status = 0;
	unsigned long writes;

	while (argc == 4 && kinds[kind] && strcmp(argv[1], kinds[kind]) != 0)
		kind++;
	if (argc != 4 || !kinds[kind] || atol(argv[2]) <= 0 || atol(argv[3]) <= 0) {
		fprintf(stderr, "usage: stress anon|huge|shmem|fork|mlock MIB SECONDS\n");
		return 2;
	}
	run.kind = kinds[kind];
	run.pages = strtoul(argv[2], NULL, 10) * (1 << 20) / PAGE;
	run.punched = is_kind("shmem") ? run.pages * 7 / 8 : run.pages;
	run.file = is_kind("shmem") ? memfd_create("stress", 0) : -1;
	if (run.file >= 0)
		require(ftruncate(run.file, run.pages * PAGE + HUGE_PAGE) == 0, "ftruncate");
	run.views[0] = map();
	for (size_t i = 0; i < WRITERS; i++) {
		run.views[i] = i == 1 && run.file >= 0 ? map() : run.views[0];
		run.counts[i] = calloc(run.pages, sizeof(uint32_t));
		require(run.counts[i] != NULL, "calloc");
	}
	fill();
	if (is_kind("fork"))
		require((child = fork()) >= 0, "fork");
	run.end = time(NULL) + atol(argv[3]);
	writes = run_threads();
	if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
		return 1;
	if (child != 0)
		printf("stress %s: %zu pages, %lu writes, none lost\n", run.kind, run.pages, writes);
	return 0;
}
