# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# For tests in which each command of the start fails in turn: the start ends with the errno of that
# failure and a line that names command and status, nothing is left in the machine or in the device,
# and the next attempt works. To be sourced after lifecycle.sh.

# Time that a command may take; the machine may be slow, a command that does not come back costs it.
TIMEOUT_MS=700

# Commands that a device may refuse although it says that it has them: the start goes on, and what
# they ask for is not shown. Pages of capabilities other than the general one, registers that say
# which registers there are, and the functions of the host. Usage: may_be_refused NAME OP_MOD
may_be_refused() {
	case $1 in
	QUERY_HCA_CAP) [ "$2" != 0x0 ] && [ "$2" != 0x1 ] ;;
	ACCESS_REG) [ "$2" = 0x1 ] ;;
	QUERY_ESW_FUNCTIONS) ;;
	*) false ;;
	esac
}

# The commands of a start as "NAME OP_MOD NTH", each once; of EQs, which are made one by one, each.
start_commands() {
	sent_commands | awk '
		$1 == "CREATE_EQ" { print $0, n++; next }
		!seen[$0]++ { print $0, 0 }'
}

# One command fails. Usage: start_fails EFFECT ERRNO PATTERN NAME OP_MOD NTH
start_fails() {
	effect=$1 errno=$2 pattern=$3 name=$4 op_mod=$5 nth=$6
	what="$name op_mod $op_mod"
	[ "$nth" = 0 ] || what="$what, number $nth"

	hca "fault add $name op_mod=$op_mod skip=$nth $effect"
	result=$(bind_errno)
	left=$(hca fault)
	is "$what: faults left" "$left" "" || hca 'fault clear'
	if [ "$result" = 0 ] && may_be_refused "$name" "$op_mod" &&
		{ [ "${effect%%=*}" = status ] || [ "$name" = QUERY_ESW_FUNCTIONS ]; }; then
		is "$what: state" "$(value summary state)" alive
		is "$what: failures shown" "$(value cmd/state failures)" 1
	else
		is "$what: errno" "$result" "$errno"
		check_not "$what: bound" is_bound
		line="$BDF: $name\\(0x[0-9a-f]+\\) op_mod\\($op_mod\\) failed, $pattern"
		check "$what: the log has '$line'" logged "$line"
	fi
	! is_bound || unbind
	nothing_is_left "$what"
	# Without the slot that is kept for pages the stop can send nothing about them, and does not
	# try.
	[ "$name $effect" = "MANAGE_PAGES drop" ] || model_has_nothing "$what"
}

# Usage: each_start_fails EFFECT ERRNO PATTERN
each_start_fails() {
	while read -r name op_mod nth; do
		log_mark
		start_fails "$@" "$name" "$op_mod" "$nth"
	done <"$WORK/start"
	is "errno when all is well" "$(bind_errno)" 0
	works "when all is well"
	check "unbind" unbind
}

# Bring the driver to where a start can be tried, and note what commands it has.
prepare_starts() {
	need_model
	load_unbound cmd_timeout_ms=$TIMEOUT_MS || skip_all "the driver cannot be loaded anew"
	hca 'log clear'
	[ "$(bind_errno)" = 0 ] || skip_all "the driver cannot be bound"
	start_commands >"$WORK/start"
	unbind
	echo "# commands of a start: $(wc -l <"$WORK/start")"
}
