#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A tour of what the driver shows, for somebody who sees it for the first time: make demo.
# It wants a guest with a device model of an e-switch manager (MODEL=bf2) and the driver loaded.

DEBUGFS=/sys/kernel/debug/mlx5_prm_rs

heading() { printf '\n=== %s\n' "$*"; }
text() { printf '    %s\n' "$@"; }

# Show a command and what it prints.
show() {
	printf '$ %s\n' "$*"
	sh -c "$*"
}

fail() {
	echo "demo: $*" >&2
	exit 1
}

# Wait until a file has a line that matches. Usage: wait_for FILE PATTERN
wait_for() {
	tries=100
	until grep -q -E "$2" "$1"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "$1 has no line with '$2' after 10 s"
		sleep 0.1
	done
}

[ -d $DEBUGFS ] || fail "the driver is not loaded: there is no $DEBUGFS"
hca variant >/dev/null 2>&1 || fail "there is no device model here: run make demo"
cd $DEBUGFS/* || exit 1
card=${PWD##*/}

heading "An unmodified kernel, one module, one card"
show "uname -sr"
show "lsmod | grep mlx5"
show "cat /sys/bus/pci/devices/$card/uevent | grep -E 'DRIVER|PCI_ID|SLOT'"
text "The card is a program on the host that behaves as the Programmer's Reference Manual says:" \
	"a BlueField-2, seen from its own processor. The driver shows it in debugfs:"
show "ls $PWD | tr '\n' ' '; echo"

heading "What it is, and whether it is well"
show "cat summary"

heading "The command interface: what was sent, how long it took"
show "grep -E '^(mode|slots|timeout_ms):' cmd/state"
show "head -n 4 cmd/counters"
text "Starting a card takes some 30 commands. The last ones, with time stamps and slots:"
show "tail -n 4 cmd/history"

heading "Capabilities, as the manual prints them: offset, bits, name, current and maximum value"
show "grep -E 'log_max_(qp|cq|eq|mkey)|eswitch_manager|num_ports' caps/general | head -n 5"

heading "Firmware health: a counter that has to advance every 10 ms"
show "grep -E '^(state|counter|period_us):' health/state"
sleep 0.5
show "grep '^counter:' health/state"

heading "The functions of the host behind the embedded switch"
show "grep -E '^(host_num_of_vfs|effective_vfs|sf_enable):' esw/functions"
text "Now the host enables 4 VFs, and some scalable functions (SFs) appear."
hca 'esw vfs 4'
for sf in 3 4 5 9; do
	hca "esw sf $sf on"
done
wait_for esw/functions '^sf_enable: 3-5 9'
text "The driver does not poll: the device sent an event for each change, and was asked then."
show "grep -E '^(events|queries|host_num_of_vfs|sf_enable):' esw/functions"
show "tail -n 2 esw/history"

heading "A command that the device refuses"
text "Here the model is told to refuse the next NOP. A syndrome means little by itself, so what" \
	"is known of the command stands beside it, in the log and in debugfs:"
hca 'fault add NOP status=0x3 syndrome=0x4bb88f'
show "echo 1 >cmd/nop"
show "dmesg | grep -o 'NOP.*' | tail -n 1 | fold -s -w 96"
show "tail -n 4 cmd/failures"

heading "Unloading"
show "rmmod mlx5_prm_rs"
text "What the model saw, and what it still has of the driver:"
hca counters | grep -E '^(commands|completions|events|interrupts):'
hca pages | sed -n 's/^total/pages/p'
violations=$(hca conformance | wc -l)
echo "violations of the manual: $violations"

heading "Firmware that stops"
show "insmod /lib/modules/mlx5_prm_rs.ko"
cd "$DEBUGFS/$card" || exit 1
text "Firmware stands still from here on."
hca 'health freeze'
wait_for health/state '^state: stalled'
show "grep -E '^(state|gap_ms|device):' health/state"
show "dmesg | grep -o 'health: .*' | tail -n 1 | fold -s -w 96"
text "A command fails at once in place of waiting for its time-out, and the driver can be unloaded:"
show "echo 1 >cmd/nop"
show "rmmod mlx5_prm_rs && ls /sys/kernel/debug | grep -c mlx5"

text "make shell gives such a guest to play with; hca help lists what the model can do; the" \
	"files are described in Documentation/."
[ "$violations" = 0 ]
