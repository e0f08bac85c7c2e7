# SPDX-License-Identifier: GPL-2.0
#
# Count the results of a KTAP stream with subtests (indented by two), or of cargo test.
# Prints "passed failed skipped" and then a line for each failure.
#
# A result above subtests only sums them up, and is not counted itself, unless it failed
# though none of them did. A plan that does not fit what was reported is a failure.

function fail(what) { failed++; failure[failed] = what }

# Forget the subtests below depth d.
function forget(d) {
	delete plan[d]; delete skipall[d]
	seen[d] = bad[d] = 0
}

function result(d, ok, text,	name, skip) {
	name = text
	sub(/^(not )?ok +[0-9]* *(- )?/, "", name)
	skip = text ~ /# *SKIP/
	seen[d]++
	if (seen[d + 1] || (d + 1) in plan) {
		if ((d + 1) in plan && plan[d + 1] != seen[d + 1] && !((d + 1) in skipall)) {
			fail(name ": planned " plan[d + 1] " tests, reported " seen[d + 1])
			bad[d]++
		} else if (!ok && !bad[d + 1]) {
			fail(name); bad[d]++
		} else if (bad[d + 1]) {
			bad[d]++
		} else if ((d + 1) in skipall && !seen[d + 1]) {
			skipped++
		}
	} else if (skip) {
		skipped++
	} else if (ok || text ~ /# *(TODO|XFAIL)/) {
		passed++
	} else {
		fail(name); bad[d]++
	}
	forget(d + 1)
}

{ sub(/\r$/, "") }

# A cargo result line stands for a whole test program.
/^test result: / {
	for (i = 1; i < NF; i++) {
		if ($(i + 1) ~ /^passed/) passed += $i
		if ($(i + 1) ~ /^ignored/) skipped += $i
	}
	next
}
/^test .* \.\.\. FAILED/ { fail($2); next }

{ match($0, /^ */); depth = int(RLENGTH / 2); text = substr($0, RLENGTH + 1) }
text ~ /^1\.\.[0-9]+/ {
	plan[depth] = substr(text, 4) + 0
	if (text ~ /^1\.\.0.*SKIP/) skipall[depth] = 1
	next
}
text ~ /^ok( |$)/ { result(depth, 1, text) }
text ~ /^not ok( |$)/ { result(depth, 0, text) }
text ~ /^Bail out!/ { fail(text) }

END {
	if (0 in plan && seen[0] < plan[0])
		for (i = seen[0] + 1; i <= plan[0]; i++)
			fail("test " i " of " plan[0] " did not report")
	print passed + 0, failed + 0, skipped + 0
	for (i = 1; i <= failed; i++)
		print failure[i]
}
