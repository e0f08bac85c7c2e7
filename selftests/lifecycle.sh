# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# For tests that bind, unbind, load and unload: what may be left behind, and at what cost. To be
# sourced after lib.sh.

# The driver's threads for the function.
threads() { cat /proc/[0-9]*/comm 2>/dev/null | grep -E "^prm_[a-z]+@$BDF\$"; }

# What is left of the driver in the machine while the function is not bound; nothing is right.
leftovers() {
	[ ! -d "$DEBUGFS" ] || echo "debugfs: $DEBUGFS"
	grep -F "@$BDF" /proc/interrupts
	threads
	at=/sys/bus/pci/devices/$BDF
	[ "$(cat "$at/enable")" = 0 ] || echo "the PCI device is enabled ($(cat "$at/enable"))"
	# Command register of the configuration space, bit 2: bus master. A card that is gone cannot
	# be told anything, and reads as ones.
	command=$(dd if="$at/config" bs=1 skip=4 count=1 2>/dev/null | hexdump -e '"%d"')
	[ $((command & 4)) = 0 ] || [ "$command" = 255 ] || echo "the PCI device is bus master"
}

# What the model still has of a driver, but for commands that a fault has dropped.
model_leftovers() {
	hca stage | grep -v '^disabled$'
	hca pages | grep '^total: ' | grep -v ' 0$'
	hca objects
	hca jobs | grep -v ' dropped$'
}

# Usage: nothing_is_left DESCRIPTION
nothing_is_left() { is "$1: left in the machine" "$(leftovers)" ""; }

# Usage: model_has_nothing DESCRIPTION
model_has_nothing() { is "$1: left in the device" "$(model_leftovers)" ""; }

# The errno that loading ends with, by name; "0" if it works. Usage: load_errno [PARAMETER=VALUE...]
load_errno() {
	if error=$(load "$@" 2>&1); then
		echo 0
		return
	fi
	# busybox has words of its own for some errors.
	case ${error##*: } in
	'invalid parameters') echo EINVAL ;;
	'File exists') echo EEXIST ;;
	*) errno_name "${error##*: }" ;;
	esac
}

# Load the driver without a function, so that a test can bind. Usage: load_unbound
# [PARAMETER=VALUE...]
load_unbound() {
	! is_loaded || unload || return 1
	load "$@" && unbind
}

# Run a command that has to succeed; the milliseconds that it took are in TOOK afterwards.
# Usage: timed COMMAND...
timed() {
	look_at_clock
	from=$NOW_MS
	"$@" || fail "failed: $*"
	look_at_clock
	TOOK=$((NOW_MS - from))
}

# The driver works: bound, alive, and a command comes back. Usage: works DESCRIPTION
works() {
	check "$1: bound" is_bound &&
		is "$1: state" "$(value summary state)" alive &&
		is "$1: a NOP" "$(errno_of cmd/nop 1)" 0
}
