#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# How a function does, for programs: the status in one word, what the function suffers from, and
# that each change is a line in the log, an entry of the history, and a uevent.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh

# Usage: is_ok
is_ok() {
	status ok 0
	is "degradations" "$(value health/status degradations)" none
	is "bits" "$(value health/status degradation_bits)" 0x0
}

test_a_function_that_does_well() {
	is_ok
	is "reason" "$(value health/status reason)" 'none (0)'
	is "condition" "$(value health/status condition)" alive
	is "recovering" "$(value health/status recovering)" 0
	is "commands" "$(value health/status commands_outstanding)" 0
	is "given up" "$(value health/status commands_given_up)" 0
	is "oldest" "$(value health/status oldest_command)" none
	is "its age" "$(value health/status oldest_command_us)" 0
	has "evidence" "$(show health/evidence)" '^evidence: none'
	has "leftover" "$(show health/leftover)" '^leftover: none'
	is "sequence" "$(value health/status sequence)" "$(show health/changes | grep -vc '^#')"
}

test_a_syndrome_that_firmware_survives() {
	sequence=$(value health/status sequence)
	listen
	hca 'health set synd=1 ext_synd=0x77 severity=4 valid=1'
	suffers syndrome
	status degraded 1
	is "bits" "$(value health/status degradation_bits)" 0x1
	is "reason" "$(value health/status reason)" 'none (0)'
	is_told_of begins syndrome 'degraded 1'
	works "with a syndrome"
	hca 'health clear'
	suffers none
	is_told_of ends syndrome 'ok 0'
	stop_listening
	check "the number of the change" heard PRM_EVENT=state "PRM_SEQ=$sequence" \
		PRM_DEGRADATIONS=syndrome PRM_DEGRADATION_BITS=0x1 PRM_REASON=none
	is "sequence" "$(value health/status sequence)" $((sequence + 2))
	has "evidence" "$(show health/evidence)" '^evidence: first failure, which was not fatal'
	is "errno" "$(errno_of health/evidence 0)" 0
}

test_a_command_that_times_out_is_not_fatal() {
	listen
	hca 'fault add NOP hold'
	is "errno" "$(errno_of cmd/timeout_ms 50)" 0
	is "the command" "$(errno_of cmd/nop 1)" ETIMEDOUT
	is "errno" "$(errno_of cmd/timeout_ms 60000)" 0
	suffers 'command-timeout quarantined-slots'
	status degraded 1
	is "bits" "$(value health/status degradation_bits)" 0x6
	is "given up" "$(value health/status commands_given_up)" 1
	is_told_of begins command-timeout 'degraded 1'
	is_told_of begins quarantined-slots 'degraded 1'
	has "evidence" "$(show health/evidence)" \
		'^command\[0\]: NOP\(0x80d\) age_us=[0-9]+ given-up'
	# The next one comes back.
	works "after a time-out"
	suffers quarantined-slots
	is_told_of ends command-timeout 'degraded 1'
	hca release >/dev/null
	suffers none
	is_told_of ends quarantined-slots 'ok 0'
	stop_listening
	is "errno" "$(errno_of health/evidence 0)" 0
	has "evidence" "$(show health/evidence)" '^evidence: none'
}

test_a_command_that_is_slow() {
	listen
	is "slow_ms" "$(show health/slow_ms)" 5000
	for bad in 99 600001 4294967296; do
		is "slow_ms $bad" "$(errno_of health/slow_ms $bad)" ERANGE
	done
	is "slow_ms, a word" "$(errno_of health/slow_ms soon)" EINVAL
	is "errno" "$(errno_of health/slow_ms 200)" 0
	hca 'fault add NOP hold'
	start_nop slow
	# Not the listener, which goes on.
	nop=$!
	suffers command-slow
	is "bits" "$(value health/status degradation_bits)" 0x8
	is "outstanding" "$(value health/status commands_outstanding)" 1
	is "oldest" "$(value health/status oldest_command)" 'NOP(0x80d)'
	is_within "its age in us" "$(value health/status oldest_command_us)" 200000 60000000
	is_told_of begins command-slow 'degraded 1'
	hca release >/dev/null
	wait "$nop"
	is "the command" "$(nop_results)" '1 0'
	suffers none
	is_told_of ends command-slow 'ok 0'
	is "errno" "$(errno_of health/slow_ms 5000)" 0
	stop_listening
}

test_an_event_queue_without_interrupts() {
	listen
	hca 'irq drop 1'
	hca 'event PORT_CHANGE 4'
	# The watchdog takes it.
	suffers eq-stalled
	is "bits" "$(value health/status degradation_bits)" 0x10
	is_told_of begins eq-stalled 'degraded 1'
	hca 'event PORT_CHANGE 4'
	suffers none
	is_told_of ends eq-stalled 'ok 0'
	stop_listening
}

