#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx
#
# The files of the command interface: what they take, and what they keep.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# 5000 bytes in one write, where 4096 are the most.
write_5000() {
	head -c 5000 /dev/zero | tr '\0' 1 >"$WORK/5000"
	if error=$(dd if="$WORK/5000" of="$DEBUGFS/$1" bs=5000 2>&1); then
		echo 0
	else
		errno_name "$(echo "$error" | sed -n 's/.*: //p' | head -n 1)"
	fi
}

# Values that are no number, or none that is allowed, with the errno for each.
# Usage: refuses FILE TOO SMALL, TOO LARGE
refuses() {
	for text in text '' ' ' -5 1.5 '12 34' 0x '1,000' "$(printf '1\t2')"; do
		is "$1 of '$text'" "$(errno_of "$1" "$text")" EINVAL
	done
	for text in 0 "$2" "$3" 4294967296 99999999999999999999; do
		is "$1 of '$text'" "$(errno_of "$1" "$text")" ERANGE
	done
	is "$1 of 5000 bytes" "$(write_5000 "$1")" E2BIG
}

test_bad_timeouts_change_nothing() {
	is "at the start" "$(show cmd/timeout_ms)" 60000
	refuses cmd/timeout_ms 9 600001
	is "afterwards" "$(show cmd/timeout_ms)" 60000
	is "in the state" "$(value cmd/state timeout_ms)" 60000
}

test_good_timeouts_are_taken() {
	for ms in 10 600000 0x1f4 60000; do
		is "errno of $ms" "$(errno_of cmd/timeout_ms "$ms")" 0
		is "timeout_ms" "$(show cmd/timeout_ms)" $((ms))
		is "in the state" "$(value cmd/state timeout_ms)" $((ms))
	done
}

test_bad_numbers_of_NOPs_send_nothing() {
	before=$(model_counter commands)
	refuses cmd/nop 0 10001
	is "commands sent" "$(model_counter commands)" "$before"
	is "reading it" "$(errno_of_read cmd/nop)" EINVAL
}

test_files_are_for_root_only_and_say_what_they_are_for() {
	is "nop" "$(stat -c %a "$DEBUGFS/cmd/nop")" 200
	is "timeout_ms" "$(stat -c %a "$DEBUGFS/cmd/timeout_ms")" 600
	is "reset" "$(stat -c %a "$DEBUGFS/cmd/NOP/reset")" 200
	for file in state outstanding counters history history_data failures NOP/n NOP/average; do
		is "$file" "$(stat -c %a "$DEBUGFS/cmd/$file")" 400
		is "writing to $file" "$(errno_of "cmd/$file" 1)" EINVAL
	done
}

# The numbers of the history's lines.
numbers() { sed -n 's/^\([0-9]*\) .*/\1/p' "$DEBUGFS/cmd/history"; }

test_the_history_keeps_the_last_64_in_order() {
	is "errno" "$(errno_of cmd/nop 100)" 0
	is "lines" "$(numbers | wc -l)" 64
	first=$(numbers | head -n 1)
	is "numbers" "$(numbers)" "$(seq "$first" $((first + 63)))"
	check "times go up" sort -n -c -k 2,2 "$(lines_only)"
	is "commands" "$(grep -c ' 0x10 0x10 NOP(0x80d) op_mod(0x0) ok$' "$DEBUGFS/cmd/history")" 64
	is "errno" "$(errno_of cmd/nop 3)" 0
	is "three later" "$(numbers | head -n 1)" $((first + 3))
}

# The history without its title line, in a file whose name is printed.
lines_only() {
	grep -v '^#' "$DEBUGFS/cmd/history" >"$WORK/lines"
	echo "$WORK/lines"
}

test_a_failure_stands_in_the_history_in_its_place() {
	model fault add NOP skip=1 status=4 syndrome=0xbad
	is "errno" "$(errno_of cmd/nop 3)" EIO
	is "errno" "$(errno_of cmd/nop 1)" 0
	lines_only >/dev/null
	has "the last but one" "$(tail -n 2 "$WORK/lines" | head -n 1)" \
		'NOP\(0x80d\) op_mod\(0x0\) failed, status bad system state\(0x4\), .* \(0xbad'
	has "the last" "$(tail -n 1 "$WORK/lines")" 'NOP\(0x80d\) op_mod\(0x0\) ok$'
}

