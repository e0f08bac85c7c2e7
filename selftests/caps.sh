#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx bf2 cx7vf
#
# Capabilities: the files show what the device has, and only what it has.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# The name that the model gives to a page, by the file. Usage: page_name FILE
page_name() {
	case $1 in
	general) echo cmd_hca_cap ;;
	general_2) echo cmd_hca_cap_2 ;;
	atomic) echo atomic_caps ;;
	eswitch) echo e_switch_cap ;;
	esac
}

# Current and maximum value of a field in a file, as decimals. Usage: shown FILE FIELD
shown() {
	line=$(sed -n \
		"s/^0x[0-9a-f]* \[[0-9:]*\] $2: \(0x[0-9a-f]*\) max \(0x[0-9a-f]*\).*/\1 \2/p" \
		"$DEBUGFS/caps/$1")
	[ "$line" ] || return 1
	# shellcheck disable=SC2086 # Two words.
	set -- $line
	echo $(($1)) $(($2))
}

# The same from the model. Usage: has_model PAGE.FIELD
modelled() {
	line=$(hca "cap get $1" | sed 's/ max / /')
	# shellcheck disable=SC2086 # Two words.
	set -- $line
	echo $(($1)) $(($2))
}

# A field at its place: the manual's offset and bits. Usage: at_place FILE OFFSET BITS FIELD
at_place() { grep -q "^$2 \[$3\] $4: " "$DEBUGFS/caps/$1"; }

test_there_is_a_file_for_each_page_that_the_device_has() {
	check "general" [ -f "$DEBUGFS/caps/general" ]
	for pair in general_2:hca_cap_2 atomic:atomic eswitch:eswitch_manager; do
		file=${pair%:*} flag=${pair#*:}
		# shellcheck disable=SC2046 # Two words.
		set -- $(modelled "cmd_hca_cap.$flag")
		if [ "$1" = 1 ]; then
			check "$file, as $flag=1" [ -f "$DEBUGFS/caps/$file" ]
		else
			check "no $file, as $flag=0" [ ! -e "$DEBUGFS/caps/$file" ]
		fi
	done
}

test_fields_stand_at_the_places_of_the_manual() {
	# Offset and bits from mlx5_ifc.h.
	check "log_max_eq_sz" at_place general 0x01c 31:24 log_max_eq_sz
	check "log_max_eq" at_place general 0x01c 3:0 log_max_eq
	check "cmdif_checksum" at_place general 0x040 15:14 cmdif_checksum
	check "port_type" at_place general 0x034 9:8 port_type
	check "vport_group_manager" at_place general 0x034 31 vport_group_manager
}

# Fields that a driver of any kind looks at.
SAMPLE='log_max_eq_sz log_max_eq log_max_cq log_max_cq_sz log_max_qp log_max_mkey log_max_srq
vhca_id num_ports port_type cmdif_checksum log_uar_page_sz max_num_eqs vport_group_manager
eswitch_manager hca_cap_2 atomic dtor driver_version mcam_reg pcam_reg qcam_reg
general_notification_event port_module_event temp_warn_event page_request_disable'

test_well_known_values_are_those_of_the_device() {
	n=0
	for field in $SAMPLE; do
		if value=$(shown general "$field"); then
			n=$((n + 1))
			is "$field" "$value" "$(modelled "cmd_hca_cap.$field")"
		fi
	done
	is_within "fields compared" $n 20 100
}

# Compare all fields of a file with what the model has. Usage: compare_all FILE LEAST, where at
# least so many must not be zero
compare_all() {
	page=$(page_name "$1")
	# NAME CURRENT MAX, in hexadecimal. The model lists what is not zero. Names of the kernel's
	# header can have capitals.
	local x='\(0x[0-9a-f]*\)'
	sed -n "s/^0x[0-9a-f]* \[[0-9:]*\] \([^ :]*\): $x max $x.*/\1 \2 \3/p" \
		"$DEBUGFS/caps/$1" >"$WORK/shown"
	hca "cap list $page." | tr '[:upper:]' '[:lower:]' |
		sed -n "s/^$page\.\([^ ]*\) = \(0x[0-9a-f]*\) max \(0x[0-9a-f]*\)$/\1 \2 \3/p" \
		>"$WORK/modelled"
	awk -v modelled="$WORK/modelled" -v file="$1" '
		BEGIN {
			while ((getline line <modelled) > 0) {
				split(line, part, " ")
				value[part[1]] = part[2] " " part[3]
			}
		}
		{
			expected = $1 in value ? value[$1] : "0x0 0x0"
			not_zero += $1 in value
			if (expected != $2 " " $3)
				print file "." $1 " is " $2 " " $3 ", expected " expected
		}
		END { print NR, not_zero + 0 >"/dev/stderr" }' \
		"$WORK/shown" >"$WORK/differences" 2>"$WORK/numbers"
	is "fields of $1 that differ" "$(head -n 5 "$WORK/differences")" ""
	read -r all not_zero <"$WORK/numbers"
	ktap_print_msg "$1: $all fields compared, $not_zero of them not zero"
	is_within "fields of $1 that are not zero" "$not_zero" "$2" "$all"
}

test_all_values_are_those_of_the_device() {
	compare_all general 20
	[ ! -f "$DEBUGFS/caps/general_2" ] || compare_all general_2 1
	[ ! -f "$DEBUGFS/caps/atomic" ] || compare_all atomic 1
	# A card may leave all of this page zero.
	[ ! -f "$DEBUGFS/caps/eswitch" ] || compare_all eswitch 0
}

test_a_page_that_is_missing_is_not_asked_for() {
	if [ ! -f "$DEBUGFS/caps/atomic" ]; then
		skip_case "this device has no atomics anyway"
		return
	fi
	old=$(hca 'cap get cmd_hca_cap.atomic' | sed 's/ max / /')
	check "unload" unload
	model cap set cmd_hca_cap.atomic 0 0
	model log clear
	check "load" load
	check "no file" [ ! -e "$DEBUGFS/caps/atomic" ]
	# Page 3: op_mod is 2 * page, and + 1 for the current values.
	is "QUERY_HCA_CAP of page 3" "$(sent_commands QUERY_HCA_CAP | grep -E '0x[67]$')" ""
	check "unload" unload
	# shellcheck disable=SC2086 # Two words.
	model cap set cmd_hca_cap.atomic $old
	model log clear
	check "load" load
	check "the file is there again" [ -f "$DEBUGFS/caps/atomic" ]
	is "QUERY_HCA_CAP of page 3" "$(sent_commands QUERY_HCA_CAP | grep -c -E '0x[67]$')" 2
}

test_reading_the_files_sends_nothing() {
	before=$(model_counter commands)
	for file in "$DEBUGFS"/caps/*; do
		check "reading ${file##*/}" cat "$file"
	done
	is "commands sent" "$(model_counter commands)" "$before"
}

