/* Reads a file with a plugin of libelektra, adds one key and writes it, again and again in one
 * process, which keeps the keys until it has read the new ones, as a program does that uses
 * them. `bench/keyset/run` takes it from the directory that KDB names:
 *
 *   cc -O3 benchmark_append.c -o $KDB/benchmark_append -I ELEKTRA/src/include -I BUILD/src/include \
 *      -L BUILD/lib -lelektra-core -lelektra-kdb -lelektra-plugin
 *
 *   benchmark_append <file> <parent> <plugin> <rounds>
 *
 * Prints a line `round;wall;CPU` for each round, in microseconds. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plugin.h"

static long microseconds (clockid_t clock)
{
	struct timespec now;
	clock_gettime (clock, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

int main (int argc, char ** argv)
{
	if (argc != 5) return fprintf (stderr, "usage: %s <file> <parent> <plugin> <rounds>\n", argv[0]);
	Opened opened = open_plugin (argv[1], argv[2], argv[3]);
	Plugin * plugin = opened.plugin;
	Key * parent = opened.parent;
	KeySet * old = ksNew (0, KS_END);
	for (int round = 0; round < atoi (argv[4]); ++round)
	{
		long wall = microseconds (CLOCK_MONOTONIC);
		long cpu = microseconds (CLOCK_PROCESS_CPUTIME_ID);
		KeySet * keys = ksNew (0, KS_END);
		if (plugin->kdbGet (plugin, keys, parent) < 0) return 1;
		Key * more = keyDup (parent, KEY_CP_NAME);
		char name[32];
		snprintf (name, sizeof name, "more%d", round);
		keyAddBaseName (more, name);
		ksAppendKey (keys, more);
		if (plugin->kdbSet (plugin, keys, parent) < 0) return 1;
		ksDel (old);
		old = keys;
		printf ("%d;%ld;%ld\n", round, microseconds (CLOCK_MONOTONIC) - wall,
			microseconds (CLOCK_PROCESS_CPUTIME_ID) - cpu);
		fflush (stdout);
	}
	ksDel (old);
	close_plugin (opened);
	return 0;
}