# mlx5_core prints four words a line, with the offset before them. The last line may have fewer.
WORDS='^cmd\[[0-9]+\]: [0-9a-f]{2}0:( [0-9a-f]{8}){1,4}$'

test_history_data_has_the_bytes_as_mlx5_core_prints_them() {
	check "reload" reload
	data=$(show cmd/history_data)
	printf '%s\n' "$data" >"$WORK/data"
	has "a line of words" "$data" "$WORDS"
	is "other lines" "$(grep '^cmd\[' "$WORK/data" | grep -v -E "$WORDS" |
		sed -E 's/^cmd\[[0-9]+\]: //; s/, first 0x80 of 0x[0-9a-f]+ bytes//' | sort -u |
		tr '\n' ' ')" "INPUT OUTPUT "
	# QUERY_PAGES, boot pages: opcode 107h, op_mod 1; 300 pages for function 0 in the output.
	wanted=$(sed -n '/QUERY_PAGES(0x107) op_mod(0x1)/,/OUTPUT/p' "$WORK/data")
	has "input of QUERY_PAGES" "$wanted" ': 000: 01070000 00000001 00000000 00000000$'
	boot=$(hca pages | sed -n 's/^boot: \([0-9]*\).*/\1/p')
	has "its output" \
		"$(sed -n '/QUERY_PAGES(0x107) op_mod(0x1)/,/QUERY_PAGES(0x107) op_mod(0x2)/p' \
		"$WORK/data")" "$(printf ': 000: 00000000 00000000 00000000 %08x$' "$boot")"
	has "what is cut says so" "$data" '^cmd\[[0-9]+\]: INPUT, first 0x80 of 0x1010 bytes$'
	is "lines of what is cut" \
		"$(sed -n '/SET_HCA_CAP(0x109)/,/OUTPUT/p' "$WORK/data" | grep -c -E "$WORDS")" 8
}

test_every_command_that_was_sent_is_counted() {
	check "unload" unload
	model log clear
	check "load" load
	is "errno" "$(errno_of cmd/nop 7)" 0
	sent_commands '.*' | cut -d' ' -f1 | sort | uniq -c >"$WORK/sent"
	is_within "different commands" "$(wc -l <"$WORK/sent")" 12 100
	while read -r count name; do
		is "n of $name" "$(cat "$DEBUGFS/cmd/$name/n")" "$count"
		has "$name in the table" "$(show cmd/counters)" "^$name\\(0x[0-9a-f]+\\) $count "
	done <"$WORK/sent"
	is "sum" "$(value summary commands | cut -d' ' -f1)" \
		"$(awk '{ n += $1 } END { print n }' "$WORK/sent")"
}

test_files_can_be_read_while_commands_run() {
	(errno_of cmd/nop 3000 >"$WORK/nop.long") &
	i=0
	while [ $((i += 1)) -le 20 ]; do
		for file in state outstanding counters history history_data failures; do
			check "reading $file" show "cmd/$file"
		done
	done
	wait
	is "errno" "$(nop_results)" "1 0"
}

test_a_writer_can_be_killed() {
	before=$(model_counter commands)
	# The kill must hit the writer itself, not a shell that waits for it.
	{ echo 10000 >"$DEBUGFS/cmd/nop"; } 2>/dev/null &
	check "it is running" model_wait commands "$before" 20
	kill -KILL $!
	wait
	is_within "commands that were sent" $(($(model_counter commands) - before)) 20 9999
	is "in flight" "$(value cmd/state slots_in_flight)" 0
	is "commands work" "$(errno_of cmd/nop 10)" 0
}

need_model
run_cases \
	test_bad_timeouts_change_nothing \
	test_good_timeouts_are_taken \
	test_bad_numbers_of_NOPs_send_nothing \
	test_files_are_for_root_only_and_say_what_they_are_for \
	test_the_history_keeps_the_last_64_in_order \
	test_a_failure_stands_in_the_history_in_its_place \
	test_history_data_has_the_bytes_as_mlx5_core_prints_them \
	test_every_command_that_was_sent_is_counted \
	test_files_can_be_read_while_commands_run \
	test_a_writer_can_be_killed
