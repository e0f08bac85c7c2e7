# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# What the campaign does with a driver, for each of the two: attach and detach the function, send
# commands, and tell whether it works. To be sourced by run.sh. What cannot be told of a driver is
# left out; the rest of the checks is the same for both.

PCI_DRIVER=/sys/bus/pci/drivers/$DRIVER
AT=/sys/bus/pci/devices/$BDF
# More parameters for the driver of this repository.
PARAMETERS=

is_loaded() { [ -d "/sys/module/$DRIVER" ]; }
is_bound() { [ -e "$PCI_DRIVER/$BDF" ]; }

# --- The driver of this repository: loaded and unloaded as a module each time, where that is quick

prm_attach() {
	if is_loaded; then
		is_bound || echo "$BDF" >"$PCI_DRIVER/bind"
		return
	fi
	# shellcheck disable=SC2086 # Several parameters are several words.
	insmod /lib/modules/mlx5_prm_rs.ko "cmd_timeout_ms=$COMMAND_MS" init_timeout_ms=2000 \
		$PARAMETERS
}

# The debug kernel keeps a module for seconds after it was removed: there the module stays, and the
# function is unbound. At the end of the boot the module is removed.
prm_detach() {
	if [ "$KEEP_MODULE" ] && [ -z "$PARAMETERS" ]; then
		unbind
	else
		rmmod mlx5_prm_rs
	fi
}

prm_file() { echo "/sys/kernel/debug/mlx5_prm_rs/$BDF/$1"; }

# Commands, events and questions of each kind, several at a time.
prm_work() {
	for _ in 1 2 3; do
		echo 3 >"$(prm_file cmd/nop)" &
	done
	(
		cd "$(prm_file .)" && cat summary pages cmd/state cmd/outstanding cmd/failures \
			cmd/history caps/general eq/events eq/last eq/*/state health/* esw/functions
	)
	for file in esw/refresh health/refresh; do
		[ ! -e "$(prm_file "$file")" ] || echo 1 >"$(prm_file "$file")"
	done
	ask_for_pages
	wait
}

prm_works() { is_bound && echo 1 >"$(prm_file cmd/nop)"; }

prm_leftovers() {
	[ ! -d "/sys/kernel/debug/mlx5_prm_rs/$BDF" ] || echo "debugfs: $BDF"
	is_loaded || [ ! -d /sys/kernel/debug/mlx5_prm_rs ] || echo "debugfs"
	cat /proc/[0-9]*/comm 2>/dev/null | grep -E "^prm_[a-z]+@$BDF\$"
}

# --- The kernel's driver: its module is large, so the function is bound and unbound

core_attach() {
	is_loaded || modprobe mlx5_core
	is_bound || echo "$BDF" >"$PCI_DRIVER/bind"
}

core_detach() { unbind; }

# Reading about its event queues sends QUERY_EQ.
core_work() {
	for _ in 1 2 3; do
		cat "/sys/kernel/debug/mlx5/$BDF"/EQs/*/* &
	done
	ask_for_pages
	wait
}

# It has no command that does nothing: pages have to be given when asked for.
core_works() {
	is_bound || return 1
	held=$(pages_held)
	hca 'pages request 1' || return 1
	until_true 2 pages_held_is $((held + 1)) || return 1
	hca 'pages request -1'
	until_true 2 pages_held_is "$held"
}

core_leftovers() { [ ! -d "/sys/kernel/debug/mlx5/$BDF" ] || echo "debugfs"; }

# --- Which

case $DRIVER in
mlx5_prm_rs) kind=prm ;;
*) kind=core ;;
esac
attach() { ${kind}_attach; }
unbind() { ! is_bound || echo "$BDF" >"$PCI_DRIVER/unbind"; }
detach() { ${kind}_detach; }
work() { ${kind}_work; }
works() { ${kind}_works; }

# What is left of the driver in the machine; nothing is right.
leftovers() {
	${kind}_leftovers
	grep -E "@(pci:)?$BDF" /proc/interrupts
	[ ! -d "$AT" ] || [ "$(cat "$AT/enable")" = 0 ] || echo "the PCI device is enabled"
}

pages_held() { hca pages | sed -n 's/^total: //p'; }
pages_held_is() { [ "$(pages_held)" = "$1" ]; }

# The n-th allocation of a task fails, if the kernel can do that: in its /proc/self/fail-nth.
allocations_can_fail() { [ -e /proc/self/fail-nth ] && [ -d /sys/kernel/debug/failslab ]; }

let_allocations_fail() {
	for at in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		echo N >$at/ignore-gfp-wait
		echo 0 >$at/verbose
		[ ! -e $at/min-order ] || echo 0 >$at/min-order
		[ ! -e $at/ignore-gfp-highmem ] || echo N >$at/ignore-gfp-highmem
	done
}

# The function is bound, and the n-th allocation from here on fails. Usage: bind_failing N
bind_failing() { sh -c "echo $1 >/proc/self/fail-nth; echo $BDF >$PCI_DRIVER/bind"; }

# The same with a command. Usage: command_failing N
command_failing() {
	case $kind in
	prm) sh -c "echo $1 >/proc/self/fail-nth; echo 3 >$(prm_file cmd/nop)" ;;
	*) sh -c "echo $1 >/proc/self/fail-nth; read -r _ </sys/kernel/debug/mlx5/$BDF/EQs/0x4/*" ;;
	esac
}

# Pages are asked for, and taken back when they have been given.
ask_for_pages() {
	held=$(pages_held)
	hca 'pages request 9'
	until_true 1 pages_held_is $((held + 9)) || return
	hca 'pages request -9'
}
