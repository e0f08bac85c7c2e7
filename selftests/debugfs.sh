#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx bf2
#
# The files in debugfs as files: which there are, who may read them, their form, and what happens to
# those that are open when the driver goes.

. ./lib.sh
. ./lifecycle.sh

# All files, relative to the function's directory. Usage: files [FIND CONDITION...]
files() { (cd "$DEBUGFS" && find . -type f "$@" | sed 's|^\./||' | sort); }

# Files whose lines are not all "name: value": tables, dumps, and single values.
OTHER_FORMS='caps/.*|.*/layout|.*/history|eq/last|health/changes'
OTHER_FORMS="$OTHER_FORMS|health/(interval_ms|threshold|slow_ms)|recovery/(auto|backoff_ms|limit)"
OTHER_FORMS="$OTHER_FORMS|cmd/(history_data|failures|counters|outstanding|timeout_ms|[A-Z_]+/.*)"

test_the_files_are_those_of_the_documentation() {
	while read -r mode file; do
		check "$file" [ -f "$DEBUGFS/$file" ] || continue
		is "$file: mode" "$(stat -c %a "$DEBUGFS/$file")" "$mode"
	done <<-FILES
		400 summary
		400 pages
		400 caps/general
		400 caps/general_2
		400 caps/atomic
		400 caps/eswitch
		400 cmd/state
		400 cmd/outstanding
		400 cmd/counters
		400 cmd/history
		400 cmd/history_data
		400 cmd/failures
		600 cmd/timeout_ms
		200 cmd/nop
		400 eq/events
		400 eq/last
		400 eq/command/state
		400 eq/async/state
		400 eq/pages/state
		400 esw/support
		400 esw/functions
		400 esw/layout
		400 esw/history
		200 esw/refresh
		400 health/state
		400 health/buffer
		400 health/layout
		400 health/history
		600 health/interval_ms
		600 health/threshold
		200 health/refresh
		400 health/status
		400 health/changes
		600 health/evidence
		600 health/sensors
		400 health/leftover
		600 health/slow_ms
		400 recovery/state
		400 recovery/history
		200 recovery/trigger
		600 recovery/auto
		600 recovery/limit
		600 recovery/backoff_ms
	FILES
	is "directories" "$(cd "$DEBUGFS" && find . -maxdepth 1 -type d | sort | tr -d '\n')" \
		"../caps./cmd./eq./esw./health./recovery"
}

test_each_command_has_its_counters() {
	for name in QUERY_HCA_CAP SET_HCA_CAP INIT_HCA TEARDOWN_HCA ENABLE_HCA DISABLE_HCA \
		QUERY_PAGES MANAGE_PAGES QUERY_ISSI CREATE_EQ DESTROY_EQ ALLOC_UAR ACCESS_REG \
			NOP; do
		is "$name" "$(cd "$DEBUGFS/cmd/$name" && echo *)" \
			"average failed failed_mbox_status \
last_failed_errno last_failed_mbox_status last_failed_syndrome longest n reset"
	done
}

test_only_root_may_use_them() {
	is "other modes" "$(files ! -perm 0400 ! -perm 0600 ! -perm 0200)" ""
	is "other owners" "$(files ! -user 0) $(files ! -group 0)" " "
	# The directory above them keeps others out already; the files must do so by themselves.
	mode=$(stat -c %a /sys/kernel/debug)
	mount -o remount,mode=755 /sys/kernel/debug
	for file in summary cmd/history health/interval_ms; do
		check_not "another user reads $file" ./as_user 65534 cat "$DEBUGFS/$file"
		has "why not" "$(cat "$WORK/check")" 'Permission denied'
	done
	for file in cmd/nop health/interval_ms esw/refresh; do
		check_not "another user writes to $file" ./as_user 65534 sh -c \
			"echo 1 >$DEBUGFS/$file"
		has "why not" "$(cat "$WORK/check")" '[Pp]ermission denied'
	done
	mount -o remount,mode="$mode" /sys/kernel/debug
	check_not "another user sees the directory" ./as_user 65534 ls "$DEBUGFS"
}

test_lines_are_names_and_values() {
	files ! -perm 0200 | grep -v -x -E "$OTHER_FORMS" >"$WORK/plain"
	is_within "files of this form" "$(wc -l <"$WORK/plain")" 9 100
	while read -r file; do
		check "$file has lines" grep -q . "$DEBUGFS/$file"
		odd=$(grep -v -E '^[A-Za-z][^:]*: [^ ]|^external_host: ' "$DEBUGFS/$file")
		is "$file: other lines" "$odd" ""
	done <"$WORK/plain"
}

test_single_values_are_numbers() {
	files ! -perm 0200 | grep -E -e '^cmd/[A-Z_]+/|^cmd/timeout_ms$' \
		-e '^health/(interval_ms|threshold|slow_ms)$' \
		-e '^recovery/(auto|backoff_ms|limit)$' >"$WORK/single"
	is_within "files of this form" "$(wc -l <"$WORK/single")" 100 400
	while read -r file; do
		has "$file" "$(show "$file")" '^-?(0x[0-9a-f]+|[0-9]+)( \(.*\))?$'
	done <"$WORK/single"
}

