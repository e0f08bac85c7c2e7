# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# For tests of health: waiting for verdict and status, and listening to uevents. To be sourced after
# lib.sh.

# For until_true: the verdict on firmware. Usage: health_is WORD NUMBER
health_is() { value_is health/state state "$1 ($2)"; }

# Wait for a verdict. Usage: verdict WORD NUMBER
verdict() {
	check "the verdict becomes $1 ($2)" until_true 20 health_is "$1" "$2" ||
		show health/state | sed 's/^/#   /'
}

# For until_true: the function's status. Usage: status_is WORD NUMBER
status_is() { value_is health/status state "$1 ($2)"; }

# Wait for a status. Usage: status WORD NUMBER
status() {
	check "the status becomes $1 ($2)" until_true 20 status_is "$1" "$2" ||
		show health/status | sed 's/^/#   /'
}

# For until_true: what the function suffers from. Usage: suffers_from WORDS
suffers_from() { value_is health/status degradations "$1"; }

# Wait for degradations. Usage: suffers WORDS
suffers() {
	check "the function suffers from: $1" until_true 20 suffers_from "$1" ||
		show health/status | sed 's/^/#   /'
}

# Collect the uevents of the driver in $WORK/uevents, a line each, until stop_listening.
listen() {
	: >"$WORK/uevents"
	# The applet prints the environment of each event.
	uevent sh -c 'env | grep ^PRM_ | sort | tr "\n" " "; echo' >"$WORK/uevents" 2>/dev/null &
	listener=$!
	# Protocol 15 with a group: the kernel's own socket has none.
	check "it listens" until_true 5 awk \
		'$2 == 15 && $4 !~ /^0*$/ { found = 1 } END { exit !found }' \
		/proc/net/netlink
}

stop_listening() {
	kill "$listener"
	wait "$listener" 2>/dev/null
}

# Whether a uevent with all of these variables came. Usage: heard VARIABLE=VALUE...
heard() {
	cp "$WORK/uevents" "$WORK/heard"
	for variable; do
		grep -F -e "$variable " "$WORK/heard" >"$WORK/heard.left"
		mv "$WORK/heard.left" "$WORK/heard"
	done
	[ -s "$WORK/heard" ]
}

# A degradation begins or ends: log, history and uevents all say so.
# Usage: is_told_of begins|ends DEGRADATION WORD_AND_NUMBER
is_told_of() {
	check "uevent: $2 $1" until_true 10 heard PRM_EVENT=state "PRM_CHANGE=$2 $1" \
		"PRM_STATE=${3% *}" "PRM_STATE_NUMBER=${3#* }"
	check "log: $2 $1" until_true 5 logged "$BDF: state: .*: $2 $1"
	has "history: $2 $1" "$(show health/changes)" \
		"^[0-9]+ [0-9]+ [-0-9T:Z]+ ${3% *} \\(${3#* }\\) .*: $2 $1"
}
