/* The operations of `bench-keyset micro` on a key set that a plugin of libelektra reads, in
 * nanoseconds of CPU time each. `bench/keyset/run` takes it from the directory that KDB names; it is built as
 * benchmark_append.c is.
 *
 *   benchmark_micro <file> <parent> <plugin> */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plugin.h"

static struct timespec start;

static void begin (void)
{
	clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &start);
}

static void per (const char * what, ssize_t count)
{
	struct timespec now;
	clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
	double nanoseconds = (now.tv_sec - start.tv_sec) * 1e9 + (now.tv_nsec - start.tv_nsec);
	printf ("%s;%.1f\n", what, nanoseconds / count);
}

static void check (int holds)
{
	if (!holds) exit (1);
}

/* The names of a key set in an order that looks like none, as keys without values. */
static Key ** shuffled (KeySet * keys)
{
	ssize_t count = ksGetSize (keys);
	Key ** names = malloc (count * sizeof *names);
	for (ssize_t at = 0; at < count; ++at)
	{
		names[at] = keyDup (ksAtCursor (keys, at), KEY_CP_NAME);
	}
	srand (7);
	for (ssize_t at = count - 1; at > 0; --at)
	{
		ssize_t other = rand () % (at + 1);
		Key * swapped = names[at];
		names[at] = names[other];
		names[other] = swapped;
	}
	return names;
}

static void look_up (KeySet * keys, Key ** names, const char * what)
{
	ssize_t count = ksGetSize (keys);
	begin ();
	for (ssize_t at = 0; at < count; ++at)
	{
		check (ksLookup (keys, names[at], 0) != NULL);
	}
	per (what, count);
}

int main (int argc, char ** argv)
{
	if (argc != 4) return fprintf (stderr, "usage: %s <file> <parent> <plugin>\n", argv[0]);
	Opened opened = open_plugin (argv[1], argv[2], argv[3]);
	Plugin * plugin = opened.plugin;
	Key * parent = opened.parent;
	KeySet * keys = ksNew (0, KS_END);
	check (plugin->kdbGet (plugin, keys, parent) >= 0);
	ssize_t count = ksGetSize (keys);

	Key ** names = shuffled (keys);
	look_up (keys, names, "lookup by name");
	Key ** cascading = shuffled (keys);
	for (ssize_t at = 0; at < count; ++at)
	{
		keySetNamespace (cascading[at], KEY_NS_CASCADING);
	}
	look_up (keys, cascading, "cascading lookup");

	Key ** made = malloc (count * sizeof *made);
	begin ();
	for (ssize_t at = 0; at < count; ++at)
	{
		made[at] = keyNew (keyName (names[at]), KEY_END);
	}
	per ("new key", count);
	KeySet * set = ksNew (0, KS_END);
	begin ();
	for (ssize_t at = 0; at < count; ++at)
	{
		ksAppendKey (set, made[at]);
	}
	per ("append in random order", count);

	KeySet * loaded = ksDup (keys);
	begin ();
	for (ssize_t at = 0; at < count; ++at)
	{
		ksAppendKey (loaded, keyNew (keyName (names[at]), KEY_END));
	}
	per ("replace in a loaded set", count);

	begin ();
	KeySet * copy = ksDup (keys);
	check (ksGetSize (ksCut (copy, parent)) == count);
	per ("copy, cut all", 1);
	close_plugin (opened);
	return 0;
}
