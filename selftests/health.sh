#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx6dx
#
# Firmware health while firmware can go on: the counter and its period, settings, the health buffer
# in words, and what must not be taken for a failure.

. ./lib.sh
. ./lifecycle.sh
. ./health_lib.sh

# Usage: becomes WORD NUMBER, as of State in health/machine.rs
becomes() {
	check "state becomes $1 ($2)" until_true 10 health_is "$1" "$2" ||
		show health/state | sed 's/^/#   /'
}

# For until_true. Usage: value_differs FILE NAME FROM
value_differs() { [ "$(value "$1" "$2")" != "$3" ]; }

# For until_true. Usage: value_exceeds FILE NAME NUMBER
value_exceeds() { [ "$(number "$1" "$2")" -gt "$3" ]; }

test_the_counter_advances_and_its_period_is_measured() {
	becomes healthy 1
	counter=$(value health/state counter)
	check "the counter advances" until_true 5 value_differs health/state counter "$counter"
	# The model's is 10 ms.
	check "period is known" until_true 5 value_exceeds health/state period_us 0
	show health/state >"$WORK/state"
	period=$(sed -n 's/^period_us: //p' "$WORK/state")
	is_within "period_us" "$period" 8500 11500
	is "stall_us" "$(sed -n 's/^stall_us: //p' "$WORK/state")" $((5 * period))
	is "stalls" "$(value health/state stalls)" 0
	is "nic_interface" "$(value health/state nic_interface)" '0x0 (full driver)'
	is "device" "$(value health/state device)" alive
}

test_the_settings_have_ranges() {
	is "interval_ms" "$(show health/interval_ms)" 100
	is "threshold" "$(show health/threshold)" 3
	for good in 10 10000 0x64; do
		is "interval_ms $good" "$(errno_of health/interval_ms $good)" 0
	done
	for good in 1 100 3; do
		is "threshold $good" "$(errno_of health/threshold $good)" 0
	done
	for file in interval_ms threshold; do
		is "$file, too large" "$(errno_of health/$file 10001)" ERANGE
		is "$file, zero" "$(errno_of health/$file 0)" ERANGE
		is "$file, 2^32" "$(errno_of health/$file 4294967296)" ERANGE
		is "$file, negative" "$(errno_of health/$file -1)" EINVAL
		is "$file, a word" "$(errno_of health/$file soon)" EINVAL
		is "$file, nothing" "$(errno_of health/$file '')" EINVAL
	done
	is "interval_ms, 9" "$(errno_of health/interval_ms 9)" ERANGE
	is "threshold, 101" "$(errno_of health/threshold 101)" ERANGE
	is "interval_ms at the end" "$(show health/interval_ms)" 100
	is "threshold at the end" "$(show health/threshold)" 3
}

# Readings of the registers in a second. Usage: rate
rate() {
	from=$(number health/state ticks)
	sleep 1
	echo $(($(number health/state ticks) - from))
}

test_the_interval_counts_from_the_next_reading_on() {
	is "errno" "$(errno_of health/interval_ms 10)" 0
	is_within "readings in a second, every 10 ms" "$(rate)" 30 130
	is "errno" "$(errno_of health/interval_ms 500)" 0
	is_within "readings in a second, every 500 ms" "$(rate)" 1 4
	is "errno" "$(errno_of health/interval_ms 100)" 0
	is_within "readings in a second, every 100 ms" "$(rate)" 6 13
}

test_a_syndrome_without_a_reset_is_shown_and_work_goes_on() {
	hca 'health set assert_var0=3 assert_var5=0xdeadbeef'
	hca 'health set assert_exit_ptr=0x20a1b2c assert_callra=0x20d3e4f'
	hca 'health set time=196 severity=3 valid=1 irisc_index=7 ext_synd=0x35e synd=1'
	becomes syndrome 3
	while read -r name expected; do
		is "$name" "$(value health/buffer "$name")" "$expected"
	done <<-VALUES
		assert_var[0] 0x00000003
		assert_var[1] 0x00000000
		assert_var[5] 0xdeadbeef
		assert_exit_ptr 0x020a1b2c
		assert_callra 0x020d3e4f
		fw_version 0x162403f2 (22.36.1010)
		hw_id 0x00000212
		rfr 0
		crr 0
		severity 3 (ERROR)
		irisc_index 7
		ext_synd 0x035e
	VALUES
	has "synd" "$(value health/buffer synd)" '^0x01 \(.*firmware.*internal'
	has "time" "$(value health/buffer time)" "^196 .*the device's own time"
	has "dump" "$(show health/layout)" '^0x23c \[15:0\] ext_synd: 0x35e'
	has "dump" "$(show health/layout)" '^0x224 \[31:0\] assert_callra: 0x20d3e4f'
	check "verdict in the log" logged \
		"$BDF: health: syndrome: .*synd=0x01, ext_synd=0x035e.*rfr=0"
	check "buffer in the log" logged "$BDF: health buffer: .*0xdeadbeef.*irisc_index 7"
	works "with a syndrome"
	hca 'health clear'
	becomes healthy 1
	is "the buffer is kept" "$(value health/buffer ext_synd)" 0x035e
}

test_severity_decides_how_loud_it_is() {
	# 6 is info on the scale of syslog: no error line.
	hca 'health set severity=6 valid=1 synd=0x10 ext_synd=1'
	becomes syndrome 3
	has "severity" "$(value health/buffer severity)" '^6 \(INFO'
	has "synd" "$(value health/buffer synd)" '^0x10 \(.*temperature'
	hca 'health clear'
	becomes healthy 1
	# Not valid: counts as error.
	hca 'health set severity=6 valid=0 synd=0x10 ext_synd=2'
	becomes syndrome 3
	has "severity" "$(value health/buffer severity)" '^6 \(not valid, counts as 3'
	hca 'health clear'
	becomes healthy 1
}