test_sensors_that_are_too_hot() {
	listen
	# 16 bytes of sensors, the most significant first: 127, 2 and 0.
	hca 'event TEMP_WARN 0 80000000000000000000000000000005'
	suffers temperature
	is "bits" "$(value health/status degradation_bits)" 0x20
	is "sensors" "$(value health/sensors hot_sensors)" '0x8000000000000000 0x5'
	is_told_of begins temperature 'degraded 1'
	check "log" logged "$BDF: health: sensors above their threshold: 0x8000000000000000 0x5"
	hca 'event TEMP_WARN 0 00000000000000000000000000000000'
	suffers none
	is_told_of ends temperature 'ok 0'
	stop_listening
	# A device that does not say when it is over.
	hca 'event TEMP_WARN 0 00000000000000000000000000000001'
	suffers temperature
	is "errno" "$(errno_of health/sensors 1)" EINVAL
	is "errno" "$(errno_of health/sensors 0)" 0
	is_ok
}

# Byte 1 of the event is the module, byte 3 its status, byte 6 the error.
test_a_module_with_an_error() {
	listen
	hca 'event PORT_MODULE 0 0000000300000600'
	suffers port-module
	is "bits" "$(value health/status degradation_bits)" 0x40
	is "module 0" "$(value health/sensors 'module[0]')" 'error (3), high temperature (0x6)'
	check "log" logged "$BDF: health: module 0: error \(3\), high temperature \(0x6\)"
	is_told_of begins port-module 'degraded 1'
	while read -r error words; do
		hca "event PORT_MODULE 0 000100030000${error}00"
		check "error $error" until_true 5 value_is health/sensors 'module[1]' \
			"error (3), $words (0x${error#0})"
	done <<-ERRORS
		00 power budget exceeded
		01 long range for non MLNX cable
		02 bus stuck
		03 no EEPROM or retry timeout
		04 part number list enforced
		05 unknown identifier
		06 high temperature
		07 bad or shorted cable
		0c PCIe slot power too low
		0e unknown error
	ERRORS
	hca 'event PORT_MODULE 0 0000000100000000'
	hca 'event PORT_MODULE 0 0001000100000000'
	suffers none
	is_told_of ends port-module 'ok 0'
	is "module 0" "$(value health/sensors 'module[0]')" 'plugged (1)'
	stop_listening
}

# Usage: fails_with VERDICT NUMBER STATUS NUMBER REASON NUMBER AFTERWARDS... ; the model's requests
# that make the card well again come last
fails_with() {
	verdict "$1" "$2"
	status "$3" "$4"
	is "reason" "$(value health/status reason)" "$5 ($6)"
	check "uevent" until_true 10 heard PRM_EVENT=state "PRM_STATE=$3" "PRM_STATE_NUMBER=$4" \
		"PRM_REASON=$5" "PRM_REASON_NUMBER=$6"
	check "log" until_true 5 logged "$BDF: state: $3 \($4\) reason=$5\($6\) "
	has "history" "$(show health/changes | tail -n 1)" " $3 \\($4\\) reason=$5\\($6\\) "
	has "evidence" "$(show health/evidence)" '^evidence: first failure, which was fatal'
	is "reason in the evidence" "$(value health/evidence reason)" "$5 ($6)"
	shift 6
	unbind
	for request; do
		hca "$request"
	done
	is "bind" "$(bind_errno)" 0
	is_ok
}

test_each_reason_has_a_word_and_a_number() {
	listen
	hca 'health freeze'
	fails_with stalled 4 fatal 2 stalled 1 'health run'
	hca 'health set synd=8 rfr=1'
	fails_with failed 5 fatal 2 syndrome 2 'health clear'
	hca 'iseg set nic_interface 1'
	fails_with disabled 6 fatal 2 disabled 3 'iseg set nic_interface 0'
	hca 'iseg set nic_interface 7'
	fails_with reset 7 fatal 2 reset 4 'iseg set nic_interface 0'
	hca 'pci dead'
	fails_with gone 8 gone 3 no-answer 255 'pci alive' reset
	stop_listening
}

test_the_evidence_is_of_the_first_failure() {
	hca 'fault add NOP drop times 3'
	start_nops 3
	check "three commands wait" until_true 10 outstanding_is in_flight 3
	is "outstanding" "$(value health/status commands_outstanding)" 3
	hca 'health set synd=7 ext_synd=0x40d0 assert_var1=0x2097ce84 irisc_index=2'
	suffers syndrome
	hca 'health freeze'
	verdict stalled 4
	wait
	is "commands that waited" "$(nop_results)" '3 EIO'
	show health/evidence >"$WORK/first"
	sed 's/^/#   /' "$WORK/first"
	is "failures" "$(grep -c '^evidence: ' "$WORK/first")" 2
	has "the first" "$(sed -n 1p "$WORK/first")" 'first failure, which was not fatal'
	is "the fatal one" "$(grep -c '^evidence: first fatal failure' "$WORK/first")" 1
	command='^command\[[0-9]+\]: NOP\(0x80d\) age_us=[1-9][0-9]* waiting'
	is "commands of both" "$(grep -c -E "$command" "$WORK/first")" 6
	is "buffers" "$(grep -c '^ext_synd: 0x40d0' "$WORK/first")" 2
	is "assert_var[1]" "$(grep -c '^assert_var\[1\]: 0x2097ce84' "$WORK/first")" 2
	is "counters" "$(grep -c -E '^counter: 0x[0-9a-f]{6}' "$WORK/first")" 2
	is "stalled" "$(grep -c '^reason: stalled (1)' "$WORK/first")" 1
	# Later failures change nothing of it but their number.
	hca 'iseg set nic_interface 1'
	verdict disabled 6
	hca 'pci dead'
	verdict gone 8
	show health/evidence | grep -v '^later_failures' >"$WORK/later"
	grep -v '^later_failures' "$WORK/first" >"$WORK/before"
	check "it is the same" cmp "$WORK/before" "$WORK/later"
	is "later failures" "$(value health/evidence later_failures)" 2
	for bad in 1 2 now ''; do
		is "writing '$bad'" "$(errno_of health/evidence "$bad")" EINVAL
	done
	is "writing 0" "$(errno_of health/evidence 0)" 0
	has "evidence" "$(show health/evidence)" '^evidence: none'
	unbind
	hca 'pci alive'
	hca reset
	is "bind" "$(bind_errno)" 0
	is_ok
}

