#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: bf2
# debug: bf2
#
# E-switch functions on the function that manages the switch: asked for once and after events, never
# polled, shown with their age, and what changed.

. ./lib.sh
. ./lifecycle.sh

# Queries that the model has seen since its log was cleared; each layout is one.
queries() { sent_commands QUERY_ESW_FUNCTIONS | grep -c "${1:-.}"; }

# The snapshot covers all events so far, of which there are N more than BEFORE. Usage: settled N
settled() { until_true 5 settled_now $((EVENTS + $1)); }
settled_now() {
	[ "$(value esw/functions events)" = "$1" ] &&
		[ "$(value esw/functions events_before)" = "$1" ] &&
		[ "$(value esw/functions events_since)" = 0 ]
}

# Number of events so far; to be called before those of a case.
note_events() { EVENTS=$(value esw/functions events); }

# The last entries of the history without number, time and date. Usage: last_changes N
last_changes() {
	show esw/history | tail -n "$1" | sed 's/^[0-9]* [0-9]* [^ ]* //'
}

# Change something quietly back, and have it seen. Usage: restore WORD...
restore() {
	for request; do
		hca "esw $request quiet"
	done
	is "refresh" "$(errno_of esw/refresh 1)" 0
}

test_it_is_asked_once_at_the_start() {
	hca 'log clear'
	check "load" reload
	is "queries, V1" "$(queries 0x4000)" 1
	is "queries in all" "$(queries)" 2
	is "events" "$(value esw/functions events)" 0
	is "queries, as shown" "$(value esw/functions queries)" 1
	is "last_query" "$(value esw/functions last_query)" ok
	has "layout" "$(value esw/functions layout)" '^V1 .*\(op_mod 0x4000\)'
	is "supported" "$(value esw/support supported)" 1
	has "its place" "$(value esw/support esw_functions_changed)" \
		'^0x1 \(e-switch capabilities, 0x000 \[6\]\)'
	has "its place" "$(value esw/support embedded_cpu)" '^0x1 \(init segment, 0x1fc \[23\]\)'
}

test_what_the_device_says_is_shown() {
	note_events
	hca 'esw host-number 2 quiet'
	hca 'esw bdf af:1f.7 quiet'
	hca 'esw vhca_id 0x1234 quiet'
	hca 'esw total 32'
	check "a new snapshot" settled 1
	while read -r name expected; do
		is "$name" "$(number esw/functions "$name")" "$expected"
	done <<-VALUES
		host_number 2
		host_pf_disabled 0
		host_pf_not_exist 0
		host_num_of_vfs 0
		host_total_vfs 32
		host_pci_bus 0xaf
		host_pci_device 0x1f
		host_pci_function 0x7
		host_pci_address af:1f.7
		host_pf_vhca_id 0x1234
		effective_vfs 0
	VALUES
	dump=$(show esw/layout)
	has "dump" "$dump" '^0x014 \[31:16\] pci_total_vfs: 0x20'
	has "dump" "$dump" '^0x018 \[31:16\] vhca_id: 0x1234'
	has "dump" "$dump" '^0x014 \[15:8\] pci_bus: 0xaf'
	restore 'host-number 1' 'bdf 3b:00.0' 'vhca_id 2' 'total 16'
}

test_an_event_brings_a_new_snapshot_with_its_age() {
	note_events
	hca 'log clear'
	hca 'esw vfs 4'
	check "a new snapshot" settled 1
	is "queries" "$(queries 0x4000)" 1
	is_within "snapshot_age_ms" "$(value esw/functions snapshot_age_ms)" 0 5000
	is "host_num_of_vfs" "$(value esw/functions host_num_of_vfs)" 4
	is "effective_vfs" "$(value esw/functions effective_vfs)" 4
	has "summary" "$(value summary esw)" '^host 1 PF enabled, 4 of 16 VFs'
	is "history" "$(last_changes 1)" "events=$((EVENTS + 1)) host 1: VFs 0 -> 4"
	check "the log says so" logged "$BDF: e-switch: host 1: VFs 0 -> 4"
	hca 'esw vfs 0'
	check "a new snapshot" settled 2
	is "host_num_of_vfs" "$(value esw/functions host_num_of_vfs)" 0
	is "history" "$(last_changes 1)" "events=$((EVENTS + 2)) host 1: VFs 4 -> 0"
}

