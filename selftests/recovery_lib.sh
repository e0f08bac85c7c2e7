# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# For tests of the recovery: faults that a real reset would cure, and waits for steps. To be sourced
# after lifecycle.sh.

# The recovery's state. Usage: recovery_is WORD
recovery_is() { [ "$(number recovery/state state)" = "$1" ]; }

# A write to recovery/trigger in the background, whose errno is then in $WORK/trigger.
start_trigger() {
	rm -f "$WORK/trigger"
	(errno_of recovery/trigger 1 >"$WORK/trigger") &
}

dead() { ! value_is summary state alive; }

# Faults that a reset cures. Each makes the function dead, or leaves it alive with commands that do
# not come back; the latter have to be recovered by hand.
fault_stall() { hca 'health freeze' && until_true 10 dead; }
fault_syndrome() { hca 'health set synd=8 rfr=1' && until_true 10 dead; }
fault_disabled() { hca 'iseg set nic_interface 1' && until_true 10 dead; }
fault_in_reset() { hca 'iseg set nic_interface 7' && until_true 10 dead; }

# It waits, or has given up already.
has_outstanding() { [ "$(wc -l <"$DEBUGFS/cmd/outstanding")" -ge 2 ]; }

fault_silence() {
	hca 'fault add any drop times forever'
	start_nop silent
	until_true 10 has_outstanding
}

fault_garbage() {
	hca 'fault add any wrong-token times forever'
	[ "$(errno_of cmd/nop 1)" = EBADMSG ]
}

fault_events_lost() { hca 'fault add any noevent times forever'; }

FAULTS='stall syndrome disabled in_reset silence garbage events_lost'
