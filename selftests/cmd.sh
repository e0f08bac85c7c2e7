#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx cx7 bf2
# iommu: cx6dx
# debug: cx6dx
#
# The command interface when all is well: how commands are sent, in which order, and at what cost.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Fields of the model's log lines: the lengths of input and output that the device was told.
# Usage: lengths_of NAME OP_MOD
lengths_of() {
	hca 'log 2000' | awk -v name="$1" -v op_mod="$2" \
		'$2 == name && $6 == op_mod { print $18, $20 }'
}

test_nop_travels_inline() {
	model log clear
	is "errno" "$(errno_of cmd/nop 1)" 0
	# 16 bytes each way fit into the entry itself: no mailbox.
	is "input and output length" "$(lengths_of NOP 0x0)" "16 16"
	is "delivery and status" "$(hca log | awk '{ print $12, $14 }')" "0x0 0x0"
}

test_capabilities_take_eight_mailboxes_each_way() {
	model log clear
	check "reload" reload
	# 16 bytes inline and 4096 in 8 blocks of 512.
	is "QUERY_HCA_CAP, general, current" "$(lengths_of QUERY_HCA_CAP 0x1 | sort -u)" "16 4112"
	is "SET_HCA_CAP, general" "$(lengths_of SET_HCA_CAP 0x0)" "4112 16"
}

test_768_pages_take_twelve_mailboxes() {
	before=$(number pages held)
	model log clear
	model pages request 768
	check "the pages are given" until_true 5 value_is pages held $((before + 768))
	# 16 bytes inline, 768 addresses of 8 bytes in 12 blocks.
	is "giving: input and output length" "$(lengths_of MANAGE_PAGES 0x1)" "6160 16"
	model pages request -768
	check "the pages are taken back" until_true 5 value_is pages held "$before"
	is "taking: input and output length" "$(lengths_of MANAGE_PAGES 0x2)" "16 6160"
}

test_tokens_are_never_zero_and_differ() {
	model log clear
	is "errno" "$(errno_of cmd/nop 600)" 0
	hca 'log 600' | sed 's/.* token \(0x[0-9a-f]*\) .*/\1/' >"$WORK/tokens"
	is "commands" "$(wc -l <"$WORK/tokens")" 600
	is "tokens of zero" "$(grep -c '^0x00$' "$WORK/tokens")" 0
	is "different tokens" "$(sort -u "$WORK/tokens" | wc -l)" 255
	is "tokens as the one before" "$(uniq -d "$WORK/tokens" | wc -l)" 0
}

# The steps of the start that send commands, in the order of mlx5_core.
START='ENABLE_HCA 0x0
QUERY_ISSI 0x0
SET_ISSI 0x0
QUERY_PAGES 0x1
MANAGE_PAGES 0x1
SET_HCA_CAP 0x0
QUERY_PAGES 0x2
MANAGE_PAGES 0x1
INIT_HCA 0x0
SET_DRIVER_VERSION 0x0
ALLOC_UAR 0x0
CREATE_EQ 0x0
CREATE_EQ 0x0
CREATE_EQ 0x0'

STOP='DESTROY_EQ 0x0
DESTROY_EQ 0x0
DESTROY_EQ 0x0
DEALLOC_UAR 0x0
TEARDOWN_HCA 0x0
MANAGE_PAGES 0x2
DISABLE_HCA 0x0'

# Several MANAGE_PAGES in a row count as one step.
steps() {
	sent_commands '[^QA].*|QUERY_(ISSI|PAGES)|ALLOC_UAR' |
		awk '$1 != "MANAGE_PAGES" || $0 != last { print } { last = $0 }'
}

test_the_start_has_the_order_of_the_manual() {
	check "unload" unload
	model log clear
	check "load" load
	is "commands of the start" "$(steps)" "$START"
	# HOST_ENDIANNESS (7004h) is told before the capabilities are set, and all capabilities are
	# read after INIT_HCA. The capability pages before that are what SET_HCA_CAP starts from.
	is "what stands before SET_HCA_CAP" \
		"$(sent_commands 'ACCESS_REG|SET_HCA_CAP' | head -n 2 |
			cut -d' ' -f1 | tr '\n' ' ')" \
		"ACCESS_REG SET_HCA_CAP "
	check "capabilities after INIT_HCA" after_init
}

after_init() {
	sent_commands 'INIT_HCA|QUERY_HCA_CAP' | awk '
		$1 == "INIT_HCA" { init = 1 }
		init && $0 == "QUERY_HCA_CAP 0x0" { maximum = 1 }
		init && $0 == "QUERY_HCA_CAP 0x1" { current = 1 }
		END { exit !(maximum && current) }'
}