test_dumps_have_place_name_and_value() {
	for file in general general_2 atomic eswitch; do
		[ -f "$DEBUGFS/caps/$file" ] || continue
		field='^0x[0-9a-f]{3} \[[0-9]+(:[0-9]+)?\] [a-z0-9_]+(\[[0-9]+\])?'
		values=': 0x[0-9a-f]+( \(.*\))? max 0x[0-9a-f]+'
		is "caps/$file: other lines" \
			"$(grep -v -E "^#|$field$values" "$DEBUGFS/caps/$file")" ""
	done
}

test_reading_sends_no_command() {
	before=$(model_counter commands)
	files ! -perm 0200 | while read -r file; do
		cat "$DEBUGFS/$file" >/dev/null || echo "$file"
	done >"$WORK/unreadable" 2>&1
	is "files that cannot be read" "$(cat "$WORK/unreadable")" ""
	is "commands" "$(($(model_counter commands) - before))" 0
}

test_a_large_file_is_the_same_in_small_pieces() {
	is "errno" "$(errno_of cmd/nop 100)" 0
	show cmd/history_data >"$WORK/whole"
	dd if="$DEBUGFS/cmd/history_data" bs=97 of="$WORK/pieces" 2>/dev/null
	is_within "bytes" "$(wc -c <"$WORK/whole")" 10000 200000
	check "the same" cmp "$WORK/whole" "$WORK/pieces"
	is "commands in it" "$(grep -c ' NOP(0x80d) op_mod(0x0) ok$' "$WORK/whole")" 64
}

test_what_is_written_must_make_sense() {
	head -c 4097 /dev/zero | tr '\0' ' ' >"$WORK/long"
	is "more than 4096 bytes" \
		"$(errno_name "$(dd if="$WORK/long" of="$DEBUGFS/cmd/nop" bs=5000 2>&1 |
			sed -n 's/.*: //p')")" E2BIG
	while read -r file text errno; do
		is "$text to $file" "$(errno_of "$file" "$text")" "$errno"
	done <<-WRITES
		cmd/nop 0 ERANGE
		cmd/nop 10001 ERANGE
		cmd/nop 0x EINVAL
		cmd/nop 1x EINVAL
		cmd/nop -1 EINVAL
		cmd/nop one EINVAL
		cmd/nop 99999999999999999999 ERANGE
		cmd/timeout_ms 9 ERANGE
		cmd/timeout_ms 600001 ERANGE
		cmd/timeout_ms soon EINVAL
	WRITES
	printf '\377\376' >"$WORK/binary"
	is "no text" "$(errno_name "$(dd if="$WORK/binary" of="$DEBUGFS/cmd/nop" 2>&1 |
		sed -n 's/.*: //p')")" EINVAL
	works "afterwards"
}

test_open_files_fail_after_unbind() {
	exec 7<"$DEBUGFS/summary" 8<"$DEBUGFS/cmd/history_data"
	exec 9>"$DEBUGFS/cmd/nop"
	head -c 5 <&7 >/dev/null
	check "unbind" unbind
	nothing_is_left "unbound"
	for fd in 7 8; do
		is "read of descriptor $fd" \
			"$(errno_name "$(cat <&$fd 2>&1 >/dev/null | sed 's/.*: //')")" EIO
	done
	is "write" "$(errno_name "$({ echo 1 >&9; } 2>&1 | sed 's/.*: //')")" EIO
	is "bind" "$(bind_errno)" 0
	is "read after binding" \
		"$(errno_name "$(cat <&7 2>&1 >/dev/null | sed 's/.*: //')")" EIO
	exec 7<&- 8<&- 9>&-
	works "bound again"
}

test_the_module_stays_while_a_file_is_open() {
	exec 7<"$DEBUGFS/health/state"
	check_not "unload" unload
	check "loaded" is_loaded
	works "with the file open"
	has "the file" "$(cat <&7)" '^state: '
	# Also when the function has gone meanwhile.
	check "unbind" unbind
	check_not "unload, unbound" unload
	exec 7<&-
	check "unload when it is closed" unload
	check "load" load
}

test_readers_do_not_mind_rebinding() {
	: >"$WORK/reading"
	for reader in 1 2 3 4; do
		while [ -e "$WORK/reading" ]; do
			cat "$DEBUGFS"/summary "$DEBUGFS"/*/* >"$WORK/read.$reader" 2>/dev/null
			echo >>"$WORK/rounds.$reader"
		done &
	done
	for round in 1 2 3 4 5; do
		check "unbind $round" unbind
		is "bind $round" "$(bind_errno)" 0
	done
	rm "$WORK/reading"
	wait
	for reader in 1 2 3 4; do
		is_within "rounds of reader $reader" "$(wc -l <"$WORK/rounds.$reader")" 2 100000
	done
	works "afterwards"
}

need_model
run_cases test_the_files_are_those_of_the_documentation \
	test_each_command_has_its_counters \
	test_only_root_may_use_them \
	test_lines_are_names_and_values \
	test_single_values_are_numbers \
	test_dumps_have_place_name_and_value \
	test_reading_sends_no_command \
	test_a_large_file_is_the_same_in_small_pieces \
	test_what_is_written_must_make_sense \
	test_open_files_fail_after_unbind \
	test_the_module_stays_while_a_file_is_open \
	test_readers_do_not_mind_rebinding
