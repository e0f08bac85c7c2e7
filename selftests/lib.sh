# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# What the tests share. A test is a script with functions test_...; each is one case, and its name
# is what it shows:
#
#	#!/bin/sh
#	# models: cx6dx
#	. ./lib.sh
#
#	test_nop_works() {
#		model fault add NOP status=3
#		is "errno" "$(errno_of cmd/nop 1)" EINVAL
#		check "the log names the command" logged 'NOP\(0x80d\)'
#	}
#
#	need_model
#	run_cases test_nop_works
#
# A case goes on after a check that failed, and fails at its end. After each case the model's faults
# are taken away; its notes and the kernel log must be clean. A driver that was loaded with other
# parameters, or unloaded, is loaded as it was at the start at the end of the script.
#
# Variables: BDF is the PCI address of the function to test (the first of the vendor, if unset),
# MODULE the path of the module.

# shellcheck source=/dev/null
. "${KSELFTEST_DIR:-../kselftest}/ktap_helpers.sh"
. ./kernel-reports.sh

DRIVER_NAME=mlx5_prm_rs
MODULE=${MODULE:-/lib/modules/mlx5_prm_rs.ko}
PCI_DRIVER=/sys/bus/pci/drivers/$DRIVER_NAME
DEBUGFS_ROOT=/sys/kernel/debug/$DRIVER_NAME
WORK=$(mktemp -d /tmp/selftest.XXXXXX) || exit "$KSFT_FAIL"
CASE_FAILED=0
DIRTY=0

# Print why nothing can be tested, and end. Usage: skip_all REASON
skip_all() {
	ktap_print_header
	ktap_skip_all "$*"
	exit "$KSFT_SKIP"
}

# The function to test. Usage: find_function
find_function() {
	for at in /sys/bus/pci/devices/*; do
		if [ "$(cat "$at/vendor")" = 0x15b3 ]; then
			echo "${at##*/}"
			return 0
		fi
	done
	return 1
}

[ "$(id -u)" = 0 ] || skip_all "only root can read debugfs and load modules"
BDF=${BDF:-$(find_function)} || skip_all "this machine has no PCI function of the vendor"
DEBUGFS=$DEBUGFS_ROOT/$BDF
[ -d "/sys/module/$DRIVER_NAME" ] || skip_all "the module $DRIVER_NAME is not loaded"
[ -d "$DEBUGFS" ] || skip_all "$DRIVER_NAME does not drive $BDF, or debugfs is not mounted"

# --- The device model

# Send a request to the model; its answer goes to stdout. Usage: model WORD...
model() { hca "$*"; }

# Skip the whole script without a model.
need_model() {
	hca variant >"$WORK/variant" 2>/dev/null ||
		skip_all "needs the device model (selftests/hca)"
	hca 'conformance clear' >/dev/null
}

# A counter of the model. Usage: model_counter NAME
model_counter() { hca counters | sed -n "s/^$1: //p"; }

# Wait until the model's counter has gone up by N since it was VALUE.
# Usage: model_wait commands|completions|events|interrupts VALUE N
model_wait() { hca "wait $1 $(($2 + $3))"; }

# --- Checks

fail() {
	CASE_FAILED=1
	printf '# %s\n' "$*"
}

# Usage: check DESCRIPTION COMMAND...
check() {
	description=$1
	shift
	"$@" >"$WORK/check" 2>&1 && return 0
	fail "$description: failed: $*"
	head -n 20 "$WORK/check" | sed 's/^/#   /'
	return 1
}

# Usage: check_not DESCRIPTION COMMAND...
check_not() {
	description=$1
	shift
	"$@" >"$WORK/check" 2>&1 || return 0
	fail "$description: not expected to succeed: $*"
	head -n 20 "$WORK/check" | sed 's/^/#   /'
	return 1
}

# Usage: is DESCRIPTION ACTUAL EXPECTED
is() {
	[ "$2" = "$3" ] && return 0
	fail "$1: is '$2', expected '$3'"
	return 1
}

# Usage: is_within DESCRIPTION ACTUAL LEAST MOST
is_within() {
	[ "$2" -ge "$3" ] 2>/dev/null && [ "$2" -le "$4" ] && return 0
	fail "$1: is '$2', expected $3 to $4"
	return 1
}