test_a_refused_SET_HCA_CAP_is_explained() {
	check "unload" unload
	log_mark
	model fault add SET_HCA_CAP status=3 syndrome=0x7ab
	check "insmod" load
	check "the function is not taken" [ ! -e "$PCI_DRIVER/$BDF" ]
	check "the failure" logged \
		'SET_HCA_CAP\(0x109\) op_mod\(0x0\) failed, status bad parameter\(0x3\), .* \(0x7ab'
	check "asked, current and maximum" logged \
		'its general capabilities with cmdif_checksum=0 \(it has [0-9]+, at most 3\)'
	check "for each" logged 'log_uar_page_sz=0 \(it has [0-9]+, at most [0-9]+\)'
	check "unload" unload
	is "pages that the device still has" "$(hca pages | sed -n 's/^total: //p')" 0
	check "load" load
	check "the function is taken" is_bound
}

test_values_above_the_maximum_are_not_asked_for() {
	is "what SET_HCA_CAP asks for is checked by the model" "$(hca conformance | grep -c cap-)" 0
	model log clear
	check "reload" reload
	is "SET_HCA_CAP" "$(sent_commands SET_HCA_CAP)" "SET_HCA_CAP 0x0"
	is "refusals" "$(cat "$DEBUGFS/cmd/SET_HCA_CAP/failed")" 0
}

test_a_missing_capability_is_named() {
	case $(cat "$WORK/variant") in
	cx6dx) reason='esw_functions_changed=0 and embedded_cpu=0' ;;
	cx7vf) reason='.*eswitch_manager=0' ;;
	*)
		skip_case "this device has e-switch functions"
		return
		;;
	esac
	has "summary" "$(value summary esw)" "^not supported: $reason"
	is "and the command is not sent" "$(cat "$DEBUGFS/cmd/QUERY_ESW_FUNCTIONS/n")" 0
}

need_model
run_cases \
	test_there_is_a_file_for_each_page_that_the_device_has \
	test_fields_stand_at_the_places_of_the_manual \
	test_well_known_values_are_those_of_the_device \
	test_all_values_are_those_of_the_device \
	test_a_page_that_is_missing_is_not_asked_for \
	test_reading_the_files_sends_nothing \
	test_a_refused_SET_HCA_CAP_is_explained \
	test_values_above_the_maximum_are_not_asked_for \
	test_a_missing_capability_is_named