test_syndromes_have_names() {
	is "errno" "$(errno_of health/interval_ms 10)" 0
	for synd in 0x01 0x07 0x08 0x09 0x0a 0x0b 0x0c 0x0d 0x0e 0x0f 0x10 0x12 0x13; do
		hca "health set synd=$synd"
		check "$synd seen" until_true 5 grep -q "^synd: $synd" "$DEBUGFS/health/state"
		check_not "$synd is unknown" grep -q '^synd: .*unknown' "$DEBUGFS/health/state"
		value health/state synd
	done >"$WORK/names"
	is "different names" \
		"$(grep -v '^#' "$WORK/names" | sed 's/^0x[0-9a-f]* //' | sort -u | wc -l)" 13
	grep '^#' "$WORK/names"
	# Both names of 0Bh that sources have.
	has "0Bh" "$(grep '^0x0b' "$WORK/names")" 'ICM page error.*hardware'
	hca 'health set synd=0x42'
	check "0x42 seen" until_true 5 value_is health/state synd '0x42 (unknown)'
	hca 'health clear'
	becomes healthy 1
	is "errno" "$(errno_of health/interval_ms 100)" 0
}

test_the_buffer_is_read_on_request() {
	hca 'health set assert_var2=0x55aa'
	is "errno" "$(errno_of health/refresh 1)" 0
	has "why" "$(show health/buffer)" '^reading: .*asked for by a write to refresh'
	is "assert_var[2]" "$(value health/buffer 'assert_var[2]')" 0x000055aa
	has "verdict" "$(value health/buffer verdict)" '^no failure is reported'
	is "refresh 0" "$(errno_of health/refresh 0)" EINVAL
	is "refresh 2" "$(errno_of health/refresh 2)" EINVAL
	is "refresh now" "$(errno_of health/refresh now)" EINVAL
	hca 'health clear'
}

test_a_counter_that_wraps_goes_on() {
	becomes healthy 1
	stalls=$(value health/state stalls)
	# 24 bits: 16 counts to the end.
	hca 'health counter 0xfffff0'
	check "the counter wrapped" until_true 5 grep -q '^counter: 0x0000' "$DEBUGFS/health/state"
	becomes healthy 1
	is "stalls" "$(value health/state stalls)" "$stalls"
	is_within "period_us" "$(value health/state period_us)" 8500 11500
	works "after the wrap"
}

test_one_reading_of_all_ones_is_not_held_against_it() {
	becomes healthy 1
	is "errno" "$(errno_of health/interval_ms 2000)" 0
	before=$(number health/state dead_reads_total)
	hca 'pci dead'
	check "such a reading" until_true 10 value_exceeds health/state dead_reads_total "$before"
	hca 'pci alive'
	is "errno" "$(errno_of health/interval_ms 100)" 0
	becomes healthy 1
	is_within "such readings" "$(($(number health/state dead_reads_total) - before))" 1 2
	works "afterwards"
	is "lines in the log" "$(logged_count 'health:')" 0
}

test_a_slow_counter_is_not_called_stalled() {
	# Ten readings find it unchanged between two changes; 3 in a row would do for a stall.
	hca 'health period 1000'
	check "load" reload
	check "period is known" until_true 20 value_exceeds health/state period_us 500000
	is_within "period_us" "$(value health/state period_us)" 700000 1300000
	is "stalls" "$(value health/state stalls)" 0
	is_within "misses_total" "$(number health/state misses_total)" 5 1000
	works "slow"
	hca 'health period 10'
	check "load" reload
	becomes healthy 1
}

test_history_is_kept_in_order_and_bounded() {
	is "errno" "$(errno_of health/interval_ms 10)" 0
	i=0
	while [ $((i += 1)) -le 35 ]; do
		hca "health set synd=1 ext_synd=$i"
		until_true 5 health_is syndrome 3
		hca 'health clear'
		until_true 5 health_is healthy 1
	done
	show health/history | grep -v '^#' >"$WORK/history"
	is "entries" "$(wc -l <"$WORK/history")" 64
	check "ascending numbers" awk 'NR > 1 && $1 != last + 1 { exit 1 } { last = $1 }' \
		"$WORK/history"
	is "the newest number" "$(tail -n 1 "$WORK/history" | cut -d' ' -f1)" \
		$(($(number health/state transitions) - 1))
	has "an entry" "$(tail -n 2 "$WORK/history" | head -n 1)" \
		'healthy\(1\) -> syndrome\(3\) .* synd=0x01 ext_synd=0x0023 rfr=0: '
	# 70 transitions are more than the log takes.
	is_within "lines in the log" "$(logged_count 'health: ')" 1 45
	is "errno" "$(errno_of health/interval_ms 100)" 0
}

need_model
run_cases test_the_counter_advances_and_its_period_is_measured \
	test_the_settings_have_ranges \
	test_the_interval_counts_from_the_next_reading_on \
	test_a_syndrome_without_a_reset_is_shown_and_work_goes_on \
	test_severity_decides_how_loud_it_is \
	test_syndromes_have_names \
	test_the_buffer_is_read_on_request \
	test_a_counter_that_wraps_goes_on \
	test_one_reading_of_all_ones_is_not_held_against_it \
	test_a_slow_counter_is_not_called_stalled \
	test_history_is_kept_in_order_and_bounded