# Usage: has DESCRIPTION TEXT PATTERN, where PATTERN is an extended regular expression
has() {
	printf '%s\n' "$2" | grep -q -E -e "$3" && return 0
	fail "$1: nothing matches '$3' in:"
	printf '%s\n' "$2" | head -n 20 | sed 's/^/#   /'
	return 1
}

# The case cannot be tried here. Usage: skip_case REASON; return
skip_case() { CASE_SKIPPED="$*"; }

# --- The driver's files; FILE is relative to the function's directory

# The value of the line "NAME: VALUE". Usage: value FILE NAME
# Without a process of its own: tests read values over and over, and a process takes its time.
value() {
	while IFS= read -r line; do
		case $line in
		"$2: "*)
			printf '%s\n' "${line#*: }"
			return
			;;
		esac
	done <"$DEBUGFS/$1"
}

# The first word of such a value. Usage: number FILE NAME
number() {
	all=$(value "$1" "$2")
	printf '%s\n' "${all%% *}"
}

# All of a file. Usage: show FILE
show() { cat "$DEBUGFS/$1"; }

# The errno that writing TEXT to FILE ends with, by name; "0" if it works. Usage: errno_of FILE TEXT
errno_of() {
	if error=$({ echo "$2" >"$DEBUGFS/$1"; } 2>&1); then
		echo 0
	else
		errno_name "${error##*: }"
	fi
}

# The same for reading. Usage: errno_of_read FILE
errno_of_read() {
	if error=$(cat "$DEBUGFS/$1" 2>&1 >/dev/null); then
		echo 0
	else
		errno_name "${error##*: }"
	fi
}

# The name of an errno, from the C library's text. Usage: errno_name TEXT
errno_name() {
	case $1 in
	*'not permitted') echo EPERM ;;
	'No such file'*) echo ENOENT ;;
	'Interrupted'*) echo EINTR ;;
	'I/O error' | 'Input/output error') echo EIO ;;
	'Argument list too long') echo E2BIG ;;
	*'temporarily unavailable') echo EAGAIN ;;
	*'allocate memory' | 'Out of memory') echo ENOMEM ;;
	'Permission denied') echo EACCES ;;
	'Bad address') echo EFAULT ;;
	*'busy') echo EBUSY ;;
	'No such device') echo ENODEV ;;
	'Operation canceled') echo ECANCELED ;;
	'Invalid argument') echo EINVAL ;;
	'No space left'*) echo ENOSPC ;;
	*'out of range' | 'Result not representable') echo ERANGE ;;
	'No message of desired type') echo ENOMSG ;;
	'Invalid request descriptor') echo EBADR ;;
	'Protocol error') echo EPROTO ;;
	'Bad message') echo EBADMSG ;;
	*'not supported') echo EOPNOTSUPP ;;
	*'timed out') echo ETIMEDOUT ;;
	*) echo "unknown ($1)" ;;
	esac
}

# --- Time

