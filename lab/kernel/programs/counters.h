/* Counters of the kernel, for programs that run in the virtual machine. */
#ifndef ISOTHERM_LAB_KERNEL_COUNTERS_H
#define ISOTHERM_LAB_KERNEL_COUNTERS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with a line that names what failed; errno says why. */
static inline void require(int holds, const char *action)
{
	if (!holds) {
		perror(action);
		exit(2);
	}
}

/* Returns the value that stands beside `name` in /proc/vmstat; 0 if the kernel has no such. */
static inline unsigned long vmstat(const char *name)
{
	char found[64];
	unsigned long value, result = 0;
	FILE *file = fopen("/proc/vmstat", "r");

	require(file != NULL, "/proc/vmstat");
	while (fscanf(file, "%63s %lu", found, &value) == 2)
		if (strcmp(found, name) == 0)
			result = value;
	fclose(file);
	return result;
}

/* Returns how many interrupts asked processors to flush their TLB: row TLB of /proc/interrupts. */
static inline unsigned long tlb_interrupts(void)
{
	char line[1024];
	unsigned long sum = 0;
	FILE *file = fopen("/proc/interrupts", "r");

	require(file != NULL, "/proc/interrupts");
	while (fgets(line, sizeof(line), file)) {
		char *row = strstr(line, "TLB:");
		char *end;

		if (!row)
			continue;
		for (row += 4;; row = end) {
			unsigned long value = strtoul(row, &end, 10);

			if (end == row)
				break;
			sum += value;
		}
	}
	fclose(file);
	return sum;
}

#endif