test_a_number_of_vfs_that_changes_without_zero_is_flagged() {
	note_events
	hca 'esw vfs 4'
	check "a new snapshot" settled 1
	hca 'esw vfs 2'
	check "a new snapshot" settled 2
	is "history" "$(last_changes 1)" \
		"events=$((EVENTS + 2)) host 1: VFs 4 -> 2 (not through 0: a change in between was not seen)"
	check "the log says so" logged 'e-switch: host 1: VFs 4 -> 2 \(not through 0'
	restore 'vfs 0'
}

test_a_disabled_pf_disables_all_of_its_host() {
	hca 'esw vfs 4 quiet'
	is "refresh" "$(errno_of esw/refresh 1)" 0
	note_events
	hca 'esw pf-disabled on'
	check "a new snapshot" settled 1
	is "host_pf_disabled" "$(number esw/functions host_pf_disabled)" 1
	is "host_num_of_vfs" "$(value esw/functions host_num_of_vfs)" 4
	is "effective_vfs" "$(value esw/functions effective_vfs)" \
		'0 (host_pf_disabled=1: every external host vport counts as disabled)'
	has "summary" "$(value summary esw)" '^host 1 PF disabled, 0 of 16 VFs'
	has "history" "$(last_changes 2)" \
		"^events=$((EVENTS + 1)) host 1: PF disabled, and every vport of the host with it\$"
	hca 'esw pf-disabled off'
	check "a new snapshot" settled 2
	is "effective_vfs" "$(value esw/functions effective_vfs)" 4
	has "history" "$(show esw/history)" "events=$((EVENTS + 2)) host 1: PF enabled\$"
	restore 'vfs 0'
}

test_scalable_functions_come_and_go() {
	note_events
	for sf in 3 4 5 70; do
		hca "esw sf $sf on quiet"
	done
	hca 'esw sf 200 on'
	check "a new snapshot" settled 1
	is "sf_enable" "$(value esw/functions sf_enable)" '3-5 70 200'
	is "word 0" "$(value esw/functions 'sf_enable[0]')" 0x0000000000000038
	is "word 1" "$(value esw/functions 'sf_enable[1]')" 0x0000000000000040
	is "history" "$(last_changes 3 | sed 's/^[^ ]* //')" \
		"$(printf 'switch: SFs 3-5 on\nswitch: SF 70 on\nswitch: SF 200 on')"
	has "summary" "$(value summary esw)" ', 5 SFs'
	hca 'esw sf 4 off'
	check "a new snapshot" settled 2
	is "sf_enable" "$(value esw/functions sf_enable)" '3 5 70 200'
	is "history" "$(last_changes 1)" "events=$((EVENTS + 2)) switch: SF 4 off"
	restore 'sf 3 off' 'sf 5 off' 'sf 70 off' 'sf 200 off'
	is "sf_enable" "$(value esw/functions sf_enable)" none
}

test_a_host_without_a_pf() {
	note_events
	hca 'esw pf-not-exist on'
	check "a new snapshot" settled 1
	has "functions" "$(show esw/functions)" '^external_host: 0 '
	is "history" "$(last_changes 1)" "events=$((EVENTS + 1)) host 1: PF gone"
	has "summary" "$(value summary esw)" '^no host'
	hca 'esw pf-not-exist off'
	check "a new snapshot" settled 2
	has "history" "$(last_changes 1)" 'host 1: PF appeared'
}

test_a_burst_of_events_is_not_a_burst_of_queries() {
	note_events
	hca 'fault add QUERY_ESW_FUNCTIONS hold'
	hca 'esw vfs 8'
	hca 'wait held 1'
	hca 'log clear'
	hca 'eqe burst 100 ESW_FUNCTIONS_CHANGED' >/dev/null
	check "the events are counted" until_true 5 value_is esw/functions events $((EVENTS + 101))
	hca release >/dev/null
	check "a new snapshot" settled 101
	is_within "queries" "$(queries 0x4000)" 1 3
	is "effective_vfs" "$(value esw/functions effective_vfs)" 8
	restore 'vfs 0'
}

