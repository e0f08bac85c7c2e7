#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx bf2
# cpus: 2
# iommu: cx6dx
# debug: bf2
#
# Memory for firmware: given and taken back on request, and accounted for by function.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Pages that the model says functions hold. Usage: model_held [FUNCTION EMBEDDED_CPU]
model_held() {
	if [ $# = 0 ]; then
		hca pages | sed -n 's/^total: //p'
	else
		hca pages | sed -n "s/^function: $1 embedded_cpu $2 held \([0-9]*\) .*/\1/p"
	fi
}

# Its requests that were not answered. Usage: model_open FUNCTION EMBEDDED_CPU
model_open() { hca pages | sed -n "s/^function: $1 embedded_cpu $2 .* open //p"; }
is_answered() { [ "$(model_open "$1" "$2")" = 0 ]; }

# The function that is driven, as file and model name it.
if [ "$(number summary function)" = embedded ]; then
	OWN='embedded CPU function 0' OWN_EC=1
else
	OWN='function 0' OWN_EC=0
fi

held() { number pages held; }
held_is() { [ "$(held)" = "$1" ]; }

test_boot_and_init_pages_are_accounted_for() {
	boot=$(hca pages | sed -n 's/^boot: \([0-9]*\) missing 0$/\1/p')
	init=$(hca pages | sed -n 's/^init: \([0-9]*\) missing 0$/\1/p')
	is_within "boot pages" "$boot" 1 100000
	is_within "init pages" "$init" 1 100000
	is "held" "$(held)" $((boot + init))
	is "held, by the model" "$(model_held)" $((boot + init))
	is "$OWN" "$(value pages "$OWN")" "held $((boot + init)) given $((boot + init)) returned 0"
	is "by the model" "$(model_held 0 $OWN_EC)" $((boot + init))
	is "summary" "$(value summary pages)" "$((boot + init)) held by firmware"
}

test_pages_are_given_and_taken_on_request() {
	before=$(held)
	# Around the most that one command carries, 768.
	for n in 1 767 768 769 2000; do
		model pages request $n
		check "$n are given" until_true 10 held_is $((before + n))
		is "by the model" "$(model_held)" $((before + n))
		is "open" "$(model_open 0 $OWN_EC)" 0
		model pages request -$n
		check "$n are taken back" until_true 10 held_is "$before"
		is "by the model" "$(model_held)" "$before"
		is "open" "$(model_open 0 $OWN_EC)" 0
	done
	is "given and returned" "$(value pages "$OWN")" \
		"held $before given $((before + 4305)) returned 4305"
}

test_other_functions_have_their_own_account() {
	before=$(held)
	model pages request 50 1
	model pages request 7 2
	check "given" until_true 5 held_is $((before + 57))
	check "first" until_true 5 value_is pages 'function 1' 'held 50 given 50 returned 0'
	check "second" until_true 5 value_is pages 'function 2' 'held 7 given 7 returned 0'
	is "by the model" "$(model_held 1 0) $(model_held 2 0)" "50 7"
	model pages request -50 1
	check "taken back" until_true 5 value_is pages 'function 1' 'held 0 given 50 returned 50'
	is "the other keeps its own" "$(value pages 'function 2')" 'held 7 given 7 returned 0'
	model pages request -7 2
	check "taken back as well" until_true 5 held_is "$before"
}

test_many_requests_at_once_are_all_served() {
	before=$(held)
	model fault add MANAGE_PAGES hold
	function=0
	while [ $((function += 1)) -le 40 ]; do
		model pages request $function $function
	done
	check "the first is held up" model wait held 1
	is "nothing given yet" "$(held)" "$before"
	model release >/dev/null
	check "all are served" until_true 10 held_is $((before + 820))
	is "the last" "$(value pages 'function 40')" 'held 40 given 40 returned 0'
	function=0
	while [ $((function += 1)) -le 40 ]; do
		model pages request -$function $function
	done
	check "and taken back" until_true 10 held_is "$before"
}

test_requests_that_come_too_fast_are_told_of() {
	log_mark
	before=$(held)
	model fault add MANAGE_PAGES hold
	i=0
	while [ $((i += 1)) -le 100 ]; do
		model pages request 1
	done
	check "the first is held up" model wait held 1
	model release >/dev/null
	check "log line" until_true 10 logged \
		'[0-9]+ page requests of firmware were lost: too many at once'
	lost=$(log_since | sed -n 's/.* \([0-9]*\) page requests of firmware were lost.*/\1/p')
	check "the others are served" until_true 10 held_is $((before + 100 - lost))
	is "open" "$(model_open 0 $OWN_EC)" "$lost"
	check "reload" reload
}

test_firmware_may_return_fewer_than_it_is_asked_for() {
	before=$(held)
	model pages request 100
	check "given" until_true 5 held_is $((before + 100))
	model pages limit 10
	model log clear
	model pages request -100
	check "all are taken back in the end" until_true 10 held_is "$before"
	is "commands" "$(sent_commands MANAGE_PAGES | sort | uniq -c | sed 's/^ *//')" \
		"10 MANAGE_PAGES 0x2"
	model pages limit 0
}

test_firmware_that_returns_none_is_not_asked_for_ever() {
	before=$(held)
	model log clear
	# Status OK, and no page in the output.
	model fault add MANAGE_PAGES op_mod=2 status=0 syndrome=0
	model pages request -5
	model pages request 3 1
	check "the next request is served" until_true 5 held_is $((before + 3))
	is "commands" "$(sent_commands MANAGE_PAGES)" "MANAGE_PAGES 0x2
MANAGE_PAGES 0x1"
	check "reload" reload
}

test_more_pages_than_were_asked_back_are_refused() {
	before=$(held)
	log_mark
	model fault add MANAGE_PAGES op_mod=2 status=0 syndrome=0
	model fault add MANAGE_PAGES op_mod=2 out 8=ffffffff
	model pages request -5
	check "log line" until_true 5 logged \
		"firmware returns 4294967295 pages of $OWN: it was asked for 5"
	is "held" "$(held)" "$before"
	check "reload" reload
}

test_pages_that_firmware_does_not_have_are_not_taken() {
	before=$(held)
	log_mark
	model fault add MANAGE_PAGES op_mod=2 status=0 syndrome=0
	# One page, at an address that was never given.
	model fault add MANAGE_PAGES op_mod=2 out 8=000000010000000000000000deadb000
	model pages request -1
	check "log line" until_true 5 logged \
		"firmware returns the page at 0xdeadb000 of $OWN, which it does not have"
	is "held" "$(held)" "$before"
	check "reload" reload
}

test_a_request_beyond_the_limit_is_refused() {
	before=$(held)
	check "reload" reload max_pages=$((before + 200))
	is "limit" "$(number pages limit)" $((before + 200))
	log_mark
	model log clear
	model pages request 201
	check "the device is told" model wait opcode MANAGE_PAGES
	check "log line" until_true 5 logged \
		"firmware asks for 201 pages for $OWN and has $before already: the limit is $((before + 200))"
	check "the parameter is named" logged '\(parameter max_pages\)'
	# op_mod 0: cannot give.
	is "command" "$(sent_commands MANAGE_PAGES)" "MANAGE_PAGES 0x0"
	check "the request is answered" until_true 5 is_answered 0 $OWN_EC
	is "held" "$(held)" "$before"
	model pages request 200
	check "up to the limit is given" until_true 5 held_is $((before + 200))
	check "reload" reload
}

test_absurd_requests_at_run_time() {
	before=$(held)
	log_mark
	model pages request 0x7fffffff
	check "log line" until_true 5 logged "firmware asks for 2147483647 pages for $OWN"
	check "the request is answered" until_true 5 is_answered 0 $OWN_EC
	is "held" "$(held)" "$before"
	# All that there is, and that is all.
	model pages request -0x80000000
	check "all are taken back" until_true 10 held_is 0
	is "by the model" "$(model_held)" 0
	is "commands work" "$(errno_of cmd/nop 10)" 0
	check "reload" reload
	is "held" "$(held)" "$before"
	model pages request 0
	is "commands work" "$(errno_of cmd/nop 10)" 0
	is "held" "$(held)" "$before"
}

test_all_pages_of_a_function_are_released() {
	before=$(held)
	model pages request 900 3
	check "given" until_true 5 held_is $((before + 900))
	model log clear
	model pages release 3
	check "freed" until_true 5 value_is pages 'function 3' 'held 0 given 900 returned 900'
	is "held" "$(held)" "$before"
	# The device does not have them any more: there is nothing to ask it for.
	is "commands" "$(sent_commands MANAGE_PAGES)" ""
}

test_nothing_is_left_after_removal() {
	model pages request 1000
	model pages request 100 1
	before=$(held)
	check "given" until_true 5 value_is pages 'function 1' 'held 100 given 100 returned 0'
	model pages limit 100
	check "unload" unload
	is "pages that the device still has" "$(model_held)" 0
	model pages limit 0
	check "load" load
	is "held" "$(held)" "$(model_held)"
}

need_model
run_cases \
	test_boot_and_init_pages_are_accounted_for \
	test_pages_are_given_and_taken_on_request \
	test_other_functions_have_their_own_account \
	test_many_requests_at_once_are_all_served \
	test_requests_that_come_too_fast_are_told_of \
	test_firmware_may_return_fewer_than_it_is_asked_for \
	test_firmware_that_returns_none_is_not_asked_for_ever \
	test_more_pages_than_were_asked_back_are_refused \
	test_pages_that_firmware_does_not_have_are_not_taken \
	test_a_request_beyond_the_limit_is_refused \
	test_absurd_requests_at_run_time \
	test_all_pages_of_a_function_are_released \
	test_nothing_is_left_after_removal
