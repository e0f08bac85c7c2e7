#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx bf2
# cpus: 2
# iommu: cx6dx
# debug: cx6dx
#
# The driver goes in whatever state the card is: bounded in time, leaving nothing, and it comes
# back.

. ./lib.sh
. ./lifecycle.sh

TIMEOUT_MS=800

# The driver goes by unbinding, and then, in the same state, with the module.
# Usage: goes_both_ways SETUP WELL MOST_MS
goes_both_ways() { goes "$@" unbind unload; }

# SETUP makes the state; WELL, a request of the model, makes the card well again.
# Usage: goes SETUP WELL MOST_MS WAY...
goes() {
	setup=$1 well=$2 most_ms=$3
	shift 3
	for way; do
		$setup
		timed "$way"
		echo "# $way took $TOOK ms"
		is_within "$way: milliseconds" "$TOOK" 0 "$most_ms"
		nothing_is_left "$way"
		wait
		rm -f "$WORK"/nop.*
		hca 'fault clear'
		hca "$well"
		hca release >/dev/null
		if [ "$way" = unbind ]; then
			is "bind" "$(bind_errno)" 0
		else
			check "load" load cmd_timeout_ms=$TIMEOUT_MS
		fi
		works "after $way"
	done
}

idle() { :; }

stalled() {
	hca 'health freeze'
	check "stall" until_true 10 value_is health/state state 'stalled (4)'
}

failed() {
	hca 'health set synd=8 rfr=1'
	check "failure" until_true 10 value_is health/state state 'failed (5)'
}

gone() {
	hca 'pci dead'
	check "gone" until_true 10 value_is health/state state 'gone (8)'
}

# Gone, but nobody has noticed yet.
going() { hca 'pci dead'; }

held() {
	hca 'fault add NOP hold times 8'
	start_nops 8
	check "eight commands wait" until_true 10 outstanding_is in_flight 8
}

quarantined() {
	hca 'fault add NOP drop times 3'
	start_nops 3
	check "three slots are quarantined" until_true 10 outstanding_is quarantined 3
}

silent() { hca 'fault add any drop times forever'; }

# The queue has 1024 entries.
events_coming() { hca 'eqe burst 900' >/dev/null; }

pages_wanted() { hca 'pages request 3000'; }

pages_held_up() {
	hca 'fault add MANAGE_PAGES op_mod=1 hold'
	hca 'pages request 700'
	hca 'wait held 1'
}

test_when_all_is_well() { goes_both_ways idle 'health run' 3000; }
test_when_firmware_stalls() { goes_both_ways stalled 'health run' 3000; }
test_when_firmware_failed() { goes_both_ways failed 'health clear' 3000; }
test_when_the_card_is_gone() { goes_both_ways gone 'pci alive' 3000; }
test_when_the_card_is_just_going() { goes_both_ways going 'pci alive' 5000; }

test_with_commands_in_flight() {
	# Commands that the device ends when the function is disabled already.
	hca 'conformance expect order'
	# Who writes has the file open: the module cannot go.
	held
	check_not "unload" unload
	goes idle 'health run' 5000 unbind
	hca 'conformance expect'
}

test_with_slots_in_quarantine() { goes_both_ways quarantined 'health run' 4000; }

test_when_no_command_comes_back() {
	hca 'conformance expect pages-held objects-left order'
	goes_both_ways silent 'fault clear' 5000
	hca 'conformance expect'
}

test_while_events_come() { goes_both_ways events_coming 'health run' 6000; }
test_while_pages_are_wanted() { goes_both_ways pages_wanted 'health run' 8000; }

test_while_pages_are_being_given() {
	# The device has taken the pages or not: the driver cannot know.
	hca 'conformance expect pages-held pages-take pages-excess order page-address'
	goes_both_ways pages_held_up 'health run' 15000
	hca 'conformance expect'
}

test_surprise_removal() {
	hca 'conformance expect order'
	for state in idle gone held; do
		$state
		timed remove_device
		is_within "$state: milliseconds" "$TOOK" 0 5000
		check_not "$state: the device" [ -e "/sys/bus/pci/devices/$BDF" ]
		check_not "$state: debugfs" [ -e "$DEBUGFS" ]
		is "$state: interrupts" "$(grep -F "@$BDF" /proc/interrupts)" ""
		wait
		rm -f "$WORK"/nop.*
		hca 'fault clear'
		hca release >/dev/null
		hca 'pci alive'
		echo 1 >/sys/bus/pci/rescan
		works "$state: found again"
	done
	hca 'conformance expect'
}

remove_device() { echo 1 >"/sys/bus/pci/devices/$BDF/remove"; }

test_again_and_again() {
	i=0
	while [ $((i += 1)) -le 15 ]; do
		unbind || fail "unbind $i"
		is "bind $i" "$(bind_errno)" 0 || break
	done
	works "15 times"
	check "unbind" unbind
	nothing_is_left "unbound"
	model_has_nothing "unbound"
	is "bind" "$(bind_errno)" 0
}

need_model
reload cmd_timeout_ms=$TIMEOUT_MS || skip_all "the driver cannot be loaded anew"
run_cases test_when_all_is_well \
	test_when_firmware_stalls \
	test_when_firmware_failed \
	test_when_the_card_is_gone \
	test_when_the_card_is_just_going \
	test_with_commands_in_flight \
	test_with_slots_in_quarantine \
	test_when_no_command_comes_back \
	test_while_events_come \
	test_while_pages_are_wanted \
	test_while_pages_are_being_given \
	test_surprise_removal \
	test_again_and_again
