#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx
#
# The table of the fault campaign: what it says can be read, the same seed makes the same choices,
# and the model knows the rules that are named in it. The campaign itself is make campaign.

# shellcheck source=selftests/lib.sh
. ./lib.sh

TABLE=campaign/faults

names() { awk -F'|' '!/^#/ && NF >= 5 { sub(/ *$/, "", $1); print $1 }' $TABLE; }
field() { awk -F'|' -v n="$1" '!/^#/ && NF >= 5 { gsub(/ /, "", $n); print $n }' $TABLE; }
expand() { awk -v name="$1" -v seed="$2" -f campaign/expand.awk $TABLE; }

test_there_are_at_least_60_faults_each_with_a_name_of_its_own() {
	is_within "faults" "$(names | wc -l)" 60 1000
	is "names that are there twice" "$(names | sort | uniq -d)" ""
	is "lines that are no fault" "$(awk -F'|' '!/^#/ && NF > 0 && NF != 6' $TABLE)" ""
}

test_the_columns_have_known_words() {
	is "when" "$(field 3 | sort -u | xargs)" "probe remove run"
	is "expected" "$(field 4 | sort -u | xargs)" "either gone refuse start works"
	check "the rules" model conformance expect \
		"$(awk -F'|' '!/^#/ && NF >= 5 { print $5 }' $TABLE | tr ' ' '\n' |
			grep -v -x -e teardown -e '' | sort -u | xargs)"
	model conformance expect
}

test_every_choice_can_be_made() {
	for name in $(names); do
		expand "$name" 4711 >"$WORK/steps" || fail "$name: cannot be expanded"
		[ "$(wc -l <"$WORK/steps")" -ge 5 ] || fail "$name: has no step"
		! grep -n '[{}]' "$WORK/steps" || fail "$name: a choice is left"
	done
}

test_a_seed_makes_the_same_choices_again() {
	is "the same seed" "$(expand event-unknown 5)" "$(expand event-unknown 5)"
	check_not "another seed" [ "$(expand event-unknown 5)" = "$(expand event-unknown 6)" ]
	# As it was written down once: a table of results names seeds.
	is "seed 1234567" "$(expand unplug-at-work 1234567 | tail -n 4 | xargs)" \
		"@start-work @sleep 112 @sleep 0 @unplug"
	check_not "a fault that is not there" expand no-such-fault 1
}

need_model
run_cases test_there_are_at_least_60_faults_each_with_a_name_of_its_own \
	test_the_columns_have_known_words \
	test_every_choice_can_be_made \
	test_a_seed_makes_the_same_choices_again
