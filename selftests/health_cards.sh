#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# Health buffers that real cards left behind, as drivers printed them, put into the model: the
# driver shows the same values, and comes to the right verdict. Sources and whole prints are in the
# host's test, selftests/host/tests/health_cards.rs.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh

# A print's values, in the order of the table's columns; - where the print has none. Usage: prints
prints() {
	# The column with two to three digits is hw_id, without its zeros.
	cat <<-PRINTS
		0x00000001 0x2097ce84 0x20a4996c 0x20a49a10 - 20f - 0 0x7 0x40d0 0x141a0fac
		0x00000000 0x00000000 0x0080e428 0x0080e070 - 20b - 2 0x7 0x00c0 0xe01a00e2
		0xfc3fc043 0x0001b41c 0x008033b4 0x0080365c - 20d - 0 0x8 0x003d 0x101803e8
		0x08040700 0x00000000 0x00aaf800 0x00aaf70c 1634819758 20d 3 9 0x1 0x802b 0x102001ec
		0x00000073 0x00000073 0x20a36f94 0x20a0e5b4 - 212 - 0 0x10 0x0000 0x16631eb8
		0x0521945b 0x00000000 0x21492f38 0x2102d5f0 1742220438 212 3 3 0x1 0x8f7a 0x162c040c
		0x0000001e 0x00000000 0x20adec54 0x20adeeb0 - - 2 - 0x1 - -
		0x00000003 0x00000000 0x00000000 0x00000000 196 21e 3 5 0x1 0x035e 0x2830046c
		0x00000003 0x00000000 0x00000000 0x00000000 203 21e 3 7 0x1 0x035e 0x2830046c
		0x00000003 0x00000000 0x00000000 0x00000000 210 21e 3 3 0x1 0x035e 0x2830046c
		0x00000003 0x00000000 0x00000000 0x00000000 217 21e 3 0 0x1 0x035e 0x2830046c
		0x00000003 0x00000000 0x00000000 0x00000000 224 21e 3 2 0x1 0x035e 0x2830046c
		0x00000003 0x00000000 0x00000000 0x00000000 231 21e 3 2 0x1 0x035e 0x2830046c
		0x00000003 0x00000000 0x00000000 0x00000000 0 21e 3 7 0x1 0x035e 0x2830046c
		0x00000003 0x00000000 0x00000000 0x00000000 245 21e 3 5 0x1 0x035e 0x2830046c
	PRINTS
}

# The versions that drivers printed beside the raw word.
version_of() {
	case $1 in
	0x141a0fac) echo 20.26.4012 ;;
	0x101803e8) echo 16.24.1000 ;;
	0x102001ec) echo 16.32.492 ;;
	0x16631eb8) echo 22.99.7864 ;;
	0x162c040c) echo 22.44.1036 ;;
	0x2830046c) echo 40.48.1132 ;;
	# Printed as 14.26.226, which its raw word does not say.
	0xe01a00e2) echo 224.26.226 ;;
	esac
}

name_of_synd() {
	case $1 in
	0x1) echo 'firmware internal error' ;;
	0x7) echo 'embedded processor does not respond' ;;
	0x8) echo 'unrecoverable hardware error' ;;
	0x10) echo 'high temperature' ;;
	esac
}

# A line that the buffer has to have; none if the print does not have the value.
# Usage: expect NAME VALUE
expect() { [ "${2#-}" = '' ] || echo "$1: $2"; }

# What of the expected lines the buffer does not have. Usage: missing, with lines in $WORK/expected
missing() {
	show health/buffer >"$WORK/buffer"
	grep -v -x -F -f "$WORK/buffer" "$WORK/expected"
}

