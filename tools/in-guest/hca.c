// SPDX-License-Identifier: GPL-2.0
/*
 * hca: send one request to the device model, from within the guest.
 *
 * Usage: hca [-c CARD] REQUEST
 *
 * The request goes over the serial line of the card (0 is the first) as one line; the
 * answer's payload lines go to stdout. Exit status: 0 for "ok", 1 for "error: REASON"
 * (shown on stderr), 2 for wrong usage, 4 when no model is attached.
 *
 * A lock keeps parallel callers apart, and signals wait until the answer is complete, so
 * that no caller reads the rest of another one's answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#define ANSWER_TIMEOUT_MS	30000
#define EXIT_NO_MODEL		4

/* The line is named by the card: ttyS0 is the console, the models follow. */
static int open_line(int card)
{
	const char *cards = getenv("CARDS");
	char path[32];
	int fd;

	if (!cards || card >= atoi(cards))
		return -1;
	snprintf(path, sizeof(path), "/dev/ttyS%d", card + 1);
	fd = open(path, O_RDWR | O_NOCTTY);
	if (fd >= 0 && flock(fd, LOCK_EX)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int send_request(int fd, const char *request)
{
	size_t length = strlen(request), done = 0;
	char *line = malloc(length + 2);

	if (!line)
		return -1;
	snprintf(line, length + 2, "%s\n", request);
	while (done < length + 1) {
		ssize_t n = write(fd, line + done, length + 1 - done);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			done += n;
	}
	free(line);
	return done == length + 1 ? 0 : -1;
}

/* Returns true if the line is the last of an answer, and sets the exit status. */
static int is_last(const char *line, int *status)
{
	if (!strcmp(line, "ok")) {
		*status = 0;
		return 1;
	}
	if (!strncmp(line, "error:", 6)) {
		fprintf(stderr, "hca: %s\n", line);
		*status = 1;
		return 1;
	}
	return 0;
}

static int copy_answer(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	static char line[1 << 16];
	size_t length = 0;
	int status = 1;

	for (;;) {
		char block[4096];
		ssize_t n, i;

		if (poll(&wait, 1, ANSWER_TIMEOUT_MS) <= 0) {
			fprintf(stderr, "hca: the model did not answer within %d s\n",
				ANSWER_TIMEOUT_MS / 1000);
			return 1;
		}
		n = read(fd, block, sizeof(block));
		if (n <= 0) {
			fprintf(stderr, "hca: the line to the model is closed\n");
			return 1;
		}
		for (i = 0; i < n; i++) {
			if (block[i] != '\n') {
				if (length < sizeof(line) - 1)
					line[length++] = block[i];
				continue;
			}
			line[length] = '\0';
			length = 0;
			if (is_last(line, &status))
				return status;
			puts(line);
		}
	}
}

int main(int argc, char **argv)
{
	sigset_t all;
	int card = 0, option, fd, status;

	while ((option = getopt(argc, argv, "c:")) != -1) {
		if (option != 'c')
			return 2;
		card = atoi(optarg);
	}
	if (optind + 1 != argc || card < 0) {
		fprintf(stderr, "usage: hca [-c CARD] 'REQUEST'\n");
		return 2;
	}
	fd = open_line(card);
	if (fd < 0) {
		fprintf(stderr, "hca: no device model is attached as card %d\n", card);
		return EXIT_NO_MODEL;
	}
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	tcflush(fd, TCIFLUSH);
	if (send_request(fd, argv[optind])) {
		fprintf(stderr, "hca: cannot write to the model\n");
		return 1;
	}
	status = copy_answer(fd);
	fflush(stdout);
	return status;
}
