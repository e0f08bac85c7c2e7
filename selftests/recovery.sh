#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# A function that died is brought back by a reset and a new start: by hand, or by itself with a
# back-off and a limit. What was shown before is still there.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh
. ./recovery_lib.sh

TIMEOUT_MS=3000

# Usage: recovers DESCRIPTION
recovers() {
	is "$1: errno" "$(errno_of recovery/trigger 1)" 0
	works "$1: recovered"
}

test_nothing_was_recovered_yet() {
	check "load" reload cmd_timeout_ms=$TIMEOUT_MS
	is "state" "$(value recovery/state state)" 'idle (0)'
	is "attempts" "$(value recovery/state attempts)" 0
	is "last" "$(value recovery/state last)" none
	is "auto" "$(show recovery/auto)" 0
	is "limit" "$(show recovery/limit)" 5
	is "backoff_ms" "$(show recovery/backoff_ms)" 1000
	is "history" "$(show recovery/history | grep -c -v '^#')" 0
}

test_settings_have_ranges() {
	for pair in limit:0 limit:1001 backoff_ms:9 backoff_ms:600001; do
		is "$pair" "$(errno_of "recovery/${pair%:*}" "${pair#*:}")" ERANGE
	done
	for pair in trigger:0 trigger:x auto:2 limit:x; do
		is "$pair" "$(errno_of "recovery/${pair%:*}" "${pair#*:}")" EINVAL
	done
}

test_a_function_that_is_well_is_restarted() {
	hca 'log clear'
	flrs=$(hca resets | sed -n 's/^function: //p')
	recovers "well"
	is "resets" "$(hca resets | sed -n 's/^function: //p')" $((flrs + 1))
	is "it was stopped in order" "$(sent_commands 'TEARDOWN_HCA|DISABLE_HCA' | wc -l)" 2
	is "and started" "$(sent_commands 'ENABLE_HCA|INIT_HCA' | wc -l)" 2
	check "the log has its begin" logged "$BDF: recovery: attempt 1 begins \(asked for\)"
	check "the log has its end" logged \
		"$BDF: recovery: attempt 1 succeeded after [0-9]+ ms by a function reset"
}

test_each_fault_is_cured() {
	# Commands whose output is garbage, or does not come, cannot undo everything.
	hca 'conformance expect order pages-held objects-left'
	for fault in $FAULTS; do
		check "$fault" "fault_$fault"
		recovers "$fault"
		wait
		rm -f "$WORK"/nop.*
		is "$fault: quarantined" "$(outstanding quarantined)" 0
	done
	hca 'conformance expect'
	is "attempts" "$(value recovery/state attempts)" 8
	is "succeeded" "$(value recovery/state succeeded)" 8
	line='^8 [0-9]+ .* asked for: alive: succeeded \(0\) after [0-9]+ ms in starting by'
	has "history" "$(show recovery/history | tail -n 1)" "$line"
}

test_waiting_commands_are_let_go() {
	hca 'fault add NOP hold times 5'
	start_nops 5
	check "five commands wait" until_true 10 outstanding_is in_flight 5
	check "syndrome" fault_syndrome
	wait
	is "commands that waited" "$(nop_results)" '5 EIO'
	recovers "syndrome"
}

test_what_was_counted_is_kept() {
	nops=$(show cmd/NOP/n)
	commands=$(number summary commands)
	transitions=$(value health/state transitions)
	check "syndrome" fault_syndrome
	recovers "syndrome"
	is_within "NOPs" "$(show cmd/NOP/n)" $((nops + 1)) $((nops + 100))
	is_within "commands" "$(number summary commands)" $((commands + 10)) 1000000
	is_within "transitions" "$(value health/state transitions)" $((transitions + 1)) 1000000
	has "health's history" "$(show health/history)" 'failed\(5\)'
	check "healthy" until_true 20 value_is health/state state 'healthy (1)'
	has "mode" "$(show cmd/state)" '^mode: events'
	has "capabilities" "$(show caps/general)" 'log_max_eq'
	has "events" "$(show eq/command/state)" '^eqn: 0x[0-9a-f]+$'
}

test_a_reset_that_does_not_cure() {
	hca 'reset cures off'
	check "stall" fault_stall
	is "errno" "$(errno_of recovery/trigger 1)" EIO
	has "state" "$(value summary state)" '^fatal: '
	is "recovery" "$(value recovery/state state)" 'idle (0)'
	has "last" "$(value recovery/state last)" '^failed \(-5\) '
	is "a NOP" "$(errno_of cmd/nop 1)" EIO
	hca 'reset cures on'
	recovers "a reset that does"
}

test_a_reset_that_ends_in_the_middle_of_its_start() {
	check "reload" reload cmd_timeout_ms=$TIMEOUT_MS init_timeout_ms=500
	hca 'reset cures off'
	hca 'iseg initializing on'
	check "stall" fault_stall
	is "errno" "$(errno_of recovery/trigger 1)" ETIMEDOUT
	has "last" "$(value recovery/state last)" '^failed \(-110\) .* in initializing by function'
	hca 'reset cures on'
	recovers "a reset that cures"
}

test_a_card_that_is_gone_cannot_be_reset() {
	hca 'pci dead'
	check "gone" until_true 10 dead
	is "errno" "$(errno_of recovery/trigger 1)" ENODEV
	has "state" "$(value summary state)" '^gone: '
	is "a NOP" "$(errno_of cmd/nop 1)" ENODEV
	hca 'pci alive'
	recovers "back on the bus"
}

test_firmware_is_reset_where_it_offers_that() {
	firmwares=$(hca resets | sed -n 's/^firmware: //p')
	# The function's reset does nothing, and the start after it fails.
	hca 'reset works firmware'
	check "stall" fault_stall
	is "not offered: errno" "$(errno_of recovery/trigger 1)" EIO
	is "not offered: resets" "$(hca resets | sed -n 's/^firmware: //p')" "$firmwares"
	hca 'iseg set sw_reset_supported 1'
	recovers "offered"
	is "offered: resets" "$(hca resets | sed -n 's/^firmware: //p')" $((firmwares + 1))
	has "offered: last" "$(value recovery/state last)" '^succeeded .* by firmware reset$'
	check "the log says how" logged "succeeded after [0-9]+ ms by a firmware reset"
	# The model's firmware has started anew, without the offer.
	hca 'iseg set sw_reset_supported 1'
	hca 'reset works off'
	check "stall" fault_stall
	check_not "nothing works" [ "$(errno_of recovery/trigger 1)" = 0 ]
	has "nothing works: last" "$(value recovery/state last)" '^failed .* by firmware reset$'
	hca 'reset works on'
	recovers "a reset that works"
}

test_one_attempt_at_a_time() {
	hca 'reset takes 1500'
	start_trigger
	check "an attempt" until_true 10 grep -q -E '^state: (resetting|answering)' \
		"$DEBUGFS/recovery/state"
	is "another" "$(errno_of recovery/trigger 1)" EBUSY
	is "a NOP meanwhile" "$(errno_of cmd/nop 1)" EAGAIN
	has "the summary" "$(value summary recovery)" '^(resetting|answering) '
	for file in $(cd "$DEBUGFS" && find . -type f -perm -400); do
		check "read $file meanwhile" cat "$DEBUGFS/$file"
	done
	wait
	is "errno" "$(cat "$WORK/trigger")" 0
	hca 'reset takes 20'
	works "recovered"
}

test_it_recovers_by_itself() {
	check "load" reload cmd_timeout_ms=$TIMEOUT_MS recovery_auto=1
	is "auto" "$(show recovery/auto)" 1
	echo 200 >"$DEBUGFS/recovery/backoff_ms"
	for fault in stall syndrome; do
		before=$(value recovery/state succeeded)
		check "$fault" "fault_$fault"
		check "$fault: recovered" until_true 20 value_is recovery/state succeeded \
			$((before + 1))
		check "$fault: idle" until_true 20 recovery_is idle
		works "$fault"
	done
	has "history" "$(show recovery/history | tail -n 1)" ' automatic: fatal: .*: succeeded '
}

test_it_backs_off_and_gives_up_at_the_limit() {
	echo 0 >"$DEBUGFS/recovery/auto"
	echo 3 >"$DEBUGFS/recovery/limit"
	echo 300 >"$DEBUGFS/recovery/backoff_ms"
	before=$(value recovery/state attempts)
	hca 'reset cures off'
	check "stall" fault_stall
	echo 1 >"$DEBUGFS/recovery/auto"
	check "given up" until_true 120 recovery_is exhausted
	is "attempts" "$(value recovery/state attempts)" $((before + 3))
	is "in a row" "$(value recovery/state attempts_in_row)" 3
	# From the end of each attempt to the begin of the next: 600 ms, 1200 ms.
	show recovery/history | tail -n 3 | awk '
		{ for (i = 1; i < NF; i++) if ($i == "after") took = $(i + 1) }
		NR > 1 { print int($2 / 1000 - end) }
		{ end = $2 / 1000 + took }' >"$WORK/gaps"
	is_within "first gap in ms" "$(sed -n 1p "$WORK/gaps")" 590 5000
	is_within "second gap in ms" "$(sed -n 2p "$WORK/gaps")" 1190 5000
	hca 'reset cures on'
	recovers "by hand"
	is "in a row" "$(value recovery/state attempts_in_row)" 0
	echo 0 >"$DEBUGFS/recovery/auto"
}

test_a_card_that_was_left_running_is_reset_first() {
	for how in 'dirty' 'dirty quiet'; do
		check "$how: unbind" unbind
		hca "$how"
		is "$how: bind" "$(bind_errno)" 0
		works "$how"
	done
	check "the log says why" logged "$BDF: bus mastering is on although no driver has"
	check "the log says why" logged "$BDF: the function is not in its initial state"
}

test_user_space_is_told() {
	listen
	recovers "well"
	check "the end" until_true 5 heard PRM_RECOVERY=succeeded PRM_RECOVERY_ERRNO=0
	stop_listening
	is "begin" "$(grep -c 'PRM_RECOVERY=begin ' "$WORK/uevents")" 1
}

need_model
run_cases test_nothing_was_recovered_yet \
	test_settings_have_ranges \
	test_a_function_that_is_well_is_restarted \
	test_each_fault_is_cured \
	test_waiting_commands_are_let_go \
	test_what_was_counted_is_kept \
	test_a_reset_that_does_not_cure \
	test_a_reset_that_ends_in_the_middle_of_its_start \
	test_a_card_that_is_gone_cannot_be_reset \
	test_firmware_is_reset_where_it_offers_that \
	test_one_attempt_at_a_time \
	test_it_recovers_by_itself \
	test_it_backs_off_and_gives_up_at_the_limit \
	test_a_card_that_was_left_running_is_reset_first \
	test_user_space_is_told