test_the_stop_is_the_reverse() {
	check "the module is loaded" is_loaded
	model log clear
	check "unload" unload
	is "commands of the stop" "$(steps)" "$STOP"
	# Eqns go up as queues are made: command, async, pages. They are destroyed the other way.
	hca 'log full 200' | awk \
		'/ DESTROY_EQ / { eq = 1 } eq && /^  in 000:/ { print $5; eq = 0 }' \
		>"$WORK/destroyed"
	check "the newest queue is destroyed first" sort -r -c "$WORK/destroyed"
	is "queues destroyed" "$(sort -u "$WORK/destroyed" | wc -l)" 3
	is "pages that the device still has" "$(hca pages | sed -n 's/^total: //p')" 0
	check "load" load
}

# The change of a model counter. Usage: change NAME BEFORE
change() { echo $(($(model_counter "$1") - $2)); }

# Whether the health thread, which reads registers as well, has read none for a while.
health_is_quiet() {
	health=$(model_counter mmio_read_health)
	usleep 300000
	[ "$(model_counter mmio_read_health)" = "$health" ]
}

test_a_command_costs_one_doorbell_and_no_read() {
	interval=$(show health/interval_ms)
	echo 10000 >"$DEBUGFS/health/interval_ms"
	check "the health thread pauses" until_true 10 health_is_quiet
	is "mode" "$(value cmd/state mode)" events
	doorbells=$(model_counter mmio_write_doorbell)
	reads=$(model_counter mmio_read_iseg)
	others=$(model_counter mmio_read_other)
	writes=$(($(model_counter mmio_write_iseg) + $(model_counter mmio_write_other)))
	is "errno" "$(errno_of cmd/nop 1000)" 0
	is "doorbells" "$(change mmio_write_doorbell "$doorbells")" 1000
	is "reads of the init segment" "$(change mmio_read_iseg "$reads")" 0
	is "other reads" "$(change mmio_read_other "$others")" 0
	is "other writes" \
		$(($(model_counter mmio_write_iseg) + $(model_counter mmio_write_other) - writes)) 0
	echo "$interval" >"$DEBUGFS/health/interval_ms"
}

# How often the kernel allocated for the writer of N NOPs or the interrupt thread.
# Usage: allocations N
allocations() {
	trace=/sys/kernel/tracing
	echo 0 >$trace/tracing_on
	echo >$trace/trace
	for event in kmalloc kmem_cache_alloc mm_page_alloc; do
		echo 1 >$trace/events/kmem/$event/enable || return 1
	done
	# The filter is the writer, and the thread that takes the completion.
	sh -c '
		echo $$ $2 >/sys/kernel/tracing/set_event_pid
		echo 1 >/sys/kernel/tracing/tracing_on
		echo $1 >'"$DEBUGFS"'/cmd/nop
		echo 0 >/sys/kernel/tracing/tracing_on' sh "$1" "$(interrupt_thread)"
	grep -c -v '^#' $trace/trace
	for event in kmalloc kmem_cache_alloc mm_page_alloc; do
		echo 0 >$trace/events/kmem/$event/enable
	done
	echo >$trace/set_event_pid
	echo 1 >$trace/tracing_on
}

# The thread of the command event queue's interrupt. The kernel cuts its name.
interrupt_thread() {
	line=$(sed -n "s/^ *\([0-9]*\):.* mlx5_prm_rs0@$BDF\$/\1/p" /proc/interrupts)
	for at in /proc/[0-9]*; do
		case $(cat "$at/comm" 2>/dev/null) in
		"irq/$line-"*) echo "${at#/proc/}" ;;
		esac
	done
}

test_a_command_allocates_nothing() {
	if [ ! -d /sys/kernel/tracing/events/kmem/kmalloc ]; then
		skip_case "the kernel has no kmem tracepoints"
		return
	fi
	check "there is an interrupt thread" [ "$(interrupt_thread)" ]
	one=$(allocations 1)
	check "the tracing sees what the write itself allocates" [ "$one" -gt 0 ]
	thousand=$(allocations 1000)
	ktap_print_msg "allocations: $one for one command, $thousand for a thousand"
	# Interrupts that hit the writer may allocate as well, but not for every command.
	is_within "allocations of 1000 commands more than of one" $((thousand - one)) -50 50
}

need_model
run_cases \
	test_nop_travels_inline \
	test_capabilities_take_eight_mailboxes_each_way \
	test_768_pages_take_twelve_mailboxes \
	test_tokens_are_never_zero_and_differ \
	test_the_start_has_the_order_of_the_manual \
	test_the_stop_is_the_reverse \
	test_a_command_costs_one_doorbell_and_no_read \
	test_a_command_allocates_nothing