# The lines that the driver has to show of a print. The arguments are a line of prints.
expected_of() {
	expect 'assert_var[0]' "$1"
	expect 'assert_var[1]' "$2"
	expect 'assert_var[5]' 0x00000000
	expect assert_exit_ptr "$3"
	expect assert_callra "$4"
	case $5 in
	-) ;;
	?????*) expect time "$5 ($(date -u -d "@$5" +%Y-%m-%dT%H:%M:%SZ))" ;;
	*) expect time "$5 (the device's own time: it was not told the date)" ;;
	esac
	[ "$6" = - ] || expect hw_id "0x00000$6"
	case $7 in
	2) expect severity '2 (CRITICAL)' ;;
	3) expect severity '3 (ERROR)' ;;
	*) expect severity '0 (not valid, counts as 3 ERROR)' ;;
	esac
	expect irisc_index "$8"
	expect synd "$(printf '0x%02x (%s)' "$9" "$(name_of_synd "$9")")"
	expect ext_synd "${10}"
	[ "${11}" = - ] || expect fw_version "${11} ($(version_of "${11}"))"
	expect rfr 0
	expect verdict 'firmware reports a failure, and does not ask for a reset (rfr=0)'
}

# Put a print into the model's buffer and look at what the driver makes of it. The arguments are a
# line of prints.
try_print() {
	request='health set valid=0 severity=0 rfr=0 crr=0'
	for pair in "assert_var0=$1" "assert_var1=$2" "assert_exit_ptr=$3" "assert_callra=$4" \
		"time=$5" "hw_id=0x00000$6" "severity=$7" "irisc_index=$8" "ext_synd=${10}" \
		"fw_version=${11}"; do
		[ "${pair%-}" != "$pair" ] || request="$request $pair"
	done
	[ "$7" = - ] || request="$request valid=1"
	# The syndrome last: from then on the driver reads the rest.
	hca "$request" && hca "health set synd=$9"
	suffers syndrome
	expected_of "$@" >"$WORK/expected"
	is "lines that are missing" "$(missing)" ''
	is "verdict" "$(value health/state state)" 'syndrome (3)'
	hca 'health clear'
	suffers none
}

test_each_print_is_shown_with_the_same_values() {
	count=0
	prints >"$WORK/prints"
	while read -r line; do
		count=$((count + 1))
		# shellcheck disable=SC2086 # The columns are the arguments.
		try_print $line </dev/null
	done <"$WORK/prints"
	is "prints" "$count" 15
	works "after all of them"
}

# What several drivers printed of cards that had gone: all ones.
test_a_card_that_is_gone() {
	hca 'pci dead'
	verdict gone 8
	status gone 3
	is "refresh" "$(errno_of health/refresh 1)" ENODEV
	cat >"$WORK/expected" <<-ONES
		assert_var[0]: 0xffffffff
		assert_var[5]: 0xffffffff
		assert_exit_ptr: 0xffffffff
		fw_version: 0xffffffff (255.255.65535)
		hw_id: 0xffffffff
		irisc_index: 255
		synd: 0xff (unknown)
		ext_synd: 0xffff
		verdict: all ones: the device did not answer the reads
	ONES
	is "lines that are missing" "$(missing)" ''
	has "evidence" "$(show health/evidence)" '^buffer: not read \(the device did not answer\)'
	unbind
	hca 'pci alive'
	hca reset
	is "bind" "$(bind_errno)" 0
	works "bound again"
}

# The card of the fifth print went that way 73 seconds later, with the high temperature still there.
test_a_card_that_got_too_hot_and_went() {
	hca 'event TEMP_WARN 0 00000000000000000000000000000003'
	suffers temperature
	hca 'health set synd=0x10 assert_var0=0x73 assert_var1=0x73'
	suffers 'syndrome temperature'
	hca 'pci dead'
	status gone 3
	has "evidence" "$(show health/evidence | sed -n 1p)" 'first failure, which was not fatal'
	is "synd" "$(value health/evidence synd)" '0x10 (high temperature)'
	is "assert_var[0]" "$(value health/evidence 'assert_var[0]')" 0x00000073
	unbind
	hca 'pci alive'
	hca reset
	is "bind" "$(bind_errno)" 0
	works "bound again"
}

need_model
run_cases test_each_print_is_shown_with_the_same_values test_a_card_that_is_gone \
	test_a_card_that_got_too_hot_and_went
