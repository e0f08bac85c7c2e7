#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# models: cx5 cx6dx cx7 cx7vf bf2
# debug: cx6dx
#
# Taking a card and giving it back, on every kind of card, and never from somebody else.

. ./lib.sh
. ./lifecycle.sh

AT=/sys/bus/pci/devices/$BDF

# What a variant of the model is: PCI device id, firmware, pages, function, whether it manages the
# e-switch. Usage: facts VARIANT
facts() {
	case $1 in
	cx5) echo '0x1017 16.27.1016 1800 physical 1' ;;
	cx6dx) echo '0x101d 22.36.1010 1800 physical 1' ;;
	cx7) echo '0x1021 28.40.1000 1800 physical 1' ;;
	cx7vf) echo '0x101e 28.40.1000 170 virtual 0' ;;
	bf2) echo '0xa2d6 24.41.1000 1800 embedded 1' ;;
	esac
}

# The driver that has the function. Usage: holder
holder() { basename "$(readlink "$AT/driver")"; }

test_loading_takes_the_card_and_says_so() {
	check "unload" unload
	log_mark
	check "load" load
	is "device id" "$(cat "$AT/device")" "$ID"
	is "driver" "$(holder)" $DRIVER_NAME
	check "firmware and pages in the log" \
		logged "$DRIVER_NAME $BDF: started: firmware $FIRMWARE, $PAGES pages given"
	is "lines in the log" "$(logged_count "$BDF")" 1
}

test_the_summary_says_what_the_card_is() {
	is "state" "$(value summary state)" alive
	is "firmware" "$(value summary firmware)" "$FIRMWARE"
	case $KIND in
	embedded) function='embedded CPU function' ;;
	*) function="$KIND function" ;;
	esac
	is "function" "$(value summary function)" "$function, vhca_id 0x0"
	is "issi" "$(value summary issi)" 1
	is "ports" "$(value summary ports)" "1 (Ethernet)"
	is "eswitch_manager" "$(value summary eswitch_manager)" "$MANAGER"
	is "pages" "$(value summary pages)" "$PAGES held by firmware"
	has "commands" "$(value summary commands)" '^[0-9]+ sent, 0 failed, 0 slots quarantined$'
	check "health" until_true 5 grep -q '^health: healthy (1)' "$DEBUGFS/summary"
	has "e-switch" "$(value summary esw)" "$([ "$KIND" = embedded ] &&
		echo '^host 1 PF enabled, 0 of 16 VFs' || echo '^not supported: ')"
}

test_the_device_knows_who_drives_it() {
	is "stage" "$(hca stage)" initialized
	has "driver version" "$(hca driver)" "^Linux,$DRIVER_NAME,[0-9]+\.[0-9]+\.[0-9]+\$"
	is "pages" "$(hca pages | sed -n 's/^total: //p')" "$PAGES"
	is "event queues" "$(hca eqs | wc -l)" 3
	is "interrupts" "$(grep -c -F "@$BDF" /proc/interrupts)" 3
	# Of health, recovery, event queues and pages; a manager of a switch has one for that.
	is "threads" "$(threads | wc -l)" "$([ "$KIND" = embedded ] && echo 5 || echo 4)"
}

test_unbinding_leaves_nothing() {
	check "unbind" unbind
	nothing_is_left "unbound"
	model_has_nothing "unbound"
	is "bind" "$(bind_errno)" 0
	works "bound again"
	is "lines with errors" "$(logged_count "$BDF: .*(fail|error|expected)")" 0
}

test_driver_override_decides() {
	check "unbind" unbind
	echo somebody_else >"$AT/driver_override"
	echo "$BDF" >/sys/bus/pci/drivers_probe
	check_not "taken although it is for another driver" is_bound
	is "bind" "$(bind_errno)" ENODEV
	echo $DRIVER_NAME >"$AT/driver_override"
	echo "$BDF" >/sys/bus/pci/drivers_probe
	works "for this driver"
	echo >"$AT/driver_override"
}

test_another_driver_keeps_its_card() {
	check "unload" unload
	if ! modprobe pci-stub 2>/dev/null; then
		skip_case "this guest has no pci-stub"
		return
	fi
	echo pci-stub >"$AT/driver_override"
	echo "$BDF" >/sys/bus/pci/drivers_probe
	# From here on only the driver that holds the card stands against ours.
	echo >"$AT/driver_override"
	is "holder before" "$(holder)" pci-stub
	log_mark
	check "load" load
	is "holder after" "$(holder)" pci-stub
	check_not "debugfs has a directory" [ -e "$DEBUGFS" ]
	is "bind" "$(bind_errno)" EBUSY
	is "holder at the end" "$(holder)" pci-stub
	echo "$BDF" >/sys/bus/pci/drivers/pci-stub/unbind
	is "bind when it is free" "$(bind_errno)" 0
	works "when it is free"
	rmmod pci-stub
}

test_nothing_loads_it_by_itself() {
	# The same search finds what is there.
	check "the module's license" grep -a -q 'license=GPL' "$MODULE"
	check_not "an alias for a bus" grep -a -q 'alias=' "$MODULE"
	modalias=$(cat "$AT/modalias")
	modprobe -D -q "$modalias" >"$WORK/would_load" 2>&1
	check_not "modprobe would load it for the card" grep -q $DRIVER_NAME "$WORK/would_load"
}

test_loading_twice_is_refused() {
	is "second load" "$(load_errno)" EEXIST
	works "after it"
}

need_model
read -r ID FIRMWARE PAGES KIND MANAGER <<FACTS
$(facts "$(hca variant)")
FACTS
run_cases test_loading_takes_the_card_and_says_so \
	test_the_summary_says_what_the_card_is \
	test_the_device_knows_who_drives_it \
	test_unbinding_leaves_nothing \
	test_driver_override_decides \
	test_another_driver_keeps_its_card \
	test_nothing_loads_it_by_itself \
	test_loading_twice_is_refused
