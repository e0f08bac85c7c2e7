// SPDX-License-Identifier: GPL-2.0
/*
 * as_user: run a program as another user, without any privilege.
 *
 * Usage: as_user UID PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long id;
	char *end;

	if (argc < 3) {
		fprintf(stderr, "usage: as_user UID PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	id = strtoul(argv[1], &end, 10);
	if (*end || !id) {
		fprintf(stderr, "as_user: '%s' is no number of a user but root\n", argv[1]);
		return 2;
	}
	if (setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id)) {
		fprintf(stderr, "as_user: cannot become user %lu: %s\n", id, strerror(errno));
		return 2;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "as_user: cannot run %s: %s\n", argv[2], strerror(errno));
	return 2;
}
