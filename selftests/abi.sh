#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# models: cx6dx bf2 cx7vf
#
# The debugfs tree against its description, Documentation/ABI/testing/debugfs-driver-mlx5_prm_rs:
# files, modes, and the names of the values in them.

# shellcheck source=selftests/lib.sh
. ./lib.sh

# Beside this script in a guest and in an installed kselftest, else where it stands in the tree.
for ABI in debugfs-driver-mlx5_prm_rs ../Documentation/ABI/testing/debugfs-driver-mlx5_prm_rs; do
	[ ! -f "$ABI" ] || break
done
[ -f "$ABI" ] || skip_all "the description $ABI is not here"

# The described files, relative to the function's directory, a line each:
# PATH MODE CAPABILITY, where CAPABILITY is "always" if the file is in every function's tree.
described() {
	awk '
		function flush() {
			if (what == "")
				return
			gsub(/[ \t]+/, " ", text)
			mode = "?"
			if (match(text, /^ \(R[OW]\)/))
				mode = substr(text, 4, 1) == "O" ? 400 : 600
			else if (match(text, /^ \(WO\)/))
				mode = 200
			condition = "always"
			if (match(text, /Only if [^(.]*\([a-z0-9_]*\)/)) {
				condition = substr(text, RSTART, RLENGTH)
				sub(/.*\(/, "", condition)
				sub(/\)/, "", condition)
			}
			print what, mode, condition
			what = ""
		}
		/^What:/ {
			flush()
			what = $2
			sub(/.*<BDF>\//, "", what)
			text = ""
			next
		}
		/^Description:/ { sub(/^Description:/, "") ; on = 1 }
		/^(Date|KernelVersion|Contact):/ { on = 0 }
		on { text = text " " $0 }
		END { flush() }
	' "$ABI"
}

# The names in the tables of a file's description. Usage: described_names PATH
described_names() {
	awk -v path="$1" '
		/^What:/ { on = substr($2, length($2) - length(path)) == "/" path; table = 0 }
		!on { next }
		# A rule of a table: the first two columns of = begin it, and end it.
		$1 ~ /^==+$/ { table = !table; next }
		# A row; what goes on from the row before begins farther right.
		table && /^\t[^ ]/ { sub(/\[.*/, "", $1); print $1 }
	' "$ABI"
}

# What paths in the tree are called in the description; a filter for lines that begin with a path.
general_names() { sed -e 's,^cmd/[A-Z0-9_]*/,cmd/<OPCODE>/,' -e 's,^eq/[a-z]*/,eq/<QUEUE>/,'; }

# The tree's files, a line each: PATH MODE, with the path relative to the function's directory.
files() {
	(cd "$DEBUGFS" && find . -type f -exec stat -c '%n %a' '{}' +) | sed 's,^\./,,' | sort
}

# Names of the values that a file has. Usage: shown_names FILE
shown_names() { sed -n 's/^\([a-z_0-9]*\)\(\[[0-9]*\]\)\{0,1\}:.*/\1/p' "$DEBUGFS/$1" | sort -u; }

test_each_file_is_described_with_its_mode() {
	described >"$WORK/described"
	is_within "files in the description" "$(wc -l <"$WORK/described")" 30 1000
	files | general_names >"$WORK/files"
	is_within "files in the tree" "$(wc -l <"$WORK/files")" 100 10000
	is "files that are not described" "$(awk '
		NR == FNR { mode[$1] = $2; next }
		!($1 in mode) { print $1 }' "$WORK/described" "$WORK/files" | sort -u)" ""
	is "files with another mode" "$(awk '
		NR == FNR { mode[$1] = $2; next }
		$1 in mode && mode[$1] != $2 { print $1, $2 }' "$WORK/described" "$WORK/files")" ""
}

# A file with a condition is there exactly if the capability is set.
test_each_described_file_is_there() {
	described >"$WORK/described"
	files | sed 's/ .*//' | general_names | sort -u >"$WORK/names"
	while read -r name _ capability; do
		wanted=1
		if [ "$capability" != always ]; then
			wanted=$(sed -n "s/.*\] $capability: \(0x[01]\) .*/\1/p" \
				"$DEBUGFS/caps/general")
			wanted=${wanted#0x}
			[ "$wanted" ] || fail "$name: caps/general has no $capability"
		fi
		is "$name is there ($capability)" "$(grep -c -x -F "$name" "$WORK/names")" "$wanted"
	done <"$WORK/described"
}

test_each_readable_file_can_be_read() {
	files >"$WORK/files"
	while read -r file mode; do
		[ "$mode" = 200 ] || cat "$DEBUGFS/$file" >/dev/null 2>"$WORK/error" ||
			fail "reading $file: $(cat "$WORK/error")"
	done <"$WORK/files"
}

test_each_value_is_described() {
	# There is a buffer to show only once it was read.
	is "reading the health buffer" "$(errno_of health/refresh 1)" 0
	for file in summary pages cmd/state eq/command/state eq/async/state esw/functions \
		health/status health/state health/buffer; do
		described_names "$(echo "$file" | general_names)" | sort -u >"$WORK/names"
		[ -s "$WORK/names" ] || fail "$file: its description has no table"
		for name in $(shown_names "$file"); do
			grep -q -x -F "$name" "$WORK/names" || fail "$file: $name is not described"
		done
	done
}

test_each_described_value_is_there() {
	for file in summary pages cmd/state eq/command/state eq/async/state health/status \
		health/state; do
		shown_names "$file" >"$WORK/names"
		for name in $(described_names "$(echo "$file" | general_names)"); do
			grep -q -x -F "$name" "$WORK/names" || fail "$file: there is no $name"
		done
	done
}

# The names of a command's directory and of its line in cmd/counters are the same.
test_each_counted_command_has_a_directory() {
	check "a command was counted" grep -q '^[A-Z]' "$DEBUGFS/cmd/counters"
	sed -n 's/^\([A-Z_0-9]*\)(0x.*/\1/p' "$DEBUGFS/cmd/counters" >"$WORK/names"
	while read -r name; do
		check "cmd/$name is there" [ -d "$DEBUGFS/cmd/$name" ]
	done <"$WORK/names"
}

run_cases test_each_file_is_described_with_its_mode test_each_described_file_is_there \
	test_each_readable_file_can_be_read test_each_value_is_described \
	test_each_described_value_is_there test_each_counted_command_has_a_directory