test_a_buffer_from_before_is_cleared() {
	unbind
	hca 'health set synd=8 ext_synd=0x3d rfr=1 assert_var0=0xfc3fc043 time=1634819758'
	is "bind" "$(bind_errno)" 0
	has "leftover" "$(show health/leftover)" '^leftover: from before the start, and cleared'
	is "synd" "$(value health/leftover synd)" '0x08 (unrecoverable hardware error)'
	is "ext_synd" "$(value health/leftover ext_synd)" 0x003d
	is "assert_var[0]" "$(value health/leftover 'assert_var[0]')" 0xfc3fc043
	is "fw_version" "$(value health/leftover fw_version)" '0x162403f2 (22.36.1010)'
	check "log" logged \
		"$BDF: health: the buffer has a failure from before the start, and cleared: "
	is_ok
	verdict healthy 1
	is "failures" "$(show health/evidence | head -n 1 | cut -c 1-14)" 'evidence: none'
	# In the device as well; the versions stay.
	is "errno" "$(errno_of health/refresh 1)" 0
	has "verdict" "$(value health/buffer verdict)" '^no failure is reported'
	is "fw_version" "$(value health/buffer fw_version)" '0x162403f2 (22.36.1010)'
	# The next start does not find it again, and the same failure is new if it comes again.
	unbind
	is "bind" "$(bind_errno)" 0
	has "leftover" "$(show health/leftover)" '^leftover: none'
	hca 'health set synd=8 ext_synd=0x3d assert_var0=0xfc3fc043 time=1634819758'
	suffers syndrome
	hca 'health clear'
	suffers none
}

test_a_buffer_from_before_that_cannot_be_cleared() {
	unbind
	hca 'health readonly'
	hca 'health set synd=8 ext_synd=0x3d rfr=1 assert_var0=0xfc3fc043'
	is "bind" "$(bind_errno)" 0
	has "leftover" "$(show health/leftover)" \
		'^leftover: from before the start; the device ignores'
	is "ext_synd" "$(value health/leftover ext_synd)" 0x003d
	check "log" logged "$BDF: health: the buffer has a failure from before the start; "
	# It does not count, though it is a request for a reset.
	verdict healthy 1
	is_ok
	works "with the old buffer"
	# Another failure does.
	hca 'health set ext_synd=0x3e rfr=0'
	suffers syndrome
	verdict syndrome 3
	# The same as at the start, but after something else: new.
	hca 'health set ext_synd=0x3d rfr=1'
	verdict failed 5
	status fatal 2
	unbind
	hca 'health writable'
	hca 'health clear'
	is "bind" "$(bind_errno)" 0
	is_ok
}

# Usage: milliseconds from a freeze to the verdict, in TOOK
stall_takes() {
	hca 'health freeze'
	timed until_true 30 health_is stalled 4
	unbind
	hca 'health run'
	is "bind" "$(bind_errno)" 0
	until_true 20 health_is healthy 1
}

test_interval_and_threshold_hold_at_once() {
	verdict healthy 1
	is "errno" "$(errno_of health/threshold 20)" 0
	stall_takes
	echo "# 20 readings, 100 ms apart: $TOOK ms"
	is_within "milliseconds" "$TOOK" 1900 6000
	is "the threshold is back" "$(show health/threshold)" 3
	is "errno" "$(errno_of health/interval_ms 1000)" 0
	stall_takes
	echo "# 3 readings, 1000 ms apart: $TOOK ms"
	is_within "milliseconds" "$TOOK" 2900 8000
}

need_model
run_cases test_a_function_that_does_well \
	test_a_syndrome_that_firmware_survives \
	test_a_command_that_times_out_is_not_fatal \
	test_a_command_that_is_slow \
	test_an_event_queue_without_interrupts \
	test_sensors_that_are_too_hot \
	test_a_module_with_an_error \
	test_each_reason_has_a_word_and_a_number \
	test_the_evidence_is_of_the_first_failure \
	test_a_buffer_from_before_is_cleared \
	test_a_buffer_from_before_that_cannot_be_cleared \
	test_interval_and_threshold_hold_at_once
