# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# What the tests of the unmodified mlx5_core on the device model share. They show that the model is
# a ConnectX and not a stub that pleases our driver. A test is a script with functions test_...;
# each is one case, and its name is what it shows. After each case the model must have noted
# nothing but named exceptions, and the kernel log must have no warning and no failed command.

# shellcheck source=/dev/null
. "${KSELFTEST_DIR:-../kselftest}/ktap_helpers.sh"
. ../kernel-reports.sh

C_DRIVER=mlx5_core
WORK=$(mktemp -d /tmp/fidelity.XXXXXX) || exit "$KSFT_FAIL"
CASE_FAILED=0

# The host at the other end of the cable, and an address beside it.
PEER=192.0.2.2
PEER6=2001:db8::2
OWN=192.0.2.1
OWN6=2001:db8::1

# Print why nothing can be tested, and end. Usage: skip_all REASON
skip_all() {
	ktap_print_header
	ktap_skip_all "$*"
	exit "$KSFT_SKIP"
}

hca variant >"$WORK/variant" 2>/dev/null || skip_all "needs the device model (selftests/hca)"
[ -d "/sys/module/$C_DRIVER" ] || skip_all "the module $C_DRIVER is not loaded"
VARIANT=$(cat "$WORK/variant")
BDF=$(for at in /sys/bus/pci/devices/*; do
	[ "$(cat "$at/vendor")" != 0x15b3 ] || echo "${at##*/}"
done | head -n 1)
AT=/sys/bus/pci/devices/$BDF

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

# Usage: is DESCRIPTION ACTUAL EXPECTED
is() {
	[ "$2" = "$3" ] && return 0
	fail "$1: is '$2', expected '$3'"
	return 1
}

# Usage: at_least DESCRIPTION ACTUAL LEAST
at_least() {
	[ "$2" -ge "$3" ] 2>/dev/null && return 0
	fail "$1: is '$2', expected $3 or more"
	return 1
}

# Try a command until it succeeds, at most so long. Usage: until_true SECONDS COMMAND...
until_true() {
	tries=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		usleep 50000
	done
}

# --- The netdev

# Its name. Usage: netdev
netdev() { ls "$AT/net" 2>/dev/null; }

# A file of the netdev. Usage: net FILE
net() { cat "/sys/class/net/$(netdev)/$1"; }

net_is() { [ "$(net "$1")" = "$2" ]; }

# Bring the netdev up with both addresses, and wait until it can be used.
bring_up() {
	dev=$(netdev)
	ip addr replace $OWN/24 dev "$dev" 2>/dev/null || ip addr add $OWN/24 dev "$dev"
	ip link set "$dev" up
	ip -6 addr add $OWN6/64 dev "$dev" 2>/dev/null
	check "carrier" until_true 10 net_is carrier 1
	check "IPv6 address is usable" until_true 10 address_is_usable
}

# Duplicate address detection is done.
address_is_usable() {
	ip -6 addr show dev "$(netdev)" | grep "$OWN6" | grep -v -q tentative
}

# Every one of COUNT packets comes back. Usage: ping_all COUNT SIZE ADDRESS
ping_all() {
	ping -c "$1" -s "$2" -i 0.1 -W 5 "$3" >"$WORK/ping" 2>&1
	grep -q "^$1 packets transmitted, $1 packets received, 0% packet loss" "$WORK/ping" &&
		return 0
	cat "$WORK/ping"
	return 1
}

# A number of what the model says about NAME. Usage: said wire|vport NAME
said() { hca "$1" | sed -n "s/^$2: \([0-9]*\).*/\1/p"; }

# --- Cases

# Forget what was logged before. Each case starts so.
log_mark() {
	LOG_MARK="fidelity mark $$.$((LOG_MARKS = LOG_MARKS + 1))"
	echo "$LOG_MARK" >/dev/kmsg
}

# What was logged since.
log_since() {
	dmesg | awk -v mark="$LOG_MARK" '
		index($0, mark) { text = ""; next }
		{ text = text $0 "\n" }
		END { printf "%s", text }'
}

# Neither a warning of the kernel, nor an error of the driver.
log_is_clean() {
	! log_since | grep -E "$KERNEL_REPORTS|failed|[Ee]rror cqe|ERR CQE|timeout"
}

# The model noted nothing but what an exception covers, and each of those has a name.
model_is_content() {
	hca conformance >"$WORK/conformance"
	hca 'conformance excepted' | grep -v ' \[exception [a-z-]*\]$' >>"$WORK/conformance"
	[ ! -s "$WORK/conformance" ] && return 0
	cat "$WORK/conformance"
	hca 'conformance clear' >/dev/null
	return 1
}

run_case() {
	CASE_FAILED=0
	log_mark
	"$1"
	check "the model finds nothing wrong" model_is_content
	check "the kernel log has neither warning nor error" log_is_clean
	name=$(echo "${1#test_}" | tr _ ' ')
	if [ "$CASE_FAILED" = 1 ]; then
		ktap_test_fail "$name"
		log_since | tail -n 15 | sed 's/^/#   log: /'
	else
		ktap_test_pass "$name"
	fi
}

# Run cases and end the script. Usage: run_cases FUNCTION...
run_cases() {
	ktap_print_header
	ktap_set_plan $#
	LOG_MARKS=0
	for one; do
		run_case "$one"
	done
	rm -rf "$WORK"
	ktap_finished
}
