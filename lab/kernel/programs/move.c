/*
 * move SECONDS: a thread writes to pages that are being paged out, while the main thread moves them
 * with UFFDIO_MOVE. Checks that no write through the old address reaches a page after its move, which
 * a stale TLB entry would allow. Exits with 1 at the first that does. Goes on for up to 20 times as
 * long until a page was moved, as emulated processors take seconds for one page-out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"

#ifndef UFFDIO_MOVE /* Debian 12's headers are of Linux 6.1, which lacks it. */
struct uffdio_move {
	uint64_t dst, src, len, mode;
	int64_t move;
};
#define UFFDIO_MOVE _IOWR(UFFDIO, 0x05, struct uffdio_move)
#define UFFD_FEATURE_MOVE (1 << 16)
#endif

enum { PAGE = 4096, PAGES = 512, WORDS = PAGE / 8, HOT_PAGES = 4, LOOKS = 20000, WRITES = 1 << 20, PATIENCE = 20 };

static volatile uint64_t *source, *target;
static void *unused_page;
static atomic_int ends;

static void *map(void)
{
	char *memory = mmap(NULL, 2 * PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(memory != MAP_FAILED, "mmap");
	memory += -(uintptr_t)memory % (PAGES * PAGE);
	require(madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE) == 0, "MADV_NOHUGEPAGE");
	return memory;
}

/*
 * The pages that this thread faults in wait in a batch of its processor, where reclaim cannot isolate
 * them, until more pages follow or madvise() drains the batch. The range of this madvise() has no
 * page, so that it flushes no entry of the TLB by itself.
 */
static void *write_hot_pages(void *unused)
{
	(void)unused;
	for (uint64_t count = 1; !atomic_load(&ends); count++) {
		source[count % HOT_PAGES * WORDS] = count;
		if (count % WRITES == 0)
			require(madvise(unused_page, PAGE, MADV_COLD) == 0, "MADV_COLD");
	}
	return NULL;
}

/* Makes all pages dirty, and has them paged out, over and over. */
static void *page_out(void *unused)
{
	(void)unused;
	while (!atomic_load(&ends)) {
		for (size_t page = HOT_PAGES; page < PAGES; page++)
			source[page * WORDS]++;
		require(madvise((void *)source, PAGES * PAGE, MADV_PAGEOUT) == 0, "MADV_PAGEOUT");
	}
	return NULL;
}

static int register_target(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_MOVE };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)target, .len = PAGES * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int faults = syscall(SYS_userfaultfd, O_CLOEXEC);

	require(faults >= 0, "userfaultfd");
	require(ioctl(faults, UFFDIO_API, &api) == 0, "UFFDIO_API");
	require(ioctl(faults, UFFDIO_REGISTER, &range) == 0, "UFFDIO_REGISTER");
	return faults;
}

/* Returns whether the page table has a swap entry for a page of the source. */
static int is_swapped(int pagemap, size_t page)
{
	uint64_t entry = 0;
	off_t offset = ((uintptr_t)source / PAGE + page) * sizeof(entry);

	require(pread(pagemap, &entry, sizeof(entry), offset) == sizeof(entry), "pagemap");
	return entry >> 62 & 1;
}

int main(int argc, char **argv)
{
	long seconds = argc == 2 ? atol(argv[1]) : 0;
	int pagemap = open("/proc/self/pagemap", O_RDONLY), faults;
	unsigned long moved = 0;
	pthread_t writer, reclaimer;
	time_t end = time(NULL) + seconds, latest = time(NULL) + PATIENCE * seconds;

	if (seconds <= 0) {
		fprintf(stderr, "usage: move SECONDS\n");
		return 2;
	}
	require(pagemap >= 0, "pagemap");
	source = map();
	target = map();
	unused_page = map();
	faults = register_target();
	require(pthread_create(&writer, NULL, write_hot_pages, NULL) == 0, "thread");
	require(pthread_create(&reclaimer, NULL, page_out, NULL) == 0, "thread");
	for (size_t round = 0; time(NULL) < (moved > 0 ? end : latest); round++) {
		size_t page = round % HOT_PAGES;
		struct uffdio_move move = {
			.dst = (uintptr_t)(target + page * WORDS),
			.src = (uintptr_t)(source + page * WORDS),
			.len = PAGE,
		};
		uint64_t first;

		if (!is_swapped(pagemap, page))
			continue;
		if (ioctl(faults, UFFDIO_MOVE, &move) != 0) {
			require(errno == EAGAIN || errno == EBUSY || errno == ENOENT, "UFFDIO_MOVE");
			continue;
		}
		moved++;
		first = target[page * WORDS];
		for (int i = 0; i < LOOKS; i++) {
			uint64_t found = target[page * WORDS];

			if (found == first)
				continue;
			printf("move: page %zu held %lu when it was moved, and %lu later\n", page,
			       first, found);
			return 1;
		}
		require(madvise((void *)move.dst, PAGE, MADV_DONTNEED) == 0, "MADV_DONTNEED");
	}
	atomic_store(&ends, 1);
	pthread_join(writer, NULL);
	pthread_join(reclaimer, NULL);
	printf("move: %lu pages moved, none written afterwards\n", moved);
	return moved == 0;
}