test_a_query_that_fails_leaves_the_snapshot() {
	hca 'esw vfs 3 quiet'
	is "refresh" "$(errno_of esw/refresh 1)" 0
	failed=$(value esw/functions queries_failed)
	hca 'fault add QUERY_ESW_FUNCTIONS status=0x6 syndrome=0x5a5a5a'
	hca 'esw vfs 0 quiet'
	is "refresh" "$(errno_of esw/refresh 1)" EBUSY
	is "queries_failed" "$(value esw/functions queries_failed)" $((failed + 1))
	has "last_query" "$(value esw/functions last_query)" \
		'^QUERY_ESW_FUNCTIONS\(0x740\) .* busy\(0x6\), .* \(0x5a5a5a'
	is "host_num_of_vfs" "$(value esw/functions host_num_of_vfs)" 3
	check "the log says so" logged "$BDF: QUERY_ESW_FUNCTIONS.*0x5a5a5a"
	is "refresh again" "$(errno_of esw/refresh 1)" 0
	is "last_query" "$(value esw/functions last_query)" ok
	is "host_num_of_vfs" "$(value esw/functions host_num_of_vfs)" 0
	is "refresh no" "$(errno_of esw/refresh 0)" EINVAL
	is "refresh later" "$(errno_of esw/refresh later)" EINVAL
}

test_it_never_polls() {
	hca 'log clear'
	before=$(value esw/functions snapshot)
	# Nothing is to happen, which only time can show; reading files asks for nothing either.
	sleep 3
	cat "$DEBUGFS"/esw/functions "$DEBUGFS"/esw/layout "$DEBUGFS"/esw/history \
		"$DEBUGFS"/summary >/dev/null
	is "commands" "$(sent_commands)" ""
	is "snapshot" "$(value esw/functions snapshot)" "$before"
	is_within "snapshot_age_ms" "$(value esw/functions snapshot_age_ms)" 3000 600000
}

test_the_legacy_layout_says_the_same() {
	hca 'cap set cmd_hca_cap.query_host_net_function_v1 0'
	hca 'esw vfs 4 quiet'
	hca 'log clear'
	check "load" reload
	is "queries" "$(sent_commands QUERY_ESW_FUNCTIONS)" 'QUERY_ESW_FUNCTIONS 0x0'
	has "layout" "$(value esw/functions layout)" '^legacy .*\(op_mod 0x0000\)'
	while read -r name expected; do
		is "$name" "$(number esw/functions "$name")" "$expected"
	done <<-VALUES
		host_number 1
		host_pf_disabled 0
		host_num_of_vfs 4
		host_total_vfs 16
		host_pci_address 3b:00.0
		host_pf_vhca_id 0x0002
		effective_vfs 4
		sf_enable none
	VALUES
	note_events
	hca 'esw pf-disabled on quiet'
	hca 'esw sf 9 on'
	check "a new snapshot" settled 1
	is "effective_vfs" "$(number esw/functions effective_vfs)" 0
	is "sf_enable" "$(value esw/functions sf_enable)" 9
	has "dump" "$(show esw/layout)" '^0x010 \[.*host_pf_disabled: 0x1'
	hca 'cap set cmd_hca_cap.query_host_net_function_v1 1'
	for request in 'vfs 0' 'pf-disabled off' 'sf 9 off'; do
		hca "esw $request quiet"
	done
	check "load" reload
	has "layout" "$(value esw/functions layout)" '^V1 '
}

need_model
run_cases test_it_is_asked_once_at_the_start \
	test_what_the_device_says_is_shown \
	test_an_event_brings_a_new_snapshot_with_its_age \
	test_a_number_of_vfs_that_changes_without_zero_is_flagged \
	test_a_disabled_pf_disables_all_of_its_host \
	test_scalable_functions_come_and_go \
	test_a_host_without_a_pf \
	test_a_burst_of_events_is_not_a_burst_of_queries \
	test_a_query_that_fails_leaves_the_snapshot \
	test_it_never_polls \
	test_the_legacy_layout_says_the_same