# Milliseconds since the machine's start, in steps of 10, in NOW_MS.
look_at_clock() {
	read -r uptime rest </proc/uptime
	NOW_MS=${uptime%.*}${uptime#*.}0
}
now_ms() { look_at_clock && echo "$NOW_MS"; }

# Try a command until it succeeds, at most so long. For states that raise no event.
# Usage: until_true SECONDS COMMAND...
until_true() {
	look_at_clock
	limit=$((NOW_MS + $1 * 1000))
	shift
	until "$@" >/dev/null 2>&1; do
		look_at_clock
		if [ "$NOW_MS" -ge "$limit" ]; then
			return 1
		fi
		usleep 10000
	done
}

# For until_true. Usage: value_is FILE NAME EXPECTED
value_is() { [ "$(value "$1" "$2")" = "$3" ]; }

# --- The kernel log

# Forget what was logged before. Each case starts so.
log_mark() {
	LOG_MARK="selftest mark $$.$(now_ms).$((LOG_MARKS = LOG_MARKS + 1))"
	echo "$LOG_MARK" >/dev/kmsg
}

# What was logged since.
log_since() {
	dmesg | awk -v mark="$LOG_MARK" '
		index($0, mark) { text = ""; next }
		{ text = text $0 "\n" }
		END { printf "%s", text }'
}

# Whether a line since then matches. Usage: logged PATTERN
logged() { log_since | grep -q -E -e "$1"; }

# How many lines do. Usage: logged_count PATTERN
logged_count() { log_since | grep -c -E -e "$1"; }

log_is_clean() { ! log_since | grep -E "$KERNEL_REPORTS"; }

# --- Commands

# The model's log of commands, a line each, as "NAME OP_MOD"; MANAGE_PAGES takes several in a row.
# Usage: sent_commands [PATTERN OF NAMES]
sent_commands() {
	hca 'log 2000' | awk -v want="^(${1:-.*})\$" '$2 ~ want { print $2, $6 }'
}

# Send NOPs from a process in the background, whose errno is then in $WORK/nop.NAME.
# Usage: start_nop NAME
start_nop() {
	(errno_of cmd/nop 1 >"$WORK/nop.$1") &
}

# Start N such processes, with the names 1 to N. Usage: start_nops N
start_nops() {
	i=0
	while [ $((i += 1)) -le "$1" ]; do
		start_nop $i
	done
}

# How those that have ended did, as "COUNT ERRNO" lines. Usage: nop_results
nop_results() {
	cat "$WORK"/nop.* | sort | uniq -c | sed 's/^ *//'
	rm -f "$WORK"/nop.*
}

# Lines of cmd/outstanding in a state. Usage: outstanding in_flight|quarantined
outstanding() { awk -v state="$1" '$3 == state' "$DEBUGFS/cmd/outstanding" | wc -l; }

# For until_true. Usage: outstanding_is STATE N
outstanding_is() { [ "$(outstanding "$1")" = "$2" ]; }

# --- The driver

unload() {
	DIRTY=1
	rmmod "$DRIVER_NAME"
}

# Usage: load [PARAMETER=VALUE...]; succeeds also if the function was not taken: see is_bound
load() {
	DIRTY=1
	insmod "$MODULE" "$@"
}

# Usage: reload [PARAMETER=VALUE...]
reload() {
	unload && load "$@"
}

is_loaded() { [ -d "/sys/module/$DRIVER_NAME" ]; }
is_bound() { [ -e "$PCI_DRIVER/$BDF" ]; }

unbind() {
	DIRTY=1
	echo "$BDF" >"$PCI_DRIVER/unbind"
}

# The errno that binding ends with, by name; "0" if it works.
bind_errno() {
	DIRTY=1
	if error=$({ echo "$BDF" >"$PCI_DRIVER/bind"; } 2>&1); then
		echo 0
	else
		errno_name "${error##*: }"
	fi
}

# --- Cases

# Bring model and driver back to where they were.
clean_up() {
	trap - EXIT
	if [ -s "$WORK/variant" ]; then
		hca 'fault clear' >/dev/null
		hca 'release 64' >/dev/null 2>&1
	fi
	if [ "$DIRTY" = 1 ]; then
		! is_loaded || rmmod "$DRIVER_NAME"
		insmod "$MODULE"
	fi
	rm -rf "$WORK"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

model_is_content() {
	hca conformance >"$WORK/conformance"
	[ ! -s "$WORK/conformance" ] && return 0
	cat "$WORK/conformance"
	hca 'conformance clear' >/dev/null
	return 1
}

run_case() {
	CASE_FAILED=0 CASE_SKIPPED=
	log_mark
	"$1"
	if [ -s "$WORK/variant" ]; then
		hca 'fault clear' >/dev/null
		hca 'release 64' >/dev/null 2>&1
		check "the model finds nothing wrong" model_is_content
	fi
	check "the kernel log has no warning" log_is_clean
	name=$(echo "${1#test_}" | tr _ ' ')
	if [ "$CASE_FAILED" = 1 ]; then
		ktap_test_fail "$name"
	elif [ "$CASE_SKIPPED" ]; then
		ktap_print_msg "$CASE_SKIPPED"
		ktap_test_skip "$name"
	else
		ktap_test_pass "$name"
	fi
}

# Run cases and end the script. Usage: run_cases FUNCTION...
run_cases() {
	ktap_print_header
	ktap_set_plan $#
	for one; do
		run_case "$one"
	done
	clean_up
	ktap_finished
}
