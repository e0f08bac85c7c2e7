# SPDX-License-Identifier: GPL-2.0
#
# Find one fault in the table, and make its free choices from a seed: the same ones for the same
# name and seed, wherever it runs.
#
# Usage: awk -v name=NAME -v seed=SEED -f expand.awk faults
#
# Prints the fields group, when, expected and explained, a line each, and then a line for each step.
# In a step stand for
#	{A..B}		a number from A to B
#	{x:A..B}	the same in hexadecimal, as 0x...
#	{A,B,...}	one of these texts, which may be empty
#	{hex:N}		N random bytes, as pairs of hexadecimal digits
#	{seed:M:A}	A plus the seed modulo M, to cover a range

BEGIN {
	FS = "|"
	for (i = 32; i < 127; i++)
		code[sprintf("%c", i)] = i
	# A multiplicative generator whose products are exact in floating point.
	state = seed % 2147483646 + 1
	for (i = 1; i <= length(name); i++)
		state = (state * 16807 + code[substr(name, i, 1)]) % 2147483647
	for (i = 0; i < 5; i++)
		draw(2)
}

# A number from 0 to below n.
function draw(n) {
	state = state * 16807 % 2147483647
	return int(state / 2147483647 * n)
}

function number(text) {
	return text ~ /^0x/ ? from_hex(substr(text, 3)) : text + 0
}

function from_hex(text,	value, i) {
	value = 0
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
	return value
}

function choose(text,	part, n, low, high, i) {
	if (text ~ /^hex:/) {
		n = substr(text, 5) + 0
		text = ""
		for (i = 0; i < n; i++)
			text = text sprintf("%02x", draw(256))
		return text
	}
	if (text ~ /^seed:/) {
		split(text, part, ":")
		return seed % part[2] + part[3]
	}
	if (text ~ /\.\./) {
		n = index(text, "..")
		low = number(substr(text, text ~ /^x:/ ? 3 : 1, n - (text ~ /^x:/ ? 3 : 1)))
		high = number(substr(text, n + 2))
		return sprintf(text ~ /^x:/ ? "0x%x" : "%d", low + draw(high - low + 1))
	}
	n = split(text, part, ",")
	return part[draw(n) + 1]
}

function expand(text,	at, out) {
	out = ""
	while (match(text, /\{[^{}]*\}/)) {
		at = RSTART
		n = RLENGTH
		out = out substr(text, 1, at - 1) choose(substr(text, at + 1, n - 2))
		text = substr(text, at + n)
	}
	return out text
}

function trim(text) {
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

/^#/ || NF < 5 { next }
trim($1) == name {
	found = 1
	for (i = 2; i <= 5; i++)
		print trim($i)
	steps = split($6, step, ";")
	for (i = 1; i <= steps; i++)
		if (trim(step[i]) != "")
			print trim(expand(step[i]))
	exit
}
END { exit !found }
