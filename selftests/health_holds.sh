#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
# cpus: 2
# debug: cx6dx
#
# HEALTH-1: whatever one who waits for a command can hold, health goes on being watched. All slots
# are taken, others wait for one, firmware's requests for pages hang, and somebody hangs in, or
# reads again and again, each file of the driver.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh

# Files that can be written to, relative to the function's directory, but for those of health, whose
# settings would change what is tested, and of recovery, which would end it.
writable_files() {
	(cd "$DEBUGFS" && find . -type f -perm -200) | sed 's,^\./,,' |
		grep -v -E '^(health|recovery)/'
}

# Write to a file, and read it, over and over until $WORK/enough is there. Usage: user_of FILE
user_of() {
	until [ -e "$WORK/enough" ]; do
		echo 1 >"$DEBUGFS/$1"
		cat "$DEBUGFS/$1"
	done >/dev/null 2>&1
}

# Read all files over and over. Usage: reader
reader() {
	until [ -e "$WORK/enough" ]; do
		find "$DEBUGFS" -type f -perm -400 -exec cat '{}' ';'
	done >/dev/null 2>&1
}

hold_everything() {
	# Not one command comes back from here on, the page commands neither.
	hca 'fault add any drop times forever'
	i=0
	while [ $((i += 1)) -le 40 ]; do
		start_nop $i
	done
	hca 'pages request 8'
	for file in $(writable_files); do
		user_of "$file" &
	done
	reader &
	check "all slots are taken" until_true 60 outstanding_is in_flight 32
}

# Readings of the registers in ten seconds, from what comes in a second of a machine that may be
# busy with all this. Usage: rate
rate() {
	from=$(number health/state ticks) from_ms=$(now_ms)
	sleep 1
	echo $((($(number health/state ticks) - from) * 10000 / ($(now_ms) - from_ms)))
}

test_nothing_that_a_waiter_holds_delays_it() {
	is_within "files that are written to" "$(writable_files | wc -l)" 3 1000
	check "load" reload
	verdict healthy 1
	hold_everything
	is "commands" "$(value health/status commands_outstanding)" 32
	is_within "readings in ten seconds" "$(rate)" 60 130
	is "verdict" "$(value health/state state)" 'healthy (1)'
	is "the buffer can be read" "$(errno_of health/refresh 1)" 0
	# It notices what happens.
	suffers command-slow
	hca 'health freeze'
	verdict stalled 4
	check "no command waits" until_true 20 value_is health/status commands_outstanding 0
	# By the driver's own clock: the shell is kept busy by all this.
	gap_ms=$(value health/evidence gap_ms) late=$(value health/state longest_delay_us)
	echo "# stalled $gap_ms ms after the counter's last change;" \
		"the latest reading was $late us late"
	is_within "milliseconds to stalled" "$gap_ms" 200 1000
	is_within "longest_delay_us" "$late" 0 1000000
	touch "$WORK/enough"
	wait
	is "commands that waited" "$(nop_results)" '40 EIO'
	timed unbind
	is_within "milliseconds to unbind" "$TOOK" 0 5000
	hca 'fault clear'
	hca 'health run'
	hca release >/dev/null
	is "bind" "$(bind_errno)" 0
	works "bound again"
}

need_model
run_cases test_nothing_that_a_waiter_holds_delays_it
